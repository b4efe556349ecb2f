// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import LineProjection
import Logging
import SyncModel

/// Reports the values of one pull that could not be taken as they came.
struct PulledValues {
    /// The problems, by column.
    let problems: [ColumnProblem]
    private let schema: Schema
    private let unreadable: [UnreadableValues.Value]

    init(_ faults: [ColumnFault], _ unreadable: [UnreadableValues.Value], schema: Schema) {
        self.schema = schema
        self.unreadable = unreadable
        problems = faults.flatMap { fault in
            let table = schema.tables[fault.table]
            return [(ColumnProblem.Kind.unreadable, fault.unreadable), (.noZone, fault.assumed)]
                .filter { $0.1 > 0 }
                .map {
                    ColumnProblem(table: table.name, column: table.columns[fault.column].name, kind: $0.0, count: $0.1)
                }
        }
    }

    /// Returns entries for the quarantine: the first records of each column that is reported, with the shapes of their
    /// values and never with the values.
    func quarantined(for due: [ColumnProblem]) -> [QuarantinedLine] {
        var lines: [QuarantinedLine] = []
        for value in unreadable {
            let table = schema.tables[value.table]
            let column = table.columns[value.column].name
            guard due.contains(where: { $0.kind == .unreadable && $0.table == table.name && $0.column == column })
            else { continue }
            let note = Array("\(column): \(value.shape)".utf8)
            if let index = lines.firstIndex(where: { $0.table == table.name && $0.id == value.id }) {
                lines[index].bytes += [UInt8(ascii: "\n")] + note
            } else {
                lines.append(
                    QuarantinedLine(
                        reason: .unreadableValue, type: value.type, table: table.name, id: value.id, bytes: note))
            }
        }
        return lines
    }

    /// Logs the columns that are reported.
    func log(_ due: [ColumnProblem], to logger: Logger) {
        for problem in due {
            var metadata: Logger.Metadata = [
                "table": .string(problem.table), "column": .string(problem.column), "values": "\(problem.count)",
                "hint": "'rind check --sample' shows what becomes of each value, and attributes that fit",
            ]
            switch problem.kind {
            case .unreadable:
                let example = unreadable.first {
                    schema.tables[$0.table].name == problem.table
                        && schema.tables[$0.table].columns[$0.column].name == problem.column
                }
                metadata["code"] = "pull.unreadable_values"
                metadata["shape"] = example.map { .string($0.shape) }
                metadata["record"] = example.map { .string(ForeignText.cut($0.id)) }
                logger.warning("values of a column cannot be read: apps get its default", metadata: metadata)
            case .noZone:
                metadata["code"] = "pull.times_without_zone"
                logger.notice(
                    "times of a column have no zone: they are taken as UTC; say so with 'zone UTC', or name the zone",
                    metadata: metadata)
            case .repaired, .withheld: break
            }
        }
    }
}
