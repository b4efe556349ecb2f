// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Decides which names WatermelonDB accepts (reference: its `tableName`, `columnName` and `validateColumnSchema`).
enum Names {
    private static let reserved: Set<String> = ["id", "_changed", "_status", "local_storage", "$loki", "rowid", "oid"]
    /// The properties that every JavaScript object has; the client skips or misreads tables and columns of these names.
    private static let inherited: Set<String> = [
        "constructor", "hasownproperty", "isprototypeof", "propertyisenumerable", "tolocalestring", "tostring",
        "valueof",
    ]

    /// Returns the defect of a table's name.
    static func defect(ofTable name: String) -> String? {
        guard isIdentifier(name) else {
            return "'\(name)' is no table name: expected letters, digits and '_', not beginning with a digit"
        }
        if isReserved(name) || name.lowercased().hasPrefix("sqlite_") {
            return "'\(name)' is reserved by WatermelonDB and cannot be a table"
        }
        return nil
    }

    /// Returns the defect of a column's name.
    static func defect(ofColumn name: String) -> (message: String, hint: String?)? {
        if name == "id" {
            return (
                "column 'id' cannot be declared", "every table has it; say where it comes from with 'id = …' in [table]"
            )
        }
        guard isIdentifier(name) else {
            return ("'\(name)' is no column name: expected letters, digits and '_', not beginning with a digit", nil)
        }
        return isReserved(name) ? ("'\(name)' is reserved by WatermelonDB and cannot be a column", nil) : nil
    }

    /// Returns the defect of a column's type, given its name.
    static func defect(of column: Column) -> String? {
        let isNumber = column.type == .number || column.type == .timestamp
        switch column.name {
        case "created_at", "updated_at":
            return isNumber && !column.isOptional
                ? nil : "WatermelonDB wants '\(column.name)' to be a number or timestamp without '?'"
        case "last_modified":
            return isNumber ? nil : "WatermelonDB wants 'last_modified' to be a number or timestamp"
        default: return nil
        }
    }

    private static func isReserved(_ name: String) -> Bool {
        let name = name.lowercased()
        return reserved.contains(name) || inherited.contains(name) || name.hasPrefix("__")
    }

    private static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, name.utf8.count <= 100 else { return false }
        return name.unicodeScalars.allSatisfy(\.isWordPart) && !("0"..."9").contains(first)
    }
}
