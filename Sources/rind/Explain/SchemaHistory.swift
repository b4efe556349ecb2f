// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// The schema versions that a configuration tells of, and what each of them brought.
struct SchemaHistory {
    /// A version that brought something; the first is all that was always there.
    struct Entry: Equatable {
        var version: Int
        /// The tables in the order of the configuration, each with its first columns.
        var tables: [NamedColumns]
        /// Columns of older tables.
        var columns: [NamedColumns]
        /// Request types that were added without replacing others.
        var types: [String]
        /// Request types that replaced others.
        var replaced: [Replaced]
    }

    /// Columns of a table.
    struct NamedColumns: Equatable {
        var table: String
        var columns: [String]
    }

    /// A request type and the one that it has replaced.
    struct Replaced: Equatable {
        var old: String
        var new: String
    }

    let schema: Schema
    /// The changes, by rising versions.
    let entries: [Entry]

    init(_ schema: Schema) {
        self.schema = schema
        let versions = schema.tables.flatMap { table in
            [table.since] + table.columns.map(\.since) + table.feeds.flatMap { $0.versions.map(\.since) }
        }
        // 0 is "always", and there is no version below 1.
        entries = Set(versions.map { max($0, 1) } + [1]).sorted().compactMap { version in
            let entry = Self.entry(version, schema)
            let isEmpty =
                entry.tables.isEmpty && entry.columns.isEmpty && entry.types.isEmpty && entry.replaced.isEmpty
            return isEmpty && version > 1 ? nil : entry
        }
    }

    private static func entry(_ version: Int, _ schema: Schema) -> Entry {
        let before = version > 1 ? version - 1 : -1
        let change = schema.change(from: before, to: version)
        let course = StreamCourse(from: before, to: version, affected: [], schema: schema)
        let tables = schema.tables(at: version)
        return Entry(
            version: version,
            tables: tables.filter { change.tables.contains($0.name) }.map { table in
                NamedColumns(table: table.name, columns: table.columns(at: version).map(\.name))
            },
            columns: tables.compactMap { table in
                change.columns[table.name].map { added in
                    NamedColumns(table: table.name, columns: table.columns.map(\.name).filter(added.contains))
                }
            },
            types: course.types.filter { $0.isNew && $0.replaced.isEmpty }.map(\.name),
            replaced: course.types.flatMap { type in type.replaced.map { Replaced(old: $0, new: type.name) } })
    }
}

extension SchemaHistory: StateReport {
    var lines: [String] {
        var lines = [range] + entries.flatMap(lines)
        if entries.count == 1 {
            lines += [
                "",
                "No 'since' stands in the configuration: every version has the same tables, columns and request types.",
                "With the next schema version of the app, raise [schema] version to N and write 'since N' behind the "
                    + "columns that it adds.",
            ]
        } else {
            lines += ["", "What an app fetches that goes from one to another: --from N --to M"]
        }
        return lines
    }

    private var range: String {
        let served =
            schema.oldest == schema.version
            ? "Apps of schema version \(schema.version) are served."
            : "Apps of the schema versions \(schema.oldest) to \(schema.version) are served."
        switch schema.migrationsEnabledAt {
        case 0?: return served + " Migrations are switched off."
        case let version?: return served + " Migrations are enabled from \(version) on."
        case nil: return served + " Migrations are enabled."
        }
    }

    private func lines(of entry: Entry) -> [String] {
        let isFirst = entry.version == entries.first?.version
        let unserved = entry.version < schema.oldest && !isFirst ? ", no longer served" : ""
        var lines = ["", isFirst ? "from the beginning" : "version \(entry.version)\(unserved)"]
        func add(_ name: String, _ values: [String]) {
            if !values.isEmpty { lines.append("  " + name.padded(to: 9) + values.joined(separator: ", ")) }
        }
        add("tables", entry.tables.map { "\($0.table) (\($0.columns.count))" })
        add("columns", entry.columns.flatMap { added in added.columns.map { "\(added.table).\($0)" } })
        add("asks for", entry.types)
        add("replaces", entry.replaced.map { "\($0.old) by \($0.new)" })
        return lines
    }

    var json: JSONValue {
        .object([
            "version": .integer(schema.version), "oldest": .integer(schema.oldest),
            "migrations_enabled_at": .integer(schema.migrationsEnabledAt.map(Int64.init)),
            "history": .array(entries.map(Self.json)),
        ])
    }

    private static func json(_ entry: Entry) -> JSONValue {
        .object([
            "version": .integer(entry.version), "tables": .array(entry.tables.map(json)),
            "columns": .array(entry.columns.map(json)), "request_types": .array(entry.types.map { .string($0) }),
            "replaced": .array(
                entry.replaced.map { .object(["old": .string($0.old), "new": .string($0.new)]) }),
        ])
    }

    private static func json(_ named: NamedColumns) -> JSONValue {
        .object(["table": .string(named.table), "columns": .array(named.columns.map { .string($0) })])
    }
}
