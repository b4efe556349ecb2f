// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A column by which records of a table are found when something else is deleted.
package struct TableLink: Hashable, Sendable {
    /// The column's place in the table.
    package var column: Int
    /// The tables whose deleted records take these along; empty where only delete lines name the column.
    package var parents: [String]
    /// A link.
    package init(column: Int, parents: [String]) {
        self.column = column
        self.parents = parents
    }
}

extension Table {
    /// The columns that the ledger keeps a digest of: those of `parent`, then those of `delete = … where`, each once.
    package var links: [TableLink] {
        var links: [TableLink] = []
        func place(_ name: String) -> Int? { columns.firstIndex { $0.name == name } }
        for parent in parents {
            guard let column = place(parent.column) else { continue }
            if let known = links.firstIndex(where: { $0.column == column }) {
                links[known].parents.append(parent.table)
            } else {
                links.append(TableLink(column: column, parents: [parent.table]))
            }
        }
        for rule in deletes {
            guard case .whereColumn(let name, _) = rule.target, let column = place(name) else { continue }
            if !links.contains(where: { $0.column == column }) { links.append(TableLink(column: column, parents: [])) }
        }
        return links
    }
}
