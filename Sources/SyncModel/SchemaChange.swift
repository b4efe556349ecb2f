// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The tables and columns that a client lacks because its schema has moved from one version to another.
package struct SchemaChange: Hashable, Sendable {
    /// The version of the client's data.
    package var from: Int
    /// The client's present version.
    package var to: Int
    /// The names of the tables that the client has gained.
    package var tables: Set<String>
    /// The columns that older tables have gained, by table.
    package var columns: [String: Set<String>]
    /// Those of ``tables`` that are certainly empty on the client: only their rows go into `created`.
    ///
    /// If the version of the client's data is a guess, such a table may have records, and the client may have deleted
    /// one without having pushed that yet: `created` would bring it back.
    package var empty: Set<String>

    /// Creates a change.
    package init(
        from: Int, to: Int, tables: Set<String> = [], columns: [String: Set<String>] = [:], empty: Set<String> = []
    ) {
        self.from = from
        self.to = to
        self.tables = tables
        self.columns = columns
        self.empty = empty
    }

    /// True if the client has gained nothing.
    package var isEmpty: Bool { tables.isEmpty && columns.isEmpty }

    /// All tables that have to be fetched completely.
    package var affected: Set<String> { tables.union(columns.keys) }
}

extension Schema {
    /// Returns the tables and columns added after one version, up to another, by the `since` of tables and columns.
    package func change(from: Int, to: Int) -> SchemaChange {
        var change = SchemaChange(from: from, to: to)
        for table in tables(at: to) {
            if table.since > from {
                change.tables.insert(table.name)
                continue
            }
            let added = table.columns(at: to).filter { $0.since > from }.map(\.name)
            if !added.isEmpty { change.columns[table.name] = Set(added) }
        }
        return change
    }
}
