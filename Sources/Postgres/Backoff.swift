// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The pauses between failed attempts: each may be twice as long as the one before, and is drawn at random, so that
/// many gateways do not come back to a restarted server at the same moment.
package struct Backoff: Hashable, Sendable {
    /// The upper limit of the first pause.
    package var first = Duration.milliseconds(100)
    /// The upper limit of every pause.
    package var longest = Duration.seconds(5)

    /// Creates the usual pauses.
    package init() {}

    /// Returns the pause after this many failures in a row: between half of its upper limit and all of it, by `jitter`,
    /// which is between 0 and 1.
    func pause(afterFailures failures: Int, jitter: Double) -> Duration {
        let limit = min(longest, first * (1 << min(max(failures - 1, 0), 20)))
        return limit / 2 + limit / 2 * jitter
    }
}
