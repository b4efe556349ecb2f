// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
package import SyncModel

/// The way from stream lines to the records of clients of one schema version, compiled from the configuration.
///
/// The cost of making a projection grows with the configuration; it never changes and is shared by all pulls of the
/// version.
package final class Projection: Sendable {
    /// The tables and columns of the configuration, those of all schema versions.
    package let schema: Schema
    /// The schema version of the clients.
    package let schemaVersion: Int
    /// The rules by which lines are wrapped.
    package let rules: EnvelopeRules
    /// The order in which tables are processed: parents first.
    package let tableOrder: TableOrder

    /// The shapes of the line types; a type that is named twice belongs to the table that comes first.
    let shapes: [LineShape]
    let types: NameTable
    /// The names of the envelope's members: type, ack and data, in this order.
    let fields: NameTable
    /// The most slots that a shape needs, at least 1.
    let slotCount: Int
    /// The index of the first counter of each table's columns.
    let counterOffsets: [Int]
    let counterCount: Int
    /// The columns and constants as content hashes number them.
    let content: ContentPlan

    /// Compiles the tables and columns that a schema version has.
    package init(schema: Schema, schemaVersion: Int, rules: EnvelopeRules = EnvelopeRules()) {
        self.schema = schema
        self.schemaVersion = schemaVersion
        self.rules = rules
        tableOrder = TableOrder(schema.tables)
        var compiler = ShapeCompiler(schema: schema, schemaVersion: schemaVersion)
        if let type = rules.completeType { compiler.addControl(type, .complete) }
        if let type = rules.resetType { compiler.addControl(type, .reset) }
        if let rule = rules.idMap { compiler.addIDMap(rule) }
        for type in rules.ackOnlyTypes { compiler.addControl(type, .ackOnly) }
        for (index, table) in schema.tables.enumerated() where table.since <= schemaVersion {
            compiler.add(table, at: index)
        }
        shapes = compiler.shapes
        content = compiler.content
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
