// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncMachines
import SyncModel

/// What a push has that the configuration does not: it is dropped, and somebody should hear of it.
struct UnknownNames {
    /// How many tables and columns are named in the log, and by how many bytes each.
    private static let shown = (names: 20, bytes: 64)
    /// Members of every record that are no columns.
    private static let own = ["id", "_status", "_changed"]

    /// How many records had no table, and values no column.
    private(set) var count: Int
    /// The unknown tables, as the log names them.
    let tables: [String]
    /// The first unknown columns, each behind its table, as the log names them.
    private(set) var columns: [String] = []

    /// Looks through the records of a push.
    ///
    /// A record that cannot be read has no columns here; that it cannot is found out when it is its turn.
    init(_ plan: PushPlan, reader: OperationReader, schema: Schema) {
        count = plan.dropped.values.reduce(0, +)
        tables = plan.dropped.keys.sorted().prefix(Self.shown.names).map { ForeignText.cut($0, to: Self.shown.bytes) }
        let known = schema.tables.map { NameTable(Self.own + $0.columns.map(\.name)) }
        for operation in plan.operations {
            try? reader.withRecord(of: operation) { record in
                record.forEachMember { name, _ in
                    guard known[operation.table].place(of: name) < 0 else { return }
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
