// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore

extension SQLiteBytes {
    /// Opens the state for a gateway, and creates it if there is none.
    ///
    /// A file that is not a state of Rind, or is of another form, is left untouched.
    ///
    /// - Throws: ``StateError``.
    package static func open(
        path: String, options: SQLiteStateStore.Options = SQLiteStateStore.Options()
    ) async throws -> SQLiteBytes {
        try await SQLiteStateStore.onQueue {
            let file = try StateFile(resolving: path)
            let lock = try file.lock()
            do {
                let pool = try open(file, options)
                return try SQLiteBytes(pool: pool, file: file, hold: .lock(lock), options: options)
            } catch {
                StateFile.unlock(lock)
                throw StateError.wrapping(error, path: file.path)
            }
        }
    }

    private static func open(_ file: StateFile, _ options: SQLiteStateStore.Options) throws -> DatabasePool {
        try file.create()
        // Before anything is written: GRDB would turn any database into one with a write-ahead log.
        _ = try version(of: file, options)
        try file.restrict()
        let pool = try DatabasePool(path: file.path, configuration: SQLiteStateStore.configuration(options))
        do {
            try pool.writeWithoutTransaction { db in
                // A cursor that a client has seen must survive a power loss: if it were forgotten, its number could be
                // given to another place in the stream, and the client's next pull would go on from there. So every
                // commit waits for the disk; by default, GRDB does not wait with a write-ahead log.
                try db.execute(sql: "PRAGMA synchronous = FULL")
                // The ledger of a large first sync (25 MB for a million records) goes into the log as a whole: moving
                // it into the file in steps of 4 MB, SQLite's default, takes five times as long.
                try db.execute(sql: "PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = 8000")
                if let pages = options.maximumPages {
                    _ = try db.row("PRAGMA max_page_count = \(max(1, pages))")
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

    private static func create(_ db: Database) throws {
        if try db.integer("PRAGMA user_version") == 0 {
            try db.execute(sql: BytesSchema.sql)
            try db.execute(
                sql: """
                    PRAGMA application_id = \(SQLiteStateStore.applicationID);
                    PRAGMA user_version = \(BytesSchema.version)
                    """)
        }
        for table in BytesSchema.tables {
            guard try db.tableExists(table) else { throw StateError.corrupt("the table '\(table)' is missing") }
        }
    }

    /// Returns the schema version of a file; 0 for a new, empty one.
    static func version(of file: StateFile, _ options: SQLiteStateStore.Options) throws -> Int {
        // SQLite takes a file of less than a page for an empty database, and would overwrite it.
        if let size = file.size(), (1..<512).contains(size) { throw StateError.notRind(path: file.path) }
        let queue = try DatabaseQueue(path: file.path, configuration: SQLiteStateStore.configuration(options))
        defer { try? queue.close() }
        let (application, version, tables) = try queue.read { db in
            try (
                db.integer("PRAGMA application_id") ?? 0, Int(db.integer("PRAGMA user_version") ?? 0),
                db.integer("SELECT count(*) FROM sqlite_master") ?? 0
            )
        }
        if application == 0, version == 0, tables == 0 { return 0 }
        guard application == SQLiteStateStore.applicationID, version > 0 else {
            throw StateError.notRind(path: file.path)
        }
        let known = BytesSchema.version
        guard version <= known else { throw StateError.schemaNewer(found: version, known: known) }
        guard version == known else { throw StateError.schemaOlder(found: version, known: known) }
        return version
    }
}
