// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Tells time that has passed for everybody from time that only the clock has seen.
///
/// A clock that is put forward, and a gateway that did not run, make every device look as if it had been away. By what
/// collections know of that, the times before which something goes are put back until as much time has passed since.
package struct CollectionTime: Hashable, Sendable {
    /// How far clock and running time may differ between two collections, in milliseconds.
    package static let tolerance: Int64 = 900_000
    /// How long a process can have run since a collection of one before it, at the most.
    package static let period: Int64 = 3_600_000

    /// When the last collection was; nil before the first.
    package var collectedAt: Int64?
    /// How much more the clock has seen than has passed, in milliseconds; never negative.
    package var leapt: Int64
    /// When that was noticed last.
    package var leaptAt: Int64

    /// What is known.
    package init(collectedAt: Int64? = nil, leapt: Int64 = 0, leaptAt: Int64 = 0) {
        self.collectedAt = collectedAt
        self.leapt = leapt
        self.leaptAt = leaptAt
    }

    /// Takes the time of a collection.
    ///
    /// - Parameters:
    ///   - now: What the clock shows.
    ///   - ran: How long this process has run since its last collection; nil in its first one.
    ///   - longest: After which time without a leap none counts any more.
    /// - Returns: By how much the clock has leapt since the last collection; negative where it went back.
    @discardableResult
    package mutating func pass(to now: Int64, ran: Int64?, longest: Int64) -> Int64 {
        defer { collectedAt = now }
        guard let collectedAt else { return 0 }
        let elapsed = now - collectedAt
        // A process that has just begun may have been preceded by one that ran until then.
        let excess = elapsed - (ran ?? min(max(elapsed, 0), Self.period))
        guard abs(excess) > Self.tolerance else { return 0 }
        if now - leaptAt > longest { leapt = 0 }
        leapt = max(0, leapt + excess)
        leaptAt = now
        return excess
    }

    /// Puts a time back by what has leapt, unless it is later than the last leap.
    package func corrected(_ time: Int64) -> Int64 { time >= leaptAt ? time : time - leapt }

    /// Puts back all times of a retention but that of receipts, which are of minutes.
    package func corrected(_ retention: Retention) -> Retention {
        var corrected = retention
        corrected.seenBefore = self.corrected(retention.seenBefore)
        corrected.supersededBefore = self.corrected(retention.supersededBefore)
        corrected.undoBefore = self.corrected(retention.undoBefore)
        corrected.stagedBefore = self.corrected(retention.stagedBefore)
        corrected.journalsBefore = self.corrected(retention.journalsBefore)
        return corrected
    }
}
