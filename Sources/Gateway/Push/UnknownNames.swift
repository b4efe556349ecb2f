// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncMachines
import SyncModel

/// Finds the names in a push that are not in the configuration.
///
/// Their contents are dropped, which the log should show.
struct UnknownNames {
    /// The number of tables and columns that the log names, and the most bytes of each name.
    private static let shown = (names: 20, bytes: 64)
    /// Members of every record that are not columns.
    private static let own = ["id", "_status", "_changed"]

    /// The number of records without a known table, plus the number of values without a known column.
    private(set) var count: Int
    /// The unknown tables, as the log names them.
    let tables: [String]
    /// The first unknown columns, each after its table, as the log names them.
    private(set) var columns: [String] = []

    /// Searches the records of a push.
    ///
    /// An unreadable record has no columns here; the error is found when the record is sent.
    init(_ plan: PushPlan, reader: OperationReader, schema: Schema) {
        count = plan.dropped.values.reduce(0, +)
        tables = plan.dropped.keys.sorted().prefix(Self.shown.names).map { ForeignText.cut($0, to: Self.shown.bytes) }
        let known = schema.tables.map { NameTable(Self.own + $0.columns.map(\.name)) }
        for operation in plan.operations {
            try? reader.withRecord(of: operation) { record in
                record.forEachMember { name, _ in
                    guard known[operation.table].index(of: name) < 0 else { return }
                    count += 1
                    guard columns.count < Self.shown.names else { return }
                    let text = ForeignText.cut(name.string ?? "", to: Self.shown.bytes)
                    let column = "\(schema.tables[operation.table].name).\(text)"
                    if !columns.contains(column) { columns.append(column) }
                }
            }
        }
    }
}
