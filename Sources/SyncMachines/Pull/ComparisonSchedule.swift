// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
package import SyncModel

/// When everything of a request type is compared with what a replica holds, although nothing demands it.
///
/// Rows that the backend's stream has missed, and deletions that got lost, are found by nothing else.
package struct ComparisonSchedule: Hashable, Sendable {
    /// How long a comparison that could not be finished waits before it is tried again, in milliseconds.
    package static let retryAfter: Int64 = 3_600_000
    /// How long it waits at the most: the pause doubles with every try in a row that fails.
    package static let longestRetry: Int64 = 24 * 3_600_000

    /// How often a type is compared, in milliseconds; 0 is never.
    package var every: Int64
    /// Tables with more records than this are not compared just because the time has come; 0 is no limit.
    package var maximumRows: Int

    /// A schedule.
    package init(every: Int64 = 7 * 86_400_000, maximumRows: Int = 1_000_000) {
        self.every = every
        self.maximumRows = maximumRows
    }

    /// The type that is compared in this pull, if any: one at a time, the one that has waited longest.
    ///
    /// - Parameters:
    ///   - mappings: The digest of the present mapping by request type; only these types are asked for.
    ///   - comparisons: What the cursor's row says.
    ///   - rows: How many records the replica holds, by request type.
    ///   - replica: Spreads replicas that began together over the last quarter of the time.
    ///   - acceptedAt: When the operator has last released what was held back.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The request type, or nil where none is due.
    package func due(
        mappings: [String: String], comparisons: [String: FullComparison], rows: [String: Int], replica: ReplicaID,
        acceptedAt: Int64,
        at now: Int64
    ) -> String? {
        let waiting = mappings.compactMap { type, mapping -> (type: String, since: Int64)? in
            let comparison = comparisons[type]
            let dueAt = dueAt(
                type, mapping: mapping, comparison: comparison, rows: rows[type, default: 0], replica: replica,
                acceptedAt: acceptedAt)
            // What was done in the future was done by a clock that was wrong, and would not be due for as long.
            let isAhead = max(comparison?.doneAt ?? 0, comparison?.triedAt ?? 0) > now + Self.longestRetry
            guard let dueAt, dueAt <= now || isAhead else { return nil }
            // People wait for what the operator has released.
            if let comparison, comparison.isReleased(by: acceptedAt) { return (type, -1) }
            return (type, comparison?.mapping == mapping ? comparison?.doneAt ?? 0 : 0)
        }
        return waiting.min { ($0.since, $0.type) < ($1.since, $1.type) }?.type
    }

    /// When one type is to be compared, in milliseconds since 1970; long ago where it is due already, nil is never.
    package func dueAt(
        _ type: String, mapping: String, comparison: FullComparison?, rows: Int, replica: ReplicaID, acceptedAt: Int64
    ) -> Int64? {
        guard let comparison else { return 0 }
        if comparison.isReleased(by: acceptedAt), comparison.failures == 0 { return 0 }
        let retryAt = comparison.triedAt > 0 ? comparison.triedAt + Self.pause(after: comparison.failures) : 0
        if comparison.mapping != mapping || comparison.doneAt == 0 { return retryAt }
        guard every > 0, maximumRows == 0 || rows <= maximumRows else { return nil }
        return max(retryAt, comparison.doneAt + every - spread(type, replica))
    }

    /// How long a type waits after that many tries in a row that failed, in milliseconds.
    package static func pause(after failures: Int) -> Int64 {
        min(longestRetry, retryAfter << Int64(min(max(failures - 1, 0), 8)))
    }

    /// Up to a quarter of the time, another for every replica and type, the same in every run.
    private func spread(_ type: String, _ replica: ReplicaID) -> Int64 {
        let key = SipHash.Key(UInt64(bitPattern: replica.rawValue), 0)
        let hash = Array(type.utf8).withUnsafeBytes { SipHash.hash64($0, key: key) }
        return Int64(UInt64(every / 4).multipliedFullWidth(by: hash).high)
    }
}
