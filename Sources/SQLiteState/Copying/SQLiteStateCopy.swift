// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import NIOConcurrencyHelpers
package import StateStore

/// A state in a file that is copied, or that another one is copied into, under the lock of a gateway.
package final class SQLiteStateCopy: CopyTarget {
    /// The path of the file: absolute, without symbolic links.
    package let location: String
    private let queue: DatabaseQueue
    /// The descriptor of the lock; nil once it is released.
    private let lock: NIOLockedValueBox<CInt?>

    private init(queue: DatabaseQueue, file: StateFile, lock: CInt) {
        self.queue = queue
        self.lock = NIOLockedValueBox(lock)
        location = file.path
    }

    deinit { unlock() }

    private func unlock() {
        if let lock = lock.withLockedValue({ $0.take() }) { StateFile.unlock(lock) }
    }

    /// Opens a state that is read; changes nothing, but keeps gateways away.
    ///
    /// - Throws: ``StateError``, `open` also if there is no state.
    package static func openSource(
        path: String, options: SQLiteStateStore.Options = SQLiteStateStore.Options()
    ) async throws -> SQLiteStateCopy {
        try await open(path, options) { file in
            guard file.identity() != nil else {
                throw StateError.open(path: file.path, reason: "no such file or directory")
            }
            try SQLiteStateStore.checkVersion(of: file, options)
        }
    }

    /// Opens a state that is filled; creates it if there is none, and brings its schema up to date.
    ///
    /// - Throws: ``StateError``.
    package static func openTarget(
        path: String, options: SQLiteStateStore.Options = SQLiteStateStore.Options()
    ) async throws -> SQLiteStateCopy {
        var options = options
        options.takesUnfinished = true
        return try await open(path, options) { [options] file in try SQLiteStateStore.open(file, options).close() }
    }

    private static func open(
        _ path: String, _ options: SQLiteStateStore.Options,
        preparing prepare: @escaping @Sendable (StateFile) throws -> Void
    ) async throws -> SQLiteStateCopy {
        try await SQLiteStateStore.onQueue {
            let file = try StateFile(resolving: path)
            let lock = try file.lock()
            do {
                try prepare(file)
                var configuration = SQLiteStateStore.configuration(options)
                // Layers and replicas name each other; all are checked at the end.
                configuration.foreignKeysEnabled = false
                let queue = try DatabaseQueue(path: file.path, configuration: configuration)
                try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
                return SQLiteStateCopy(queue: queue, file: file, lock: lock)
            } catch {
                StateFile.unlock(lock)
                throw StateError.wrapping(error, path: file.path)
            }
        }
    }

    /// Closes the file and releases the lock; a second call does nothing.
    package func close() async {
        try? queue.close()
        unlock()
    }

    private func run<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        let (queue, path) = (queue, location)
        return try await SQLiteStateStore.onQueue {
            do {
                return try queue.writeWithoutTransaction(body)
            } catch {
                throw StateError.wrapping(error, path: path)
            }
        }
    }
}

extension SQLiteStateCopy {
    /// Returns the rows after a key.
    package func rows(of table: CopiedTable, after key: CopiedRow?, limit: Int) async throws -> [CopiedRow] {
        let form = table.sqliteForm
        return try await run { db in
            try db.rows(form.select(after: key != nil, limit: limit), (key ?? []).map(\.argument))
                .map { row in try table.columns.enumerated().map { try $1.value(row, $0) } }
        }
    }

    /// Returns the last number that SQLite has given.
    package func numbers(of table: CopiedTable) async throws -> Int64 {
        guard table.numbered != nil else { return 0 }
        let name = table.sqliteForm.table
        return try await run { db in
            let given = try db.integer("SELECT seq FROM sqlite_sequence WHERE name = ?", [name]) ?? 0
            return max(given, try db.integer("SELECT max(id) FROM \(name)") ?? 0)
        }
    }

