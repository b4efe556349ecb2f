// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOConcurrencyHelpers
import SyncModel

/// Decides when the problems of a column are reported: with the first one, and then once an hour.
///
/// It holds a number for each column that has had a problem, so no more than the configuration has columns.
final class ValueWatch: Sendable {
    /// The time between two reports about one column.
    private static let interval: Int64 = 3_600_000

    private struct Key: Hashable {
        let table: String
        let column: String
        let kind: ColumnProblem.Kind
    }

    private struct Record {
        var reportedAt: Instant
        /// The number of values since the last report.
        var count = 0
    }

    private let records = NIOLockedValueBox<[Key: Record]>([:])

    /// Counts problems and returns those that are to be reported now, each with all values since its last report.
    func due(_ problems: [ColumnProblem], at now: Instant) -> [ColumnProblem] {
        guard !problems.isEmpty else { return [] }
        return records.withLockedValue { records in
            problems.compactMap { problem in
                let key = Key(table: problem.table, column: problem.column, kind: problem.kind)
                let known = records[key]
                let count = (known?.count ?? 0) + problem.count
                // A clock that was set back does not make the pause longer.
                if let known, (0..<Self.interval).contains(now.milliseconds(since: known.reportedAt)) {
                    records[key]?.count = count
                    return nil
                }
                records[key] = Record(reportedAt: now)
                var problem = problem
                problem.count = count
                return problem
            }
        }
    }
}
