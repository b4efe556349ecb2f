// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOConcurrencyHelpers

/// Counts the values of a push that did not fit their columns, and became defaults or were cut (push rule 10).
///
/// The backend may have had better values, so the log should show it. A record that is read again counts once.
final class RepairedValues: Sendable {
    /// The number of columns that the log names.
    private static let shown = 20

    private struct Repair {
        let table: String
        let columns: [String]
    }

    /// The repairs of each record, by the offset at which it begins in the push.
    private let repairs = NIOLockedValueBox<[Int: Repair]>([:])

    /// The values by column.
    var problems: [ColumnProblem] {
        var problems: [ColumnProblem] = []
        for repair in repairs.withLockedValue({ $0.sorted { $0.key < $1.key }.map(\.value) }) {
            for column in repair.columns {
                if let index = problems.firstIndex(where: { $0.table == repair.table && $0.column == column }) {
                    problems[index].count += 1
                } else {
                    problems.append(
                        ColumnProblem(table: repair.table, column: column, kind: .repaired, count: 1))
                }
            }
        }
        return problems
    }

    /// Logs the first columns, each after its table; once for each push.
    func log(to logger: Logger) {
        let problems = problems
        guard !problems.isEmpty else { return }
        let columns = problems.prefix(Self.shown).map { "\($0.table).\($0.column)" }
        logger.warning(
            "a push has values that do not fit their columns; defaults were sent instead, or the values were cut",
            metadata: [
                "code": "push.repaired_values", "repaired": "\(problems.reduce(0) { $0 + $1.count })",
                "columns": "\(columns.joined(separator: " "))",
            ])
    }

    /// Notes the columns of the record at an offset whose values were repaired.
    func note(_ columns: [String], of table: String, at offset: Int) {
        repairs.withLockedValue { $0[offset] = Repair(table: table, columns: columns) }
    }
}
