// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore

/// Writes rows.
extension PostgresStatement {
    /// Returns the statements that make changes, or fail with a division by zero or a violated key.
    static func making(_ changes: RowChanges) -> [PostgresStatement] {
        // In the order of the keys, so that no two transactions wait for each other.
        var statements = changes.expected.sorted { $0.key < $1.key }.compactMap { key, version in
            version == 0 ? nil : expecting(key, version, isWritten: changes.rows[key] != nil)
        }
        for (key, row) in changes.rows.sorted(by: { $0.key < $1.key }) {
            guard let row else {
                statements.append(deleting(key))
                // A lease is kept as long as its principal, unless it is held.
                if key.kind == .principal {
                    statements.append(
                        PostgresStatement(
                            "DELETE FROM lease WHERE owner = $1 AND holder IS NULL", [.integer(key.owner)]))
                }
                continue
            }
            // A row that must not be there has no version: adding it fails if it is.
            statements.append(putting(row, conflict: changes.expected[key] == 0 ? nil : replacing(key.kind)))
        }
        for (key, version) in changes.expected where version == 0 && changes.rows[key] == nil {
            statements.append(expectingNone(key))
        }
        statements += changes.added.map { putting($0, conflict: nil) }
        statements += changes.counted.map {
            putting(
                $0,
                conflict: """
                    version = entry.version + excluded.version, rank = greatest(entry.rank, excluded.rank),
                        data = excluded.data
                    """)
        }
        for (key, amount) in changes.increments.sorted(by: { $0.key < $1.key }) {
            statements.append(
                putting(ByteRow(key: key, number: amount), conflict: "number = entry.number + excluded.number"))
        }
        for (key, floor) in changes.floors.sorted(by: { $0.key < $1.key }) {
            statements.append(
                putting(ByteRow(key: key, number: floor), conflict: "number = greatest(entry.number, excluded.number)"))
        }
        for (number, bytes) in changes.chunks.sorted(by: { $0.key < $1.key }) {
            statements.append(
                PostgresStatement("INSERT INTO chunk (id, data) VALUES ($1, $2)", [.integer(number), .bytes(bytes)]))
        }
        for number in changes.freedChunks {
            statements.append(PostgresStatement("DELETE FROM chunk WHERE id = $1", [.integer(number)]))
        }
        return statements
    }

    /// Locks a row and divides by zero unless it has the version.
    ///
    /// At READ COMMITTED a row that is only compared has to be locked, too: another transaction could change it before
    /// this one commits.
    private static func expecting(_ key: RowKey, _ version: Int64, isWritten: Bool) -> PostgresStatement {
        let lock = isWritten ? "FOR UPDATE" : "FOR SHARE"
        let (condition, parameters) = condition(of: key)
        return PostgresStatement(
            """
            WITH found AS (SELECT 1 FROM \(table(of: key.kind)) WHERE \(condition) AND version = $3 \(lock))
            SELECT 1 / count(*) FROM found
            """, parameters + [.integer(version)])
    }

    private static func expectingNone(_ key: RowKey) -> PostgresStatement {
        let (condition, parameters) = condition(of: key)
        return PostgresStatement(
            "SELECT 1 / (1 - count(*)) FROM \(table(of: key.kind)) WHERE \(condition)", parameters)
    }

    private static func deleting(_ key: RowKey) -> PostgresStatement {
        let (condition, parameters) = condition(of: key)
        return PostgresStatement("DELETE FROM \(table(of: key.kind)) WHERE \(condition)", parameters)
    }

    private static func table(of kind: RowKind) -> String {
        switch kind {
        case .principal: "principal"
        case .replica: "replica"
        case .cursor: "cursor"
        default: "entry"
        }
    }

    /// Returns a condition with two parameters.
    private static func condition(of key: RowKey) -> (String, [PostgresParameter]) {
        switch key.kind {
        case .principal: ("owner = $1 AND $2::bigint IS NULL", [.integer(key.owner), .integer(nil)])
        case .replica: ("owner = $1 AND id = $2", [.integer(key.owner), .integer(key.number)])
        case .cursor: ("owner = $1 AND cursor = $2", [.integer(key.owner), .integer(key.number)])
        default:
            ("owner = $1 AND kind = \(key.kind.rawValue) AND key = $2", [.integer(key.owner), .bytes(key.key)])
        }
    }

    private static func replacing(_ kind: RowKind) -> String {
        switch kind {
        case .principal, .replica: "version = excluded.version, seen = excluded.seen, data = excluded.data"
        case .cursor: "replica = excluded.replica"
        default:
            "version = excluded.version, number = excluded.number, rank = excluded.rank, data = excluded.data"
        }
    }

    private static func putting(_ row: ByteRow, conflict: String?) -> PostgresStatement {
        let (key, owner) = (row.key, PostgresParameter.integer(row.key.owner))
        let rest = conflict.map { "ON CONFLICT (\(keyColumns(of: key.kind))) DO UPDATE SET \($0)" } ?? ""
        switch key.kind {
        case .principal:
            return PostgresStatement(
                "INSERT INTO principal (owner, version, seen, data) VALUES ($1, $2, $3, $4) \(rest)",
                [owner, .integer(row.version), .integer(row.rank), .bytes(row.bytes)])
        case .replica:
            return PostgresStatement(
                "INSERT INTO replica (owner, id, version, seen, data) VALUES ($1, $2, $3, $4, $5) \(rest)",
                [owner, .integer(row.number), .integer(row.version), .integer(row.rank), .bytes(row.bytes)])
        case .cursor:
            return PostgresStatement(
                "INSERT INTO cursor (owner, cursor, replica) VALUES ($1, $2, $3) \(rest)",
                [owner, .integer(row.number), .integer(row.rank)])
        default:
            return PostgresStatement(
                """
                INSERT INTO entry (owner, kind, key, version, number, rank, data)
                VALUES ($1, \(key.kind.rawValue), $2, $3, $4, $5, $6) \(rest)
                """,
                [
                    owner, .bytes(key.key), .integer(row.version), .integer(row.number), .integer(row.rank),
                    .bytes(row.bytes),
                ])
        }
    }

    private static func keyColumns(of kind: RowKind) -> String {
        switch kind {
        case .principal: "owner"
        case .replica: "owner, id"
        case .cursor: "owner, cursor"
        default: "owner, kind, key"
        }
    }
}
