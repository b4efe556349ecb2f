// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore

extension Transfer {
    /// The deadline that passes next, unless something moves before.
    ///
    /// Time in which this side is the slow one counts only for the whole: a reader that wants nothing yet, or a
    /// writer that has nothing to send.
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

    /// The deadline of the step that the exchange is at.
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
    /// Later by `duration`; the end of time where that is too far to count.
    fileprivate func adding(_ duration: Duration) -> NIODeadline {
        let amount = TimeAmount(duration).nanoseconds
        let (sum, overflow) = uptimeNanoseconds.addingReportingOverflow(UInt64(max(0, amount)))
        return overflow || sum > UInt64(Int64.max) ? .distantFuture : .uptimeNanoseconds(sum)
    }
}
