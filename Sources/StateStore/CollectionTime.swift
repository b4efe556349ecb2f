// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Distinguishes time that has really passed from time that only the clock shows.
///
/// If the clock is put forward or the gateway has not run, every device looks as if it had been away. Collections
/// measure by how much, and move the times before which data are deleted back by as much, until those times are later
/// than the last leap.
package struct CollectionTime: Hashable, Sendable, Coded {
    /// The largest tolerated difference between clock and running time of two collections, in milliseconds.
    static let tolerance: Int64 = 900_000
    /// The longest time, in milliseconds, that an earlier process can have run since its last collection.
    package static let period: Int64 = 3_600_000
    /// The share of replicas that may be forgotten for their age in one ``period``: one of this many.
    package static let forgettingShare = 20

    /// The time of the last collection; nil before the first.
    var collectedAt: Instant?
    /// The time that the clock has shown in excess of the time that has passed, in milliseconds; never negative.
    package var leapt: Int64 = 0
    /// The time at which the last leap was noticed.
    var leaptAt: Instant = 0
    /// A number of the process that ran the last collection.
    package var collector: Int64 = 0

    /// The key of its row.
    package static let key = RowKey(.meta, of: 0, Array("collection".utf8))

    /// Creates the time before the first collection.
    package init() {}

    /// Takes the time of a collection: `ran` is how long this process has run since its last one, nil in its first;
    /// earlier leaps no longer count after the `longest` time without one.
    ///
    /// - Returns: The time that the clock has leapt since the last collection; negative if it went back.
    @discardableResult
    package mutating func pass(to now: Instant, ran: Int64?, longest: Int64) -> Int64 {
        defer { collectedAt = now }
        guard let collectedAt else { return 0 }
        let elapsed = now.milliseconds(since: collectedAt)
        // A process that has just begun may have been preceded by one that ran until then.
        let excess = elapsed - (ran ?? min(max(elapsed, 0), Self.period))
        guard abs(excess) > Self.tolerance else { return 0 }
        if now.milliseconds(since: leaptAt) > longest { leapt = 0 }
        leapt = max(0, leapt + excess)
        leaptAt = now
        return excess
    }

    /// Moves a time back by the sum of the leaps, unless it is later than the last leap.
    package func corrected(_ time: Instant) -> Instant { time >= leaptAt ? time : time - leapt }

    /// Moves all times of a retention back except that of receipts, which last for minutes only.
    package func corrected(_ retention: Retention) -> Retention {
        let times = [
            \Retention.seenBefore, \.supersededBefore, \.undoBefore, \.stagedBefore, \.journalsBefore,
        ]
        return times.reduce(into: retention) { $0[keyPath: $1] = corrected($0[keyPath: $1]) }
    }

    /// Codes all parts in their order.
    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&collectedAt, &leapt, &leaptAt, &collector)
    }
}
