// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// Decides whether a client takes its answer fast enough, from the number of bytes it has taken at each time.
///
/// It is created when an answer begins to wait for the client, and dropped when none waits any more: the time between
/// answers does not count.
package struct SendPace: Sendable {
    private let patience: TimeAmount
    private let rate: Int
    private var last: (taken: UInt64, at: NIODeadline)
    private var window: (taken: UInt64, at: NIODeadline)

    /// Creates the pace of a client that has taken this many bytes so far.
    ///
    /// It may take none for `patience`, and no fewer than `rate` bytes a second over each such time, unless the rate is
    /// zero.
    package init(patience: TimeAmount, rate: Int, taken: UInt64, at now: NIODeadline) {
        self.patience = patience
        self.rate = rate
        last = (taken, now)
        window = (taken, now)
    }

    /// Returns true if a client that has taken this many bytes by now is too slow.
    package mutating func isTooSlow(taken: UInt64, at now: NIODeadline) -> Bool {
        if taken != last.taken { last = (taken, now) }
        if now - last.at >= patience { return true }
        guard rate > 0, now - window.at >= patience else { return false }
        let seconds = Double((now - window.at).nanoseconds) / 1e9
        let isTooSlow = Double(taken &- window.taken) < Double(rate) * seconds
        window = (taken, now)
        return isTooSlow
    }
}
