// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayConfig
import JSONBytes
import SyncMachines
import SyncModel

/// The record that `rind check --checklist --write` makes, changes and deletes again.
struct ScratchRecord {
    let id: String
    let tableIndex: Int
    let table: Table
    /// The column of text that is changed.
    private let column: String
    /// The record as an app would push it, without its id.
    private var columns: [JSONValue.Member]
    /// The column that names a parent, and the parent's table; nil if none was asked for.
    private let reference: String?

    /// The table of the parents.
    let parentTable: Int?

    /// Chooses a table whose ids are made by apps, and with `needsParent` one with a reference; nil if none fits.
    ///
    /// A record of the stream is copied if there is one, since a backend may want what the configuration does not tell.
    init?(
        _ configuration: Configuration, _ records: [ChecklistStream.Line], random: UInt64, needsParent: Bool = false
    ) {
        let tables = configuration.schema.tables
        let fitting = tables.indices.compactMap { index -> (index: Int, example: JSONValue?, rank: Int)? in
            let table = tables[index]
            guard !table.hasOwnIDs, table.idType == .text, Self.textColumn(of: table) != nil,
                !needsParent || Self.reference(of: table, in: tables) != nil
            else { return nil }
            let line = records.last { $0.table == index && !$0.isDeletion }
            let example = line.flatMap { try? JSONValue.parse($0.content) }
            let references = table.columns.count { $0.reference != nil } + table.parents.count
            if example == nil, references > 0 { return nil }
            return (index, example, (example == nil ? 100 : 0) + references)
        }
        guard let best = fitting.min(by: { ($0.rank, $0.index) < ($1.rank, $1.index) }),
            let column = Self.textColumn(of: tables[best.index])
        else { return nil }
        tableIndex = best.index
        table = tables[best.index]
        self.column = column
        let parent = needsParent ? Self.reference(of: table, in: tables) : nil
        (reference, parentTable) = (parent?.column, parent?.table)
        // What is null gets the default of its column.
        columns = table.columns.filter { $0.name != column }.map { column in
            JSONValue.Member(column.name, best.example?[column.name] ?? .null)
        }
        let digits = String(random % 2_821_109_907_456, radix: 36)
        id = "rindtest" + String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static func reference(of table: Table, in tables: [Table]) -> (column: String, table: Int)? {
        for column in table.columns where !column.isReadonly && column.outgoingPath != nil {
            guard let index = tables.firstIndex(where: { $0.name == column.reference }), tables[index].idType == .text
            else { continue }
            return (column.name, index)
        }
        return nil
    }

    /// Gives the record another parent, if a reference was asked for.
    mutating func put(under parent: String) {
        guard let reference else { return }
        columns = columns.map { $0.name == reference ? JSONValue.Member($0.name, .string(parent)) : $0 }
    }

    /// Returns an update of the parent alone.
    func move(under parent: String) -> StreamPushOperation {
        operation(.update, [JSONValue.Member(reference ?? column, .string(parent))])
    }

    private static func textColumn(of table: Table) -> String? {
        table.columns.first {
            $0.type == .string && !$0.isReadonly && $0.reference == nil && $0.oneOf == nil && $0.outgoingPath != nil
        }?.name
    }

    /// Returns the text that the column gets.
    func text(_ number: Int) -> String { "\(id) \(number)" }

    /// Returns an operation on the record; an update changes only the text.
    func operation(_ kind: OperationKind, text number: Int = 0, base: String? = nil) -> StreamPushOperation {
        let own = JSONValue.Member(column, .string(text(number)))
        return operation(kind, kind == .create ? columns + [own] : [own], base: base)
    }

    private func operation(
        _ kind: OperationKind, _ columns: [JSONValue.Member], base: String? = nil
    ) -> StreamPushOperation {
        let data = kind == .delete ? nil : RecordSanitizer(table: table).sanitize(.object(columns)).data.serialised
        var key = JSONValue.object([])
        let path = (table.ids.first { $0.types.isEmpty } ?? table.ids.first)?.paths.first ?? Path(name: "id")
        key.set(.string(id), at: path.steps[...])
        return StreamPushOperation(kind, table: table.name, id: id, key: key.members ?? [], data: data, base: base)
    }

    /// Returns whether a line brings the record with this text; nil is its deletion.
    func isBrought(by line: ChecklistStream.Line, text number: Int?) -> Bool {
        guard line.table == tableIndex, let value = try? JSONValue.parse(line.content) else { return false }
        guard let number else { return line.isDeletion && value.string == id }
        return !line.isDeletion && value["id"]?.string == id && value[column]?.string == text(number)
    }
}