    /// Looks for the mark, and for rows.
    package func standing() async throws -> CopyStanding {
        try await run { db in
            if try db.exists("SELECT 1 FROM meta WHERE key = ?", [CopiedTable.unfinishedMark]) { return .unfinished }
            for table in CopiedTable.allCases where table != .meta {
                if try db.exists("SELECT 1 FROM \(table.sqliteForm.table)") { return .inUse }
            }
            return .empty
        }
    }

    /// Adds the mark, and removes what a gateway without devices may have left in `meta`.
    package func mark() async throws {
        try await run { db in
            try db.commit {
                try db.run("DELETE FROM meta WHERE \(CopiedTable.isCopiedEntry)")
                try db.run("INSERT INTO meta (key, value) VALUES (?, 1)", [CopiedTable.unfinishedMark])
            }
        }
    }

    /// Reads the end of the index of the keys.
    package func lastKey(of table: CopiedTable) async throws -> CopiedRow? {
        try await run { db in
            try db.row(table.sqliteForm.selectLast).map { row in
                try table.columns.prefix(table.keyCount).enumerated().map { try $1.value(row, $0) }
            }
        }
    }

    /// Inserts the rows.
    package func add(_ rows: [CopiedRow], to table: CopiedTable) async throws {
        let insert = table.sqliteForm.insert
        try await run { db in
            try db.commit {
                for row in rows {
                    let row = table == .cursor ? try db.share(row) : row
                    try db.run(insert, StatementArguments(row.map(\.argument)))
                    guard db.changesCount == 1 else {
                        throw StateError.corrupt("a row names another that is not there")
                    }
                }
            }
        }
    }

    /// Sets the number after which SQLite goes on, where it keeps one.
    package func setNumbers(of table: CopiedTable, to number: Int64) async throws {
        let name = table.sqliteForm.table
        guard number > 0, [.layer, .pushJournal, .pushQuarantine].contains(table) else { return }
        try await run { db in
            try db.commit {
                try db.run("DELETE FROM sqlite_sequence WHERE name = ?", [name])
                try db.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [name, number])
            }
        }
    }

    /// Checks what SQLite would have checked with each row, and removes the mark.
    package func finish() async throws {
        try await run { db in
            guard try !db.exists("PRAGMA foreign_key_check") else {
                throw StateError.corrupt("a row names another that is not there")
            }
            try db.commit { try db.run("DELETE FROM meta WHERE key = ?", [CopiedTable.unfinishedMark]) }
        }
    }
}

extension Database {
    /// Stores the vector and the comparison states of a cursor once for all cursors that have them.
    ///
    /// - Returns: The row with their digests.
    fileprivate func share(_ row: CopiedRow) throws -> CopiedRow {
        var row = row
        for (column, table, stored) in [("vector", "vector", "tokens"), ("comparisons", "sweep_states", "states")] {
            guard let index = CopiedTable.cursor.columns.firstIndex(of: .bytes(column)),
                case .bytes(let bytes) = row[index]
            else { continue }
            let digest = digest(of: bytes)
            row[index] = .bytes(digest)
            // A cursor without comparison states names none.
            guard column == "vector" || !bytes.isEmpty else { continue }
            try run(
                "INSERT OR IGNORE INTO \(table) (digest, \(stored)) VALUES (?, ?)", [Data(digest), Data(bytes)])
        }
        return row
    }
}

extension CopiedValue {
    /// The value as the parameter of a statement.
    fileprivate var argument: (any DatabaseValueConvertible)? {
        switch self {
        case .null: nil
        case .integer(let number): number
        case .text(let text): text
        case .bytes(let bytes): Data(bytes)
        }
    }
}

extension CopiedTable.Column {
    fileprivate func value(_ row: StoredRow, _ index: Int) throws -> CopiedValue {
        switch self {
        case .integer, .bool: try row.optionalInteger(index).map { .integer($0) } ?? .null
        case .text: try row.optionalText(index).map { .text($0) } ?? .null
        case .bytes: try row.optionalBytes(index).map { .bytes($0) } ?? .null
        }
    }
}
