// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Compiles tables into the shapes of their line types.
struct ShapeCompiler {
    let schemaVersion: Int
    private(set) var shapes: [LineShape] = []
    private(set) var content = ContentPlan()
    private var seen: Set<[UInt8]> = []
    private let indices: [String: Int]

    init(schema: Schema, schemaVersion: Int) {
        self.schemaVersion = schemaVersion
        indices = Dictionary(schema.tables.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }

    mutating func addControl(_ type: String, _ role: LineShape.Role) {
        append(type, role, to: nil, feed: 0, slots: SlotCompiler(), idSlots: [], columns: ColumnCompiler())
    }

    mutating func addIDMap(_ rule: EnvelopeRules.IDMap) {
        var slots = SlotCompiler()
        let members = rule.members.map { slots.slot(of: Path(name: $0)) }
        append(rule.type, .idMap, to: nil, feed: 0, slots: slots, idSlots: members, columns: ColumnCompiler())
    }

    mutating func add(_ table: Table, at index: Int) {
        for type in table.upserts { addUpsert(type, table, at: index) }
        for rule in table.deletes { addDelete(rule, table, at: index) }
    }

    private mutating func addUpsert(_ type: String, _ table: Table, at index: Int) {
        var slots = SlotCompiler()
        let idPaths = table.idRule(for: type)?.paths ?? [Path(name: "id")]
        let idSlots = idPaths.map { slots.slot(of: $0) }
        let links = table.isLedgered ? table.links : []
        func link(_ index: Int) -> Int? { links.firstIndex { $0.column == index } }
        var columns = ColumnCompiler()
        for (index, column) in table.columns.enumerated() where isVisible(column) {
            columns.add(
                column, at: index, lineType: type, link: link(index), reference: reference(column), slots: &slots,
                content: &content)
        }
        // The ledger finds descendants for clients of every version, so it also needs the links that this version
        // lacks.
        for (index, column) in table.columns.enumerated() where !isVisible(column) {
            guard let link = link(index) else { continue }
            columns.add(
                column, at: index, lineType: type, link: link, reference: reference(column), isWritten: false,
                slots: &slots, content: &content)
        }
        append(
            type, .upsert, to: (index, table), feed: table.feed(of: type), slots: slots, idSlots: idSlots,
            columns: columns)
    }

    private mutating func addDelete(_ rule: Table.DeleteRule, _ table: Table, at index: Int) {
        var slots = SlotCompiler()
        var columns = ColumnCompiler()
        let role: LineShape.Role
        var idSlots: [Int32] = []
        switch rule.target {
        case .by(let paths, let all):
            role = .delete(all: all)
            idSlots = paths.map { slots.slot(of: $0) }
        case .whereColumn(let name, let path):
            guard let index = table.columns.firstIndex(where: { $0.name == name }),
                let link = table.links.firstIndex(where: { $0.column == index })
            else { return }
            role = .deleteWhere(column: index, link: link)
            // The value is converted like the column's own, from the path that the delete line names.
            var column = table.columns[index]
            column.sources = [.path(path, types: [])]
            columns.add(
                column, at: index, lineType: rule.type, link: link, reference: reference(column), slots: &slots,
                content: &content)
            idSlots = [slots.slot(of: path)]
        }
        append(
            rule.type, role, to: (index, table), feed: table.feed(of: rule.type), slots: slots, idSlots: idSlots,
            columns: columns)
    }

    /// Returns the table whose records a column names by id; to the client, ids are always texts.
    private func reference(_ column: Column) -> Int? {
        column.type == .string ? column.reference.flatMap { indices[$0] } : nil
    }

    /// Returns whether lines write a column: a backend never sends the client's bookkeeping (pull rule 8), nor the id
    /// here.
    private func isVisible(_ column: Column) -> Bool {
        column.since <= schemaVersion && !["id", "_status", "_changed"].contains(column.name)
    }

    private mutating func append(
        _ type: String, _ role: LineShape.Role, to table: (index: Int, table: Table)?, feed: Int, slots: SlotCompiler,
        idSlots: [Int32], columns: ColumnCompiler
    ) {
        guard seen.insert(Array(type.utf8)).inserted else { return }
        let isLedgered = table?.table.isLedgered ?? false
        shapes.append(
            LineShape(
                type: type, role: role, table: table?.index ?? -1, feed: feed, slots: slots, idSlots: idSlots,
                columns: columns, linkCount: isLedgered ? table?.table.links.count ?? 0 : 0, needsContent: isLedgered))
    }
}
