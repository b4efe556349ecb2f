// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateSQL
import StateStore

/// Reads and writes rows, and runs transactions.
extension Database {
    /// Runs one transaction and commits it; any error rolls it back.
    func commit<T>(_ body: () throws -> T) throws -> T {
        // GRDB's own transactions compile these two each time.
        try step("BEGIN IMMEDIATE")
        do {
            let value = try body()
            try step("COMMIT")
            return value
        } catch {
            try? rollback()
            throw error
        }
    }

    /// Runs what writes, and does not wait for the disk.
    func withoutWaiting<T>(_ body: () throws -> T) throws -> T {
        try execute(sql: "PRAGMA synchronous = NORMAL")
        defer {
            let isRestored = (try? execute(sql: "PRAGMA synchronous = FULL")) != nil
            precondition(isRestored, "a state that cannot promise durability must not go on")
        }
        return try body()
    }

    func rows(_ statements: [RowStatement]) throws -> [ByteRow] {
        var rows: [ByteRow] = []
        for statement in statements { try query(statement) { rows.append(try ByteRow($0)) } }
        return rows
    }

    func chunk(_ number: Int64) throws -> [UInt8]? {
        var bytes: [UInt8]?
        try query(.chunk(number)) { bytes = try $0.optionalBytes(0) }
        return bytes
    }

    /// Makes changes if what they are based on is there.
    func make(_ changes: RowChanges) throws -> CommitOutcome {
        for (key, version) in changes.expected where try self.version(of: key) != version { return .refused }
        for (key, version) in changes.expected
        where version == 0 && key.kind == .replica && changes.rows[key] != nil {
            guard try rows(RowStatement.reading(.named(.replica, Int64(keyBytes: key.key)))).isEmpty else {
                return .refused
            }
        }
        for row in changes.added where try !rows(RowStatement.reading(.row(row.key))).isEmpty { return .refused }
        guard try add(changes.chunks) else { return .refused }
        for (key, row) in changes.rows {
            if let row { try put(row) } else { try run(.deleting(key)) }
        }
        for row in changes.added { try put(row) }
        for row in changes.counted { try run(.putting(row, .count)) }
        for (key, amount) in changes.increments { try run(.putting(ByteRow(key: key, number: amount), .add)) }
        for (key, floor) in changes.floors { try run(.putting(ByteRow(key: key, number: floor), .raise)) }
        for number in changes.freedChunks { try run(.deleting(chunk: number)) }
        return .made
    }

    /// Adds chunks; adds none and returns false if a number is taken.
    private func add(_ chunks: [Int64: [UInt8]]) throws -> Bool {
        // In their order, so that they fill the pages that lead to them.
        let numbers = chunks.keys.sorted()
        for (index, number) in numbers.enumerated() {
            let adding = RowStatement.adding(chunk: number, chunks[number] ?? [])
            if try run(RowStatement(adding.sql + " ON CONFLICT DO NOTHING", adding.values)) > 0 { continue }
            for added in numbers[..<index] { try run(.deleting(chunk: added)) }
            return false
        }
        return true
    }

    private func version(of key: RowKey) throws -> Int64 {
        var version: Int64 = 0
        try query(.version(of: key)) { version = try $0.integer(0) }
        return version
    }

    private func put(_ row: ByteRow) throws {
        let statement = RowStatement.putting(row, .replace)
        if row.key.kind == .replica {
            // SQLite rewrites the index of a column that is set, whether or not its value is another one.
            let update = "UPDATE replica SET version = ?3, data = ?5 WHERE owner = ?1 AND number = ?2 AND rank = ?4"
            guard try run(RowStatement(update, statement.values)) == 0 else { return }
            // Only PostgreSQL has an index of owners and numbers in which a conflict could be.
            try run(.deleting(row.key))
            try run(.putting(row, .refuse))
        } else {
            try run(statement)
        }
    }
}
