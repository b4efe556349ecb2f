// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import GRDB
import StateStore

extension SQLiteBytes {
    /// `Rind` in ASCII, at byte 68 of every state file (https://www.sqlite.org/pragma.html#pragma_application_id).
    package static let applicationID: Int64 = 0x5269_6E64

    /// Opens the state for a gateway, and creates it if there is none.
    ///
    /// A file that is not a state of Rind, or is of another form, is left untouched.
    package static func open(
        path: String, options: SQLiteStateStore.Options = SQLiteStateStore.Options()
    ) async throws -> SQLiteBytes {
        try await onQueue(path) { file in
            let lock = try file.lock()
            do {
                return try SQLiteBytes(pool: open(file, options), file: file, hold: .lock(lock), options: options)
            } catch {
                StateFile.unlock(lock)
                throw error
            }
        }
    }

    private static func open(_ file: StateFile, _ options: SQLiteStateStore.Options) throws -> DatabasePool {
        try file.create()
        try file.checkNames()
        // Before anything is written: GRDB would turn any database into one with a write-ahead log.
        _ = try version(of: file, options)
        try file.restrict()
        let pool = try DatabasePool(path: file.path, configuration: configuration(options))
        do {
            try pool.writeWithoutTransaction { db in
                // A cursor that a client has seen must survive a power loss: if it were forgotten, its number could be
                // given to another place in the stream, and the client's next pull would go on from there. So every
                // commit waits for the disk; by default, GRDB does not wait with a write-ahead log.
                try db.execute(sql: "PRAGMA synchronous = FULL")
                // The ledger of a large first sync (25 MB for a million records) goes into the log as a whole: moving
                // it into the file in steps of 4 MB, SQLite's default, takes five times as long.
                try db.execute(sql: "PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = 16000")
                if let pages = options.maximumPages {
                    try db.execute(sql: "PRAGMA max_page_count = \(max(1, pages))")
                }
                guard try db.integer("PRAGMA synchronous") == 2 else {
                    throw StateError.failed("SQLite does not take synchronous = FULL")
                }
            }
            try pool.write(create)
        } catch {
            try? pool.close()
            throw error
        }
        return pool
    }

    /// Opens a state that a gateway may be using; creates nothing.
    static func openShared(
        path: String, for purpose: SQLiteStateStore.Purpose, options: SQLiteStateStore.Options
    ) async throws -> SQLiteBytes {
        try await onQueue(path) { file in
            guard file.identity != nil else {
                throw StateError.open(path: file.path, reason: "no such file or directory")
            }
            guard try version(of: file, options) > 0 else {
                throw StateError.open(path: file.path, reason: "there is no state in it yet")
            }
            try file.checkNames()
            var configuration = configuration(options)
            configuration.readonly = purpose == .reading
            let pool = try DatabasePool(path: file.path, configuration: configuration)
            // For the same reasons as in the gateway.
            if purpose == .changing {
                try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            }
            return try SQLiteBytes(pool: pool, file: file, hold: .connection, options: options)
        }
    }

    /// Works on a file, on a thread that may block.
    static func onQueue<T: Sendable>(
        _ path: String, _ body: @escaping @Sendable (StateFile) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        let file = try StateFile(resolving: path)
                        do { return try body(file) } catch { throw StateError.wrapping(error, path: file.path) }
                    })
            }
        }
    }

    static func configuration(_ options: SQLiteStateStore.Options) -> Configuration {
        var configuration = Configuration()
        let timeout = options.busyTimeout.components
        configuration.busyMode = .timeout(Double(timeout.seconds) + Double(timeout.attoseconds) * 1e-18)
        configuration.maximumReaderCount = 4
        configuration.label = "state"
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA page_size = \(SQLiteSchema.pageSize)")
            // The schema of a file is not trusted to call functions; broken pages are found when they are read.
            try db.execute(sql: "PRAGMA trusted_schema = OFF")
            try db.execute(sql: "PRAGMA cell_size_check = ON")
            // What was erased is overwritten.
            try db.execute(sql: "PRAGMA secure_delete = ON")
            if let trace = options.trace {
                db.trace { event in
                    if case .statement(let statement) = event { trace(statement.sql) }
                }
            }
        }
        return configuration
    }

    private static func create(_ db: Database) throws {
        if try db.integer("PRAGMA user_version") == 0 {
            try db.execute(sql: SQLiteSchema.sql)
            try db.execute(
                sql: """
                    PRAGMA application_id = \(applicationID);
                    PRAGMA user_version = \(SQLiteSchema.version)
                    """)
        }
        for table in ByteTableName.allCases.map(\.rawValue) {
            guard try db.tableExists(table) else { throw StateError.corrupt("the table '\(table)' is missing") }
        }
    }

    /// Returns the schema version of a file; 0 for a new, empty one.
    static func version(of file: StateFile, _ options: SQLiteStateStore.Options) throws -> Int {
        // SQLite takes a file of less than a page for an empty database, and would overwrite it.
        if let size = file.size, (1..<512).contains(size) { throw StateError.notRind(path: file.path) }
        let queue = try DatabaseQueue(path: file.path, configuration: configuration(options))
        defer { try? queue.close() }
        let (application, version, tables, size) = try queue.read { db in
            try (
                db.integer("PRAGMA application_id") ?? 0, Int(db.integer("PRAGMA user_version") ?? 0),
                db.integer("SELECT count(*) FROM sqlite_master") ?? 0,
                Int((db.integer("PRAGMA page_count") ?? 0) * (db.integer("PRAGMA page_size") ?? 0))
            )
        }
        if application == 0, version == 0, tables == 0 {
            // As after a kill while the log of a new state was moved into the file, if the log is gone.
            guard file.size ?? 0 <= size else { throw StateError.corrupt("it has pages, and no table") }
            return 0
        }
        guard application == applicationID, version > 0 else {
            throw StateError.notRind(path: file.path)
        }
        let known = SQLiteSchema.version
        guard version <= known else { throw StateError.schemaNewer(path: file.path, found: version, known: known) }
        guard version == known else { throw StateError.outdated(path: file.path, found: version) }
        return version
    }
}
