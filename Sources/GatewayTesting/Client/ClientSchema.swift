// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// An app's schema over all its versions; a client of version *n* has what came with *n* or before.
package struct ClientSchema: Hashable, Sendable {
    /// One column of a table.
    package struct Column: Hashable, Sendable {
        /// The only types that WatermelonDB has.
        package enum Kind: String, CaseIterable, Sendable {
            case string, number, boolean
        }

        /// Its name.
        package var name: String
        /// Its type.
        package var kind: Kind
        /// True if null is allowed.
        package var isOptional: Bool
        /// The schema version that added it.
        package var since: Int

        /// Creates a column.
        package init(_ name: String, _ kind: Kind, isOptional: Bool = false, since: Int = 1) {
            self.name = name
            self.kind = kind
            self.isOptional = isOptional
            self.since = since
        }
    }

    /// One table.
    package struct Table: Hashable, Sendable {
        /// Its name.
        package var name: String
        /// Its columns in the order of the schema, without `id`.
        package var columns: [Column]
        /// The schema version that added it.
        package var since: Int

        /// Creates a table.
        package init(_ name: String, since: Int = 1, columns: [Column]) {
            self.name = name
            self.columns = columns
            self.since = since
        }

        /// Returns the columns that a client of a version has.
        package func columns(at version: Int) -> [Column] { columns.filter { $0.since <= version } }
    }

    /// The tables in the order of the schema.
    package var tables: [Table]
    /// The lowest version that the app's migrations start from.
    package var oldestMigration = 1

    /// Creates a schema.
    package init(tables: [Table]) { self.tables = tables }

    /// Returns the tables that a client of a version has.
    package func tables(at version: Int) -> [Table] { tables.filter { $0.since <= version } }

    /// Returns the table of a name; nil if a client of this version does not have it.
    package func table(named name: String, at version: Int) -> Table? {
        tables(at: version).first { $0.name == name }
    }

    /// Returns the news since a version: tables, and columns of tables that were there before.
    ///
    /// Both are in the order in which the versions brought them, as the library walks through its migrations.
    package func changes(from: Int, to version: Int) -> ClientPullArguments.Migration {
        var migration = ClientPullArguments.Migration(from: from, tables: [], columns: [])
        for step in (from + 1)..<max(from + 1, version + 1) {
            migration.tables += tables.filter { $0.since == step }.map(\.name)
            for table in tables where table.since <= from {
                let added = table.columns.filter { $0.since == step }.map(\.name)
                if added.isEmpty { continue }
                if let index = migration.columns.firstIndex(where: { $0.table == table.name }) {
                    migration.columns[index].columns += added
                } else {
                    migration.columns.append(.init(table: table.name, columns: added))
                }
            }
        }
        return migration
    }

    /// The schema of the recorded exchanges: projects, tasks, comments and tags in three versions.
    package static let recorded = ClientSchema(tables: [
        Table(
            "projects",
            columns: [
                Column("name", .string), Column("is_archived", .boolean),
                Column("color", .string, isOptional: true, since: 3),
            ]),
        Table(
            "tasks",
            columns: [
                Column("name", .string), Column("position", .number), Column("is_done", .boolean),
                Column("project_id", .string), Column("note", .string, isOptional: true), Column("created_at", .number),
                Column("updated_at", .number), Column("due_at", .number, isOptional: true, since: 2),
            ]),
        Table(
            "comments", since: 2,
            columns: [
                Column("body", .string, since: 2), Column("task_id", .string, since: 2),
            ]),
        Table("tags", since: 3, columns: [Column("label", .string, since: 3)]),
    ])
}
