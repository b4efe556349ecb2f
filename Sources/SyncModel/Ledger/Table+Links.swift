// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A column by which records of a table are found when a record of another table, or a delete line, deletes them.
package struct TableLink: Hashable, Sendable {
    /// The column's index in the table.
    package var column: Int
    /// The tables whose deleted records delete these too; empty if only delete lines name the column.
    package var parents: [String]
    /// Creates a link.
    package init(column: Int, parents: [String]) {
        self.column = column
        self.parents = parents
    }
}

extension Table {
    /// The columns of which the ledger keeps a digest: those of `parent`, then those of `delete = … where`, each once.
    package var links: [TableLink] {
        var links: [TableLink] = []
        func index(_ name: String) -> Int? { columns.firstIndex { $0.name == name } }
        for parent in parents {
            guard let column = index(parent.column) else { continue }
            if let known = links.firstIndex(where: { $0.column == column }) {
                links[known].parents.append(parent.table)
            } else {
                links.append(TableLink(column: column, parents: [parent.table]))
            }
        }
        for rule in deletes {
            guard case .whereColumn(let name, _) = rule.target, let column = index(name) else { continue }
            if !links.contains(where: { $0.column == column }) { links.append(TableLink(column: column, parents: [])) }
        }
        return links
    }
}
