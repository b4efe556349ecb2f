// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore

/// Writes rows.
extension Database {
    /// Makes changes if what they are based on is there.
    func make(_ changes: RowChanges) throws -> CommitOutcome {
        for (key, version) in changes.expected where try self.version(of: key) != version { return .refused }
        for (key, version) in changes.expected
        where version == 0 && key.kind == .replica && changes.rows[key] != nil {
            guard try rows(of: .named(.replica, key.number)).isEmpty else { return .refused }
        }
        for row in changes.added where try self.row(row.key) != nil { return .refused }
        for (key, row) in changes.rows {
            if let row { try put(row) } else { try delete(key) }
        }
        for row in changes.added { try put(row) }
        for row in changes.counted { try put(row, conflict: Self.counting) }
        for (key, amount) in changes.increments {
            try put(ByteRow(key: key, number: amount), conflict: "number = number + excluded.number")
        }
        for (key, floor) in changes.floors {
            try put(ByteRow(key: key, number: floor), conflict: "number = max(number, excluded.number)")
        }
        for (number, bytes) in changes.chunks {
            try run("INSERT INTO chunk (id, data) VALUES (?1, ?2)", values: [.integer(number), .bytes(bytes)])
        }
        for number in changes.freedChunks {
            try run("DELETE FROM chunk WHERE id = ?1", values: [.integer(number)])
        }
        return .made
    }

    private static let counting =
        "version = version + excluded.version, rank = max(rank, excluded.rank), data = excluded.data"
    private static let replacing =
        "version = excluded.version, number = excluded.number, rank = excluded.rank, data = excluded.data"

    private func version(of key: RowKey) throws -> Int64 {
        var version: Int64 = 0
        switch key.kind {
        case .principal:
            try query("SELECT version FROM principal WHERE id = ?1", [.integer(key.owner)]) {
                version = try $0.integer(0)
            }
        case .replica:
            let values: [SQLValue] = [.integer(key.number), .integer(key.owner)]
            try query("SELECT version FROM replica WHERE id = ?1 AND owner = ?2", values) {
                version = try $0.integer(0)
            }
        default:
            let values: [SQLValue] = [.integer(key.owner), .bytes(key.key)]
            try query(
                "SELECT version FROM entry WHERE owner = ?1 AND kind = \(key.kind.rawValue) AND key = ?2", values
            ) { version = try $0.integer(0) }
        }
        return version
    }

    func put(_ row: ByteRow) throws { try put(row, conflict: Self.replacing) }

    private func put(_ row: ByteRow, conflict: String) throws {
        let key = row.key
        switch key.kind {
        case .principal:
            try run(
                """
                INSERT INTO principal (id, version, seen, data) VALUES (?1, ?2, ?3, ?4)
                    ON CONFLICT (id) DO UPDATE SET version = ?2, seen = ?3, data = ?4
                """, values: [.integer(key.owner), .integer(row.version), .integer(row.rank), .bytes(row.bytes)])
        case .replica:
            // SQLite rewrites the index of a column that is set, whether or not its value is another one.
            let isSame = try run(
                "UPDATE replica SET version = ?2, data = ?4 WHERE id = ?1 AND owner = ?5 AND seen = ?3",
                values: [
                    .integer(row.number), .integer(row.version), .integer(row.rank), .bytes(row.bytes),
                    .integer(key.owner),
                ])
            guard isSame == 0 else { return }
            try run(
                """
                INSERT INTO replica (id, owner, version, seen, data) VALUES (?1, ?2, ?3, ?4, ?5)
                    ON CONFLICT (id) DO UPDATE SET version = ?3, seen = ?4, data = ?5
                """,
                values: [
                    .integer(row.number), .integer(key.owner), .integer(row.version), .integer(row.rank),
                    .bytes(row.bytes),
                ])
        case .cursor:
            try run(
                """
                INSERT INTO cursor (cursor, owner, replica) VALUES (?1, ?2, ?3)
                    ON CONFLICT (cursor, owner) DO UPDATE SET replica = ?3
                """,
                values: [.integer(row.number), .integer(key.owner), .integer(row.rank)])
        default:
            try run(
                """
                INSERT INTO entry (owner, kind, key, version, number, rank, data)
                    VALUES (?1, \(key.kind.rawValue), ?2, ?3, ?4, ?5, ?6)
                    ON CONFLICT (owner, kind, key) DO UPDATE SET \(conflict)
                """,
                values: [
                    .integer(key.owner), .bytes(key.key), .integer(row.version), .integer(row.number),
                    .integer(row.rank), .bytes(row.bytes),
                ])
        }
    }

    private func delete(_ key: RowKey) throws {
        switch key.kind {
        case .principal: try run("DELETE FROM principal WHERE id = ?1", values: [.integer(key.owner)])
        case .replica:
            try run(
                "DELETE FROM replica WHERE id = ?1 AND owner = ?2", values: [.integer(key.number), .integer(key.owner)])
        case .cursor:
            try run(
                "DELETE FROM cursor WHERE cursor = ?1 AND owner = ?2",
                values: [.integer(key.number), .integer(key.owner)])
        default:
            try run(
                "DELETE FROM entry WHERE owner = ?1 AND kind = \(key.kind.rawValue) AND key = ?2",
                values: [.integer(key.owner), .bytes(key.key)])
        }
    }
}
