// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// Whether a client takes its answer fast enough, judged from how much it has taken at which time.
///
/// It is begun where something begins to wait for the client, and dropped where nothing waits any more: the time
/// between answers does not count.
package struct SendPace: Sendable {
    private let patience: TimeAmount
    private let rate: Int
    private var last: (taken: UInt64, at: NIODeadline)
    private var window: (taken: UInt64, at: NIODeadline)

    /// A client that has taken so many bytes so far, and may take none for `patience`, and no fewer than `rate` bytes a
    /// second over each such time where that is not zero.
    package init(patience: TimeAmount, rate: Int, taken: UInt64, at now: NIODeadline) {
        self.patience = patience
        self.rate = rate
        last = (taken, now)
        window = (taken, now)
    }

    /// Whether a client that has taken so many bytes by now is too slow.
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
