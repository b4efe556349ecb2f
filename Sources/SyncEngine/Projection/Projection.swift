// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
package import SyncModel

/// The way from stream lines to the records of clients of one schema version, compiled from the configuration.
///
/// Making one costs as much as the configuration is large; it never changes and is shared by all pulls of the version.
package final class Projection: Sendable {
    /// The configuration.
    package let schema: Schema
    /// The schema version of the clients.
    package let schemaVersion: Int
    /// How lines are wrapped.
    package let rules: EnvelopeRules

    /// What each line type is for; a type that is named twice belongs to the table that comes first.
    let shapes: [LineShape]
    let types: NameTable
    /// The envelope's members: type, ack and data, in this order.
    let fields: NameTable
    /// The most slots that a shape needs.
    let slotCount: Int
    /// Where the counters of a table's columns begin.
    let counterOffsets: [Int]
    let counterCount: Int

    /// Compiles the tables and columns that a schema version has.
    package init(schema: Schema, schemaVersion: Int, rules: EnvelopeRules = EnvelopeRules()) {
        self.schema = schema
        self.schemaVersion = schemaVersion
        self.rules = rules
        var compiler = ShapeCompiler(schemaVersion: schemaVersion)
        if let type = rules.completeType { compiler.addControl(type, .complete) }
        if let type = rules.resetType { compiler.addControl(type, .reset) }
        for type in rules.ackOnlyTypes { compiler.addControl(type, .ackOnly) }
        for (place, table) in schema.tables.enumerated() where table.since <= schemaVersion {
            compiler.add(table, at: place)
        }
        shapes = compiler.shapes
        types = NameTable(compiler.shapes.map(\.type))
        fields = NameTable([rules.typeField, rules.ackField, rules.dataField])
        slotCount = max(compiler.shapes.map(\.slotCount).max() ?? 0, 1)
        var offset = 0
        counterOffsets = schema.tables.map { table in
            defer { offset += table.columns.count }
            return offset
        }
        counterCount = offset
    }
}

/// Compiles tables into the shapes of their line types.
struct ShapeCompiler {
    let schemaVersion: Int
    private(set) var shapes: [LineShape] = []
    private var seen: Set<[UInt8]> = []

    init(schemaVersion: Int) { self.schemaVersion = schemaVersion }

    mutating func addControl(_ type: String, _ role: LineShape.Role) {
        append(type, role, table: -1, source: 0, slots: SlotCompiler(), idSlots: [], columns: ColumnCompiler())
    }

    mutating func add(_ table: Table, at place: Int) {
        for type in table.upserts { addUpsert(type, table, at: place) }
        for rule in table.deletes { addDelete(rule, table, at: place) }
    }

    private mutating func addUpsert(_ type: String, _ table: Table, at place: Int) {
        var slots = SlotCompiler()
        let idPaths = table.idRule(for: type)?.paths ?? [Path(name: "id")]
        let idSlots = idPaths.map { slots.slot(of: $0) }
        var columns = ColumnCompiler()
        for (index, column) in table.columns.enumerated() where isVisible(column) {
            columns.add(column, at: index, lineType: type, slots: &slots)
        }
        append(
            type, .upsert, table: place, source: table.source(of: type), slots: slots, idSlots: idSlots,
            columns: columns)
    }

    private mutating func addDelete(_ rule: Table.DeleteRule, _ table: Table, at place: Int) {
        var slots = SlotCompiler()
        var columns = ColumnCompiler()
        let role: LineShape.Role
        var idSlots: [Int32] = []
        switch rule.target {
        case .by(let paths, let all):
            role = .delete(all: all)
            idSlots = paths.map { slots.slot(of: $0) }
        case .whereColumn(let name, let path):
            guard let index = table.columns.firstIndex(where: { $0.name == name }) else { return }
            role = .deleteWhere(column: index)
            // The value is converted as the column's own, from where the delete line has it.
            var column = table.columns[index]
            column.sources = [.path(path, types: [])]
            columns.add(column, at: index, lineType: rule.type, slots: &slots)
            idSlots = [slots.slot(of: path)]
        }
        append(
            rule.type, role, table: place, source: table.source(of: rule.type), slots: slots, idSlots: idSlots,
            columns: columns)
    }

    /// The client's own bookkeeping never comes from a backend (watermelon-protocol 0.4), and the id is written anyway.
    private func isVisible(_ column: Column) -> Bool {
        column.since <= schemaVersion && !["id", "_status", "_changed"].contains(column.name)
    }

    private mutating func append(
        _ type: String, _ role: LineShape.Role, table: Int, source: Int, slots: SlotCompiler, idSlots: [Int32],
        columns: ColumnCompiler
    ) {
        guard seen.insert(Array(type.utf8)).inserted else { return }
        shapes.append(
            LineShape(
                type: type, role: role, table: table, source: source, slots: slots, idSlots: idSlots, columns: columns))
    }
}
