// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOConcurrencyHelpers
import SyncMachines
import SyncModel

/// Counts the values of a push that did not go out as the client has sent them: those that did not fit their columns
/// and became defaults or were cut (push rule 10), and defaults that were not sent at all.
///
/// The backend may have had better values, so the log should show it. A record that is read again counts once.
final class RepairedValues: Sendable {
    /// The number of columns that the log names.
    private static let shown = 20

    private struct Repair {
        let table: String
        let id: String
        let columns: [(name: String, kind: ColumnProblem.Kind)]
    }

    /// The repairs of each record, by the offset at which it begins in the push.
    private let repairs = NIOLockedValueBox<[Int: Repair]>([:])

    /// The values by column and kind.
    var problems: [ColumnProblem] {
        var problems: [ColumnProblem] = []
        for repair in sorted {
            for (column, kind) in repair.columns {
                let problem = ColumnProblem(table: repair.table, column: column, kind: kind, count: 1)
                if let index = problems.firstIndex(where: { $0.isSameColumn(as: problem) }) {
                    problems[index].count += 1
                } else {
                    problems.append(problem)
                }
            }
        }
        return problems
    }

    private var sorted: [Repair] { repairs.withLockedValue { $0.sorted { $0.key < $1.key }.map(\.value) } }

    /// Logs the first columns, each after its table; once for each push.
    func log(to logger: Logger) {
        log(
            .repaired, code: "push.repaired_values",
            saying:
                "a push has values that do not fit their columns; defaults were sent instead, or the values were cut",
            to: logger)
        log(
            .withheld, code: "push.withheld_values",
            saying: """
                a push has records of which the backend has values that could not be read; what may be the defaults in their \
                place was not sent
                """, to: logger)
    }

    private func log(_ kind: ColumnProblem.Kind, code: String, saying message: Logger.Message, to logger: Logger) {
        let problems = problems.filter { $0.kind == kind }
        guard !problems.isEmpty else { return }
        let columns = problems.prefix(Self.shown).map { "\($0.table).\($0.column)" }
        let record = sorted.first { $0.columns.contains { $0.kind == kind } }
        // What is withheld may be so with each push of a table.
        logger.log(
            level: kind == .withheld ? .notice : .warning, message,
            metadata: [
                "code": "\(code)", "\(kind.rawValue)": "\(problems.reduce(0) { $0 + $1.count })",
                "columns": "\(columns.joined(separator: " "))", "record": "\(ForeignText.cut(record?.id ?? ""))",
            ])
    }

    /// Notes the columns of the record at an offset whose values did not go out as they came.
    func note(_ record: SanitizedRecord, _ id: String, of table: String, at offset: Int) {
        guard !record.repaired.isEmpty || !record.withheld.isEmpty else { return }
        let columns =
            record.repaired.map { ($0, ColumnProblem.Kind.repaired) } + record.withheld.map { ($0, .withheld) }
        repairs.withLockedValue { $0[offset] = Repair(table: table, id: id, columns: columns) }
    }
}
