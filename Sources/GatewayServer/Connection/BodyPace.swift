// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// Decides whether a request's body arrives fast enough.
///
/// Only time in which the gateway waits for the client counts: while a backend takes an upload slowly, the body is not
/// read.
package struct BodyPace: Sendable {
    private let patience: TimeAmount
    private let rate: Int
    private var waited = TimeAmount.zero
    private var received = 0
    private var waitingSince: NIODeadline?

    /// Creates the pace for a body that may keep the gateway waiting for `patience` at a time.
    ///
    /// The total wait is limited to that and one second more for each `rate` bytes, unless the rate is zero.
    package init(patience: TimeAmount, rate: Int) {
        self.patience = patience
        self.rate = rate
    }

    /// Begins to wait for more; returns the longest time to wait.
    package mutating func wait(at now: NIODeadline) -> TimeAmount {
        if waitingSince == nil { waitingSince = now }
        guard rate > 0 else { return patience }
        // Limited to some months, so that the sums below do not overflow.
        let earned = TimeAmount.nanoseconds(Int64(min(Double(received) / Double(rate), 1e7) * 1e9))
        return max(.zero, min(patience, patience + earned - waited))
    }

    /// Counts bytes that have come.
    package mutating func receive(_ count: Int, at now: NIODeadline) {
        if let since = waitingSince { waited = waited + max(.zero, now - since) }
        waitingSince = nil
        received += count
    }
}
