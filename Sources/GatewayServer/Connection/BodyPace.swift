// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// Whether a request's body comes fast enough.
///
/// Only the time counts in which the gateway waits for the client: while a backend takes an upload slowly, nobody
/// reads.
package struct BodyPace: Sendable {
    private let patience: TimeAmount
    private let rate: Int
    private var waited = TimeAmount.zero
    private var received = 0
    private var waitingSince: NIODeadline?

    /// A body may keep the gateway waiting for `patience` at a time; altogether for no longer than that and a second
    /// more with each `rate` bytes, where that is not zero.
    package init(patience: TimeAmount, rate: Int) {
        self.patience = patience
        self.rate = rate
    }

    /// The gateway waits for more from now on; for how long at the most.
    package mutating func wait(at now: NIODeadline) -> TimeAmount {
        if waitingSince == nil { waitingSince = now }
        guard rate > 0 else { return patience }
        // Months, at the most: the sums below must not overflow.
        let earned = TimeAmount.nanoseconds(Int64(min(Double(received) / Double(rate), 1e7) * 1e9))
        return max(.zero, min(patience, patience + earned - waited))
    }

    /// So many bytes have come.
    package mutating func receive(_ count: Int, at now: NIODeadline) {
        if let since = waitingSince { waited = waited + max(.zero, now - since) }
        waitingSince = nil
        received += count
    }
}
