// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
package import SyncModel

/// The schedule of full comparisons: of each request type with a replica's ledger, although nothing demands it.
///
/// Only a full comparison finds rows that the backend's stream has missed, and lost deletions.
package struct ComparisonSchedule: Hashable, Sendable {
    /// The pause before a failed comparison is tried again, in milliseconds.
    package static let retryAfter: Int64 = 3_600_000
    /// The longest pause, in milliseconds: it doubles with every failure in a row.
    package static let longestRetry: Int64 = 24 * 3_600_000

    /// The time between comparisons of a type, in milliseconds; 0 is never.
    package var every: Int64
    /// Tables with more records than this are not compared just because the time has come; 0 is no limit.
    package var maximumRows: Int

    /// Creates a schedule.
    package init(every: Int64 = 7 * 86_400_000, maximumRows: Int = 1_000_000) {
        self.every = every
        self.maximumRows = maximumRows
    }

    /// Returns the type that is compared in this pull: at most one, the one that has waited longest.
    ///
    /// - Parameters:
    ///   - mappings: The digest of the present mapping by request type; only these types are requested.
    ///   - comparisons: The comparisons in the cursor's row.
    ///   - rows: The number of records that the replica holds, by request type.
    ///   - replica: Spreads replicas that began together over the last quarter of the time.
    ///   - acceptedAt: The time at which the operator has last released deletions that were held back.
    ///   - now: The present time.
    /// - Returns: The request type; nil if none is due.
    package func due(
        mappings: [String: String], comparisons: [String: FullComparison], rows: [String: Int], replica: ReplicaID,
        acceptedAt: Instant, at now: Instant
    ) -> String? {
        let waiting = mappings.compactMap { type, mapping -> (type: String, since: Instant)? in
            let comparison = comparisons[type]
            let dueAt = dueAt(
                type, mapping: mapping, comparison: comparison, rows: rows[type, default: 0], replica: replica,
                acceptedAt: acceptedAt)
            // What was done in the future was done by a clock that was wrong, and would not be due for as long.
            let isAhead = max(comparison?.doneAt ?? 0, comparison?.triedAt ?? 0) > now + Self.longestRetry
            guard let dueAt, dueAt <= now || isAhead else { return nil }
            // Users wait for what the operator has released.
            if let comparison, comparison.isReleased(by: acceptedAt) { return (type, -1) }
            return (type, comparison?.mapping == mapping ? comparison?.doneAt ?? 0 : 0)
        }
        return waiting.min { ($0.since, $0.type) < ($1.since, $1.type) }?.type
    }

    /// Returns the time at which a type is due; long ago if it is overdue, nil for never.
    package func dueAt(
        _ type: String, mapping: String, comparison: FullComparison?, rows: Int, replica: ReplicaID, acceptedAt: Instant
    ) -> Instant? {
        guard let comparison else { return 0 }
        if comparison.isReleased(by: acceptedAt), comparison.failures == 0 { return 0 }
        let retryAt = comparison.triedAt > 0 ? comparison.triedAt + Self.pause(after: comparison.failures) : 0
        if comparison.mapping != mapping || comparison.doneAt == 0 { return retryAt }
        guard every > 0, maximumRows == 0 || rows <= maximumRows else { return nil }
        return max(retryAt, comparison.doneAt + every - spread(type, replica))
    }

    /// Returns the pause after this many failures in a row, in milliseconds.
    package static func pause(after failures: Int) -> Int64 {
        min(longestRetry, retryAfter << Int64(min(max(failures - 1, 0), 8)))
    }

    /// Returns up to a quarter of the time, different for every replica and type, the same in every run.
    private func spread(_ type: String, _ replica: ReplicaID) -> Int64 {
        let key = SipHash.Key(UInt64(bitPattern: replica.rawValue), 0)
        let hash = Array(type.utf8).withUnsafeBytes { SipHash.hash64($0, key: key) }
        return Int64(UInt64(every / 4).multipliedFullWidth(by: hash).high)
    }
}
