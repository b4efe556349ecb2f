// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import GRDB
import StateStore

extension SQLiteStateStore {
    /// The purpose of a store that is opened beside a gateway's.
    package enum Purpose: Hashable, Sendable {
        /// Reading only: every write throws ``StateError/readOnly``.
        case reading
        /// Reading, and changing single things.
        case changing
    }

    /// Opens a state that a gateway may be using, for the operator's commands.
    ///
    /// Takes no lock of Rind's. That lock keeps out a second gateway, which would not share the first one's session
    /// locks and positions in memory; a single transaction needs only SQLite's own locks, and waits for them up to
    /// `busyTimeout`. Nothing is created, migrated or forgotten here. Each call must be complete in itself: data read
    /// before a call may have changed when it runs.
    ///
    /// - Throws: ``StateError``: `open` also if there is no state yet, ``StateError/schemaOlder(found:known:)`` if no
    ///   gateway of this version has run on it.
    package static func openShared(
        path: String, for purpose: Purpose, options: Options = Options()
    ) async throws -> SQLiteStateStore {
        try await onQueue {
            let file = try StateFile(resolving: path)
            guard file.identity() != nil else {
                throw StateError.open(path: file.path, reason: "no such file or directory")
            }
            do {
                try checkVersion(of: file, options)
                let pool = try openShared(file, for: purpose, options: options)
                return try SQLiteStateStore(pool: pool, file: file, hold: .connection, options: options)
            } catch {
                throw StateError.wrapping(error, path: file.path)
            }
        }
    }

    static func checkVersion(of file: StateFile, _ options: Options) throws {
        let version = try version(of: file, options)
        guard version > 0 else { throw StateError.open(path: file.path, reason: "there is no state in it yet") }
        let known = options.migrations.last?.number ?? 0
        guard version == known else { throw StateError.schemaOlder(found: version, known: known) }
    }

    private static func openShared(_ file: StateFile, for purpose: Purpose, options: Options) throws -> DatabasePool {
        var configuration = configuration(options)
        configuration.readonly = purpose == .reading
        let pool = try DatabasePool(path: file.path, configuration: configuration)
        guard purpose == .changing else { return pool }
        do {
            // For the same reasons as in the gateway.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        } catch {
            try? pool.close()
            throw error
        }
        return pool
    }
}
