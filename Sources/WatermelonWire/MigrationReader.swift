// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// A reader of a client's schema migration, in all the forms in which apps send it.
///
/// Ignoring a migration loses columns permanently, so any migration that is not understood is an error.
struct MigrationReader {
    let limits: WireDialect.Limits

    /// The number of times that the value may be wrapped: percent-encoded once more, or a JSON string of JSON.
    private static let maximumUnwraps = 4
    /// The greatest length of a table's or column's name in bytes.
    private static let maximumNameLength = 255
    /// The names that belong to the client's own bookkeeping.
    private static let internalNames: Set<String> = ["id", "_status", "_changed", "__proto__"]

    /// Reads the decoded value of a parameter, or the text of a JSON string.
    func read(text: [UInt8]) throws(WireError) -> Stated<Migration> {
        try read(text: text, unwraps: Self.maximumUnwraps)
    }

    /// Reads a member of the body.
    func read(_ value: JSONSlice) throws(WireError) -> Stated<Migration> {
        try read(value, unwraps: Self.maximumUnwraps)
    }

    /// Reads parameters such as `migration[tables][]=comments`, as axios and qs write nested values.
    ///
    /// Empty lists leave no trace in this style.
    func read(bracketed parameters: [(keys: [String]?, value: [UInt8])]) throws(WireError) -> Stated<Migration> {
        var from: Int?
        var tables: [String] = []
        var columns: [Int: (table: String?, columns: [String])] = [:]
        for parameter in parameters {
            let value = String(decoding: parameter.value, as: UTF8.self)
            switch parameter.keys ?? [] {
            case ["from"]:
                guard from == nil else { throw .migrationTwice }
                from = try Self.version(parameter.value)
            case let keys where keys.first == "tables" && Self.isListIndex(keys.dropFirst()): tables.append(value)
            case let keys where keys.count >= 3 && keys[0] == "columns":
                guard let index = Int(keys[1]), (0..<limits.migrationNames).contains(index) else { throw .migration }
                var added = columns[index] ?? (nil, [])
                if keys[2] == "table", keys.count == 3, added.table == nil {
                    added.table = value
                } else if keys[2] == "columns", Self.isListIndex(keys.dropFirst(3)) {
                    added.columns.append(value)
                } else {
                    throw .migration
                }
                columns[index] = added
            default: throw .migration
            }
        }
        guard let from else { throw .migration }
        var migration = Migration(from: from, tables: tables)
        for (_, added) in columns.sorted(by: { $0.key < $1.key }) {
            guard let table = added.table else { throw .migration }
            migration.columns.append(Migration.AddedColumns(table: table, columns: added.columns))
        }
        return .value(try checked(migration))
    }

    private func read(text: [UInt8], unwraps: Int) throws(WireError) -> Stated<Migration> {
        try .reading(text) { (text) throws(WireError) in
            guard unwraps > 0 else { throw .migration }
            if let first = text.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "\"") {
                do throws(WireError) {
                    return try RequestBody.withDocument(text, maximumDepth: limits.jsonDepth) {
                        (value, _) throws(WireError) in try read(value, unwraps: unwraps - 1)
                    }
                } catch {
                    // The text is no JSON: for a parameter that is an unreadable migration, while the body may be fine.
                    throw error.code == .migration ? error : .migration
                }
            }
            let decoded = PercentCoding.decode(text)
            guard decoded.count < text.count else { throw .migration }
            return try read(text: decoded, unwraps: unwraps - 1)
        }
    }

    private func read(_ value: JSONSlice, unwraps: Int) throws(WireError) -> Stated<Migration> {
        switch value.kind {
        case .null: return .none
        case .string: return try read(text: value.text ?? [], unwraps: unwraps)
        case .object: return .value(try checked(try Self.migration(value)))
        case .boolean, .number, .array: throw .migration
        }
    }

    private static func migration(_ object: JSONSlice) throws(WireError) -> Migration {
        guard let from = object.member("from"), from.kind == .number else { throw .migration }
        guard let tables = object.member("tables"), let columns = object.member("columns"), columns.kind == .array
        else { throw .migration }
        var migration = Migration(from: try version(Array(from.spelling.utf8)), tables: try texts(tables))
        try columns.forEachElement { (added) throws(WireError) in
            guard let table = added.member("table")?.string, let names = added.member("columns")
            else { throw .migration }
            migration.columns.append(Migration.AddedColumns(table: table, columns: try texts(names)))
        }
        return migration
    }

    private static func texts(_ list: JSONSlice) throws(WireError) -> [String] {
        guard list.kind == .array else { throw .migration }
        var texts: [String] = []
        try list.forEachElement { (element) throws(WireError) in
            guard let text = element.string else { throw .migration }
            texts.append(text)
        }
        return texts
    }

    private static func version(_ text: [UInt8]) throws(WireError) -> Int {
        guard let number = DecimalText(text), number.isWhole, !number.isNegative,
            number.truncated <= Stated<Int>.maximumVersion
        else { throw .migration }
        return Int(number.truncated)
    }

    /// Returns true if these keys behind a list's name are those of an element: none, `[]` or a number.
    private static func isListIndex(_ keys: ArraySlice<String>) -> Bool {
        guard let key = keys.first else { return true }
        return keys.count == 1 && (key.isEmpty || key.utf8.allSatisfy { (0x30...0x39).contains($0) })
    }

    /// Checks the names against the limits.
    private func checked(_ migration: Migration) throws(WireError) -> Migration {
        let tables = migration.tables + migration.columns.map(\.table)
        let columns = migration.columns.flatMap(\.columns)
        guard tables.count + columns.count <= limits.migrationNames else {
            throw .migrationTooLong(limit: limits.migrationNames)
        }
        for name in tables + columns {
            guard !name.isEmpty, name.utf8.count <= Self.maximumNameLength, !Self.internalNames.contains(name)
            else { throw .migrationName(name) }
        }
        return migration
    }
}
