// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Logging
package import Postgres
package import StateProbes
package import StateStore

extension PostgresStateStore {
    /// The options for opening a state.
    package struct Options: Sendable {
        /// The limits on what the store keeps and how often it writes.
        package var limits = StateLimits()
        /// The schema that holds the tables.
        package var schema = "rind"
        /// The longest time that a call takes, waiting for the database included.
        package var timeout: Duration = .seconds(5)
        /// Receives each fault of the open state once, and its end.
        package var report: (@Sendable (StateEvent) -> Void)?
        /// The steps of the schema; only tests use others.
        package var migrations = PostgresMigration.all
        /// True if a state may be opened into which another one is being copied.
        var takesUnfinished = false
        /// The settings of the connections, except for the schema.
        package var connections: PostgresSettings

        /// Creates the default options for a connection string.
        package init(conninfo: String) { connections = PostgresSettings(conninfo: conninfo) }
    }

    /// The schema that a database has.
    package enum Standing: Hashable, Sendable {
        /// There is no state yet.
        case empty
        /// A schema of this version, which is older than the newest known one.
        case older(Int)
        /// A schema that can be used as it is.
        case usable(Int)
    }

    static let readVersion: PostgresStatement = """
        SELECT (SELECT value FROM meta WHERE key = 'version'),
            (SELECT value FROM meta WHERE key = 'compatible_from'),
            coalesce((SELECT value FROM meta WHERE key = 'cursor_lead'), 0),
            EXISTS (SELECT 1 FROM meta WHERE key = 'copying')
        """

    /// Opens the state, creates it if there is none, and brings its schema up to date.
    ///
    /// A schema with other tables, or a newer one that this version cannot use, is left untouched.
    ///
    /// - Throws: ``StateError``.
    package static func open(_ options: Options, logger: Logger) async throws -> PostgresStateStore {
        try await open(options, logger: logger) { pool throws in
            _ = try await migrate(pool, options)
        }
    }

    /// Opens a state that gateways may be using, for the operator's commands; creates and migrates nothing.
    ///
    /// - Throws: ``StateError``: `open` also if there is no state yet, ``StateError/schemaOlder(found:known:)`` if no
    ///   gateway of this version has run on it.
    package static func openShared(_ options: Options, logger: Logger) async throws -> PostgresStateStore {
        try await open(options, logger: logger) { pool throws in try await requireUsable(pool, options) }
    }

    /// Checks that there is a state that this version can use as it is.
    static func requireUsable(_ pool: PostgresPool, _ options: Options) async throws {
        switch try await standing(pool, options) {
        case .usable: break
        case .older(let version):
            throw StateError.schemaOlder(found: version, known: options.migrations.last?.number ?? version)
        case .empty:
            throw StateError.open(path: "\(pool.info) schema=\(options.schema)", reason: "there is no state in it yet")
        }
    }

    /// Returns what a database has, and changes nothing.
    package static func inspect(_ options: Options, logger: Logger) async throws -> Standing {
        try await with(options, logger: logger) { try await standing($0, options) }
    }

    /// Brings the schema up to date.
    ///
    /// - Returns: The numbers of the steps that were carried out.
    package static func migrate(_ options: Options, logger: Logger) async throws -> [Int] {
        try await with(options, logger: logger) { try await migrate($0, options) }
    }

    private static func open(
        _ options: Options, logger: Logger, preparing prepare: (PostgresPool) async throws -> Void
    ) async throws -> PostgresStateStore {
        let pool = try start(options, logger)
        do {
            try await prepare(pool)
            let row = try await pool.query(readVersion, .readOnly, within: options.timeout).rows.first
            return PostgresStateStore(pool: pool, options: options, cursorLead: try row?.number(2) ?? 0)
        } catch {
            await pool.shutdown()
            throw StateError.wrapping(error)
        }
    }

    private static func with<R>(
        _ options: Options, logger: Logger, _ body: (PostgresPool) async throws -> R
    ) async throws -> R {
        let pool = try start(options, logger)
        let result: Result<R, any Error>
        do { result = .success(try await body(pool)) } catch { result = .failure(StateError.wrapping(error)) }
        await pool.shutdown()
        return try result.get()
    }

    static func start(_ options: Options, _ logger: Logger) throws -> PostgresPool {
        var settings = options.connections
        settings.schema = options.schema
        settings.connectTimeout = min(settings.connectTimeout, options.timeout)
        do {
            return try PostgresPool.start(settings, logger: logger)
        } catch {
            throw StateError(error)
        }
    }
}
