// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore

extension Transfer {
    /// The next deadline, unless bytes move before it.
    ///
    /// Time in which this side is the slow one, a reader that wants no bytes yet or a writer that has none to send,
    /// counts only for the whole exchange.
    var nextDeadline: (at: NIODeadline, which: CurlError.Deadline)? {
        let timeouts = request.timeouts
        let candidates: [(NIODeadline, Duration?, CurlError.Deadline)] = [
            (started, timeouts.total, .total),
            step(timeouts),
        ]
        var next: (at: NIODeadline, which: CurlError.Deadline)?
        for (start, duration, which) in candidates {
            guard let duration else { continue }
            let end = start.adding(duration)
            if let earlier = next, earlier.at <= end { continue }
            next = (end, which)
        }
        return next
    }

    /// Returns the deadline of the exchange's current step.
    private func step(_ timeouts: CurlTimeouts) -> (NIODeadline, Duration?, CurlError.Deadline) {
        switch phase {
        case .connecting: return (started, timeouts.connect, .connect)
        case .waiting:
            if !isUploading { return (lastSent, timeouts.firstByte, .firstByte) }
            return (lastSent, isUploadPaused ? nil : timeouts.idle, .idle)
        case .receiving:
            // A server that answers while it reads may be waiting for the rest of the request.
            if isUploading, isUploadPaused { return (lastSent, nil, .idle) }
            if demand != .paused { return (max(lastReceived, lastSent), timeouts.idle, .idle) }
            return (lastSent, isUploading ? timeouts.idle : nil, .idle)
        }
    }
}

extension NIODeadline {
    /// Returns a time later by `duration`; the distant future if it is too far to represent.
    func adding(_ duration: Duration) -> NIODeadline {
        let amount = TimeAmount(duration).nanoseconds
        let (sum, overflow) = uptimeNanoseconds.addingReportingOverflow(UInt64(max(0, amount)))
        return overflow || sum > UInt64(Int64.max) ? .distantFuture : .uptimeNanoseconds(sum)
    }
}
