// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore

/// The ways in which a row is put where one is.
package enum RowConflict: Int, CaseIterable, Sendable {
    /// Fails.
    case refuse
    /// It takes the other's place.
    case replace
    /// The other keeps its number, and gets the sum of the versions, the greater rank, and the new bytes.
    case count
    /// Its number is added to the other's.
    case add
    /// The other gets the greater number.
    case raise
}

/// The texts of the statements about one row of a kind, which are made once.
struct RowTexts: Sendable {
    let reading, version, deletion: String
    /// The texts that put a row, by the conflict's number.
    let putting: [String]

    private static let all = Dictionary(uniqueKeysWithValues: RowKind.allCases.map { ($0, RowTexts($0)) })
    /// Reads the head that a cursor names.
    static let replicaOfCursor = """
        \(RowKind.replica.selection) AND owner = $1
            AND number = (SELECT rank FROM cursor WHERE owner = $1 AND number = $2)
        """

    static func of(_ kind: RowKind) -> Self { all[kind, default: Self(kind)] }

    private init(_ kind: RowKind) {
        let (table, condition) = (kind.table, kind.condition)
        reading = "\(table.selection) WHERE \(condition)"
        version = "SELECT version FROM \(table.rawValue) WHERE \(condition)"
        deletion = "DELETE FROM \(table.rawValue) WHERE \(condition)"
        putting = RowConflict.allCases.map { conflict in
            let change = Self.change(conflict, in: table)
            let rest = change.map { " ON CONFLICT (\(table.key)) DO UPDATE SET \($0)" } ?? ""
            return Self.insertion(of: kind) + rest
        }
    }

    private static func insertion(of kind: RowKind) -> String {
        switch kind.table {
        case .principal: "INSERT INTO principal (owner, version, rank, data) VALUES ($1, $2, $3, $4)"
        case .replica: "INSERT INTO replica (owner, number, version, rank, data) VALUES ($1, $2, $3, $4, $5)"
        case .cursor: "INSERT INTO cursor (owner, number, rank) VALUES ($1, $2, $3)"
        case .chunk: "INSERT INTO chunk (number, data) VALUES ($1, $2)"
        case .entry:
            """
            INSERT INTO entry (owner, kind, key, version, number, rank, data)
            VALUES ($1, \(kind.rawValue), $2, $3, $4, $5, $6)
            """
        }
    }

    private static func change(_ conflict: RowConflict, in table: ByteTableName) -> String? {
        switch (conflict, table) {
        case (.refuse, _): nil
        case (.replace, .principal), (.replace, .replica):
            "version = excluded.version, rank = excluded.rank, data = excluded.data"
        case (.replace, .cursor): "rank = excluded.rank"
        case (.replace, .entry):
            "version = excluded.version, number = excluded.number, rank = excluded.rank, data = excluded.data"
        case (.replace, .chunk): "data = excluded.data"
        case (.count, _):
            """
            version = entry.version + excluded.version, data = excluded.data,
                rank = CASE WHEN entry.rank > excluded.rank THEN entry.rank ELSE excluded.rank END
            """
        case (.add, _): "number = entry.number + excluded.number"
        case (.raise, _):
            "number = CASE WHEN entry.number > excluded.number THEN entry.number ELSE excluded.number END"
        }
    }
}

extension ByteTableName {
    /// Selects the columns that ``ByteRow/init(_:)`` reads: owner, kind, key, version, number, rank, data.
    var selection: String {
        switch self {
        case .principal: "SELECT owner, 1, NULL, version, 0, rank, data FROM principal"
        case .replica: "SELECT owner, 2, NULL, version, number, rank, data FROM replica"
        case .cursor: "SELECT owner, 3, NULL, 0, number, rank, NULL FROM cursor"
        case .entry: "SELECT owner, kind, key, version, number, rank, data FROM entry"
        case .chunk: "SELECT 0, 22, NULL, 0, number, 0, data FROM chunk"
        }
    }

    var key: String {
        switch self {
        case .principal: "owner"
        case .replica, .cursor: "owner, number"
        case .entry: "owner, kind, key"
        case .chunk: "number"
        }
    }
}

extension RowKind {
    /// Selects all rows of the kind; ends with a condition.
    var selection: String {
        table == .entry ? "\(table.selection) WHERE kind = \(rawValue)" : "\(table.selection) WHERE true"
    }

    /// The condition for the row under a key, whose ``RowKey/values`` it has as its first parameters.
    package var condition: String {
        switch table {
        case .principal: "owner = $1"
        case .replica, .cursor: "owner = $1 AND number = $2"
        case .entry: "kind = \(rawValue) AND owner = $1 AND key = $2"
        case .chunk: "number = $1"
        }
    }
}
