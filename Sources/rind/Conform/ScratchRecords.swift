// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// The records that `rind conform --write` makes and deletes again.
struct ScratchRecords {
    /// The table and the text column that are changed.
    let table: String
    let column: String
    /// The columns of a new record, without its id.
    private let columns: [JSONValue.Member]
    /// All tables that the endpoint has sent: a push names each.
    private let tables: [String]
    /// The word that this run's ids and texts have in common.
    private let word: String
    /// Columns that hold text for users in most schemas; one of these is changed if there is one.
    private static let usual = ["name", "title", "label", "body", "text", "description", "note"]

    /// Chooses a table and a column, unless they are given; nil if no table fits.
    ///
    /// The random number makes the ids unique.
    init?(_ pulled: PullReading, table: String?, column: String?, random: UInt64) {
        let candidates = table.map { [$0] } ?? pulled.names.filter { pulled[$0].example != nil }
        let found = candidates.compactMap { name -> (name: String, column: String, members: [JSONValue.Member])? in
            let members = (pulled[name].example?.members ?? []).filter { $0.name != "id" }
            guard let column = column ?? Self.textColumn(of: members) else { return nil }
            return (name, column, members)
        }
        // A record without references to others can be deleted without harm.
        let best = found.min { left, right in Self.references(left.members) < Self.references(right.members) }
        guard let best else { return nil }
        self.table = best.name
        self.column = best.column
        columns = best.members.filter { !["_status", "_changed", best.column].contains($0.name) }
        tables = pulled.names
        let digits = String(random % 78_364_164_096, radix: 36)
        word = "rindtest" + String(repeating: "0", count: 7 - digits.count) + digits
    }

    private static func textColumn(of members: [JSONValue.Member]) -> String? {
        let names = members.filter { $0.value.string != nil && !$0.name.hasSuffix("_id") }.map(\.name)
        return usual.first { names.contains($0) } ?? names.first
    }

    private static func references(_ members: [JSONValue.Member]) -> Int {
        members.count { $0.name.hasSuffix("_id") }
    }

    /// Returns the id of one of the records, 16 characters as WatermelonDB makes them.
    func id(_ letter: Character) -> String { word + String(letter) }

    /// Returns a text that the column gets.
    func text(_ number: Int) -> String { "\(word) \(number)" }

    /// Returns whether a record that was pulled has the text with a number.
    func has(_ record: JSONValue?, text number: Int) -> Bool { record?[column]?.string == text(number) }

    /// Returns a record as a client pushes it.
    func record(_ letter: Character, text number: Int, isNew: Bool) -> JSONValue {
        .object(
            [
                .init("id", .string(id(letter))), .init("_status", .string(isNew ? "created" : "updated")),
                .init("_changed", .string(isNew ? "" : column)),
            ] + columns + [.init(column, .string(text(number)))])
    }

    /// Returns the changes of a push, which name every table.
    func changes(
        created: [JSONValue] = [], updated: [JSONValue] = [], deleted: [Character] = []
    ) -> JSONValue {
        .object(
            (tables.contains(table) ? tables : tables + [table]).map { name in
                let isOwn = name == table
                return .init(
                    name,
                    .object([
                        .init("created", .array(isOwn ? created : [])), .init("updated", .array(isOwn ? updated : [])),
                        .init("deleted", .array(isOwn ? deleted.map { .string(id($0)) } : [])),
                    ]))
            })
    }
}
