// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Accounts
package import Logging
package import Postgres
package import StateProbes
package import StateStore
import SyncModel

/// Opens states that are a schema of a PostgreSQL database.
package enum PostgresStateStore {
    /// The options for opening a state.
    package struct Options: Sendable {
        /// The limits on what is kept and how often it is written.
        package var limits = StateLimits()
        /// The schema that holds the tables.
        package var schema = "rind"
        /// The longest time that a call takes, waiting for the database included.
        package var timeout: Duration = .seconds(5)
        /// Receives each fault of the open state once, and its end.
        package var report: (@Sendable (StateEvent) -> Void)?
        /// The settings of the connections, except for the schema.
        package var connections: PostgresSettings

        /// Creates the default options for a connection string.
        package init(conninfo: String) { connections = PostgresSettings(conninfo: conninfo) }
    }

    /// The version of the schema that this version makes and uses.
    package static let version = PostgresSchema.version

    /// Opens the state, creates it if there is none, and brings its schema up to date.
    ///
    /// A schema with other tables, of another form, or a newer one that this version cannot use, is left untouched.
    package static func open(_ options: Options, logger: Logger) async throws -> Accounts {
        let bytes = try await PostgresBytes.open(options, logger: logger) { pool throws in
            _ = try await PostgresSchema.migrate(pool, options)
        }
        return try await Accounts.open(bytes, limits: options.limits, epoch: bytes.epoch, leases: bytes)
    }

    /// Opens a state that gateways may be using, for the operator's commands; creates and migrates nothing.
    ///
    /// - Throws: ``StateError``: `open` also if there is no state yet.
    package static func openShared(_ options: Options, logger: Logger) async throws -> Accounts {
        let bytes = try await PostgresBytes.open(options, logger: logger) { pool throws in
            try await PostgresSchema.requireUsable(pool, options)
        }
        return try await Accounts.open(bytes, limits: options.limits, epoch: bytes.epoch, leases: bytes)
    }

    /// Opens the bytes of a state, to copy them.
    ///
    /// - Throws: ``StateError``: `open` if there is no state and none is to be created.
    package static func openBytes(_ options: Options, creates: Bool, logger: Logger) async throws -> any ByteStore {
        try await PostgresBytes.open(options, logger: logger) { pool throws in
            if creates { _ = try await PostgresSchema.migrate(pool, options) }
            try await PostgresSchema.requireUsable(pool, options)
        }
    }

    /// Returns the version of the schema that a database has, nil if there is no state yet; changes nothing.
    ///
    /// - Throws: Also ``StateError/readOnly(_:)`` if a gateway would lack a right.
    package static func inspect(_ options: Options, logger: Logger) async throws -> Int? {
        try await with(options, logger: logger) { try await PostgresSchema.foundForUse($0, options) }
    }

    /// Makes the schema if there is none; returns whether it was made.
    package static func migrate(_ options: Options, logger: Logger) async throws -> Bool {
        try await with(options, logger: logger) { try await PostgresSchema.migrate($0, options) }
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
