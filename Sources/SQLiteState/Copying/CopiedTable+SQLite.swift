// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore

/// The statements by which a table of a file is copied.
///
/// Rows that belong to a principal are found by its digest: SQLite walks through the principals by the index of their
/// digests, and through the rows of each by the table's own key.
struct SQLiteCopyForm {
    /// The table's name in a file.
    let table: String
    /// The expression that is read for each column.
    let columns: [String]
    let from: String
    let keyCount: Int
    /// True if the first column of the key is the digest of a principal, and the others belong to another table.
    let isByPrincipal: Bool
    let condition: String?
    let insert: String

    /// Returns the statement that reads a page of rows, in the order of the key.
    func select(after: Bool, limit: Int) -> String {
        let keys = columns.prefix(keyCount)
        var conditions = condition.map { [$0] } ?? []
        if after, isByPrincipal, let owner = keys.first {
            let rest = keys.dropFirst()
            let parameters = (2...keyCount).map { "?\($0)" }.joined(separator: ", ")
            // The first condition is what an index can use.
            conditions.append("\(owner) >= ?1")
            conditions.append("(\(owner) > ?1 OR (\(rest.joined(separator: ", "))) > (\(parameters)))")
        } else if after {
            let parameters = (1...keyCount).map { "?\($0)" }.joined(separator: ", ")
            conditions.append("(\(keys.joined(separator: ", "))) > (\(parameters))")
        }
        let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        return """
            SELECT \(columns.joined(separator: ", ")) FROM \(from) \(filter)
            ORDER BY \(keys.joined(separator: ", ")) LIMIT \(limit)
            """
    }

    /// The statement that reads the greatest key.
    var selectLast: String {
        let keys = columns.prefix(keyCount)
        let filter = condition.map { "WHERE \($0)" } ?? ""
        return """
            SELECT \(keys.joined(separator: ", ")) FROM \(from) \(filter)
            ORDER BY \(keys.map { $0 + " DESC" }.joined(separator: ", ")) LIMIT 1
            """
    }
}

extension CopiedTable {
    /// The condition on the entries of `meta` that are copied.
    static let isCopiedEntry = "key NOT IN (\(ownEntries.map { "'\($0)'" }.joined(separator: ", ")))"

    /// The way in which the table is stored in a file.
    var sqliteForm: SQLiteCopyForm {
        let name = self == .receipt ? "push" : rawValue
        let isByPrincipal = keyCount > 1 && columns.first == .text("principal")
        return SQLiteCopyForm(
            table: name, columns: columns.map(sqliteColumn), from: sqliteSource(name), keyCount: keyCount,
            isByPrincipal: isByPrincipal, condition: self == .meta ? Self.isCopiedEntry : nil,
            insert: sqliteInsert(name))
    }

    private func sqliteSource(_ name: String) -> String {
        switch self {
        // The order of the loops is that of the keys.
        case .cursor:
            """
            principal p CROSS JOIN cursor t ON t.principal = p.id JOIN vector v ON v.id = t.vector
            JOIN session s ON s.id = t.session LEFT JOIN sweep_states w ON w.id = t.sweeps
            """
        case .session, .receipt, .pushNote, .idMap, .pushRefusal:
            "principal p CROSS JOIN \(name) t ON t.principal = p.id"
        case .replica, .pushJournal, .pushQuarantine: "\(name) t CROSS JOIN principal p ON p.id = t.principal"
        case .layer: "layer t LEFT JOIN replica r ON r.id = t.replica LEFT JOIN principal p ON p.id = r.principal"
        case .owed, .deviceTrouble:
            "\(name) t CROSS JOIN replica r ON r.id = t.replica CROSS JOIN principal p ON p.id = r.principal"
        case .principal, .meta, .layerCount, .chunk, .pushFlight, .quarantine: "\(name) t"
        }
    }

    private func sqliteColumn(_ column: Column) -> String {
        switch (self, column.name) {
        case (.principal, "principal"): "t.digest"
        case (.quarantine, "principal"): "t.principal"
        case (_, "principal"): "p.digest"
        case (.session, "session"): "t.digest"
        case (.receipt, "number"): "t.id"
        case (.replica, "compacted"): "t.folded"
        case (.replica, "compact_after"): "t.fold_after"
        case (.cursor, "vector"): "v.tokens"
        case (.cursor, "session"): "s.digest"
        case (.cursor, "comparisons"): "coalesce(w.states, x'')"
        case (.cursor, "kept"): "coalesce(t.kept, x'')"
        default: "t.\(column.name)"
        }
    }

    /// Returns the statement that inserts a row; its parameters are the columns in their order, and the digests of what
    /// is stored once for many cursors.
    private func sqliteInsert(_ name: String) -> String {
        var (names, values): ([String], [String]) = ([], [])
        for (number, column) in zip(1..., columns) {
            guard let stored = storedColumn(column, "?\(number)") else { continue }
            names.append(stored.name)
            values.append(stored.value)
        }
        let start = self == .meta ? "INSERT OR REPLACE INTO" : "INSERT INTO"
        return "\(start) \(name) (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
    }

    /// Returns the column of a file in which a value is stored, and the value; nil if a file has it elsewhere.
    private func storedColumn(_ column: Column, _ value: String) -> (name: String, value: String)? {
        switch (self, column.name) {
        case (.principal, "principal"), (.session, "session"): ("digest", value)
        case (.quarantine, "principal"): ("principal", value)
        case (.layer, "principal"), (.owed, "principal"), (.deviceTrouble, "principal"): nil
        case (_, "principal"): ("principal", "(SELECT id FROM principal WHERE digest = \(value))")
        case (.receipt, "number"): ("id", value)
        case (.replica, "compacted"): ("folded", value)
        case (.replica, "compact_after"): ("fold_after", value)
        case (.cursor, "vector"): ("vector", "(SELECT id FROM vector WHERE digest = \(value))")
        case (.cursor, "session"):
            (
                "session",
                "(SELECT s.id FROM session s JOIN principal p ON p.id = s.principal WHERE p.digest = ?1 AND s.digest = \(value))"
            )
        case (.cursor, "comparisons"): ("sweeps", "(SELECT id FROM sweep_states WHERE digest = \(value))")
        case (.cursor, "kept"): ("kept", "nullif(\(value), x'')")
        default: (column.name, value)
        }
    }
}
