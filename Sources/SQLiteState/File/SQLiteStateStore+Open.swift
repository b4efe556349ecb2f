// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import GRDB
package import StateProbes
package import StateStore

extension SQLiteStateStore {
    /// `Rind` in ASCII, at byte 68 of every state file (https://www.sqlite.org/pragma.html#pragma_application_id).
    package static let applicationID: Int64 = 0x5269_6E64

    /// The options for opening a file.
    package struct Options: Sendable {
        /// The limits on what the store keeps and how often it writes.
        package var limits = StateLimits()
        /// The longest wait for another process that has locked the file, such as a backup.
        package var busyTimeout: Duration = .seconds(5)
        /// The largest size of the file, in pages of 4 KiB; nil for no limit but the disk's.
        ///
        /// Above it every write throws ``StateError/full``.
        package var maximumPages: Int?
        /// The number of reads that may run at the same time.
        package var readers = 4
        /// The number of small reads that may run in their callers' threads at the same time.
        package var readersAtHand = ReadersAtHand.defaultCount
        /// Receives every statement before it runs, without its values; for tests and for diagnosing a slow state.
        package var trace: (@Sendable (String) -> Void)?
        /// Receives each fault of the open state once, and its end; called on the state's own threads.
        package var report: (@Sendable (StateEvent) -> Void)?
        /// The steps of the schema; only tests use others.
        package var migrations = SchemaMigration.sqlite
        /// True if a state may be opened into which another one is being copied.
        var takesUnfinished = false

        /// Creates the default options.
        package init() {}
    }

    /// Opens the state, creates it if there is none, and brings its schema up to date.
    ///
    /// A file that is not a state of Rind, or has a newer schema, is left untouched. Positions are forgotten: the file
    /// may be older than what the backend has seen, and asking the backend once is cheap (finding 4).
    ///
    /// - Throws: ``StateError``.
    package static func open(path: String, options: Options = Options()) async throws -> SQLiteStateStore {
        try await onQueue {
            let file = try StateFile(resolving: path)
            let lock = try file.lock()
            do {
                let pool = try open(file, options)
                return try SQLiteStateStore(pool: pool, file: file, hold: .lock(lock), options: options)
            } catch {
                StateFile.unlock(lock)
                throw StateError.wrapping(error, path: file.path)
            }
        }
    }

    /// Returns the schema version of a state that may be in use, for `rind check --connect`; nil if there is no state
    /// yet.
    ///
    /// Takes no lock of Rind's, changes nothing, and throws the same errors as ``open(path:options:)``.
    package static func inspect(path: String, options: Options = Options()) async throws -> Int? {
        try await onQueue {
            let file = try StateFile(resolving: path)
            guard file.identity() != nil else { return nil }
            do {
                let version = try version(of: file, options)
                return version == 0 ? nil : version
            } catch {
                throw StateError.wrapping(error, path: file.path)
            }
        }
    }

    static func onQueue<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
        }
    }

    static func open(_ file: StateFile, _ options: Options) throws -> DatabasePool {
        try file.create()
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
                try db.execute(sql: "PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = 8000")
                if let pages = options.maximumPages {
                    _ = try db.row("PRAGMA max_page_count = \(max(1, pages))")
                }
                guard try db.integer("PRAGMA synchronous") == 2 else {
                    throw StateError.failed("SQLite does not take synchronous = FULL")
                }
            }
            try pool.write { try migrate($0, options.migrations) }
            try pool.write(forgetPositions)
            // Each write of a group has a savepoint (`GroupCommit`), whose old pages would go to a temporary file from
            // 64 KiB on. Migrations, which may be of any size, are done by now.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA temp_store = MEMORY") }
        } catch {
            try? pool.close()
            throw error
        }
        return pool
    }

    static func configuration(_ options: Options) -> Configuration {
        var configuration = Configuration()
        let timeout = options.busyTimeout.components
        configuration.busyMode = .timeout(Double(timeout.seconds) + Double(timeout.attoseconds) * 1e-18)
        configuration.maximumReaderCount = max(1, options.readers)
        configuration.foreignKeysEnabled = true
        configuration.label = "state"
        configuration.prepareDatabase { db in
            // The schema of a file is not trusted to call functions; broken pages are found when they are read.
            try db.execute(sql: "PRAGMA trusted_schema = OFF")
            try db.execute(sql: "PRAGMA cell_size_check = ON")
            if let trace = options.trace {
                db.trace { event in
                    if case .statement(let statement) = event { trace(statement.sql) }
                }
            }
        }
        return configuration
    }

    /// Returns the schema version of a file; 0 for a new, empty one.
    static func version(of file: StateFile, _ options: Options) throws -> Int {
        // SQLite takes a file of less than a page for an empty database, and would overwrite it.
        if let size = file.size(), (1..<512).contains(size) { throw StateError.notRind(path: file.path) }
        let queue = try DatabaseQueue(path: file.path, configuration: configuration(options))
        defer { try? queue.close() }
        let (application, version, tables, isUnfinished) = try queue.read { db in
            try (
                db.integer("PRAGMA application_id") ?? 0, Int(db.integer("PRAGMA user_version") ?? 0),
                db.integer("SELECT count(*) FROM sqlite_master") ?? 0,
                db.exists("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'")
                    && db.exists("SELECT 1 FROM meta WHERE key = '\(CopiedTable.unfinishedMark)'")
            )
        }
        if application == 0, version == 0, tables == 0 { return 0 }
        guard application == applicationID, version > 0 else { throw StateError.notRind(path: file.path) }
        guard options.takesUnfinished || !isUnfinished else { throw StateError.copying(path: file.path) }
        let known = options.migrations.last?.number ?? 0
        guard version <= known else { throw StateError.schemaNewer(found: version, known: known) }
        return version
    }

    private static func migrate(_ db: Database, _ migrations: [SchemaMigration]) throws {
        let version = Int(try db.integer("PRAGMA user_version") ?? 0)
        let due = migrations.filter { $0.number > version }
        for migration in due { try db.execute(sql: migration.sql) }
        if let newest = due.last {
            guard try !db.exists("PRAGMA foreign_key_check") else {
                throw StateError.failed("migration \(newest.number) leaves rows that name others which are not there")
            }
            try db.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(newest.number)")
        }
        for table in migrations.flatMap(\.tables) {
            guard try db.tableExists(table) else { throw StateError.corrupt("the table '\(table)' is missing") }
        }
    }

    /// Forgets the position of each session, and the vectors that were stored only for positions.
    static func forgetPositions(_ db: Database) throws {
        let vectors = try db.rows("SELECT DISTINCT position FROM session WHERE position IS NOT NULL")
            .map { try $0.integer(0) }
        guard !vectors.isEmpty else { return }
        try db.run("UPDATE session SET position = NULL WHERE position IS NOT NULL")
        for vector in vectors { try db.dropVectorIfUnused(vector) }
    }
}
