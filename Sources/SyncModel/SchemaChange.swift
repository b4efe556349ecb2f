// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What a client lacks because its schema has moved from one version to another.
package struct SchemaChange: Hashable, Sendable {
    /// The version that its data are of.
    package var from: Int
    /// The version that it has now.
    package var to: Int
    /// The tables that it has gained, by name.
    package var tables: Set<String>
    /// The columns that older tables have gained, by table.
    package var columns: [String: Set<String>]
    /// Those of ``tables`` of which it certainly has nothing: only their rows go into `created`.
    ///
    /// Where the version of its data is guessed, it may have some, and may have deleted one without having said so yet:
    /// `created` would bring that back.
    package var empty: Set<String>

    /// A change.
    package init(
        from: Int, to: Int, tables: Set<String> = [], columns: [String: Set<String>] = [:], empty: Set<String> = []
    ) {
        self.from = from
        self.to = to
        self.tables = tables
        self.columns = columns
        self.empty = empty
    }

    /// Whether nothing was gained.
    package var isEmpty: Bool { tables.isEmpty && columns.isEmpty }

    /// All tables of which everything has to be fetched.
    package var affected: Set<String> { tables.union(columns.keys) }
}

extension Schema {
    /// What the versions after one have brought up to another: the history is the `since` of tables and columns.
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
