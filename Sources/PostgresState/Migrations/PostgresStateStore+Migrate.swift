// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore

extension PostgresStateStore {
    /// The longest time for all steps, and for the wait until another gateway has carried them out.
    private static let migrationTimeout = Duration.seconds(120)

    /// Counts the tables of the schema, and those among them that hold the version.
    private static func tables(of schema: String) -> PostgresStatement {
        PostgresStatement(
            """
            SELECT count(*), count(*) FILTER (WHERE c.relname = 'meta')
            FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
            """, [.text(schema)])
    }

    /// Returns what a database has.
    ///
    /// - Throws: ``StateError/notRind(path:)`` or ``StateError/schemaNewer(found:known:)``.
    static func standing(_ pool: PostgresPool, _ options: Options) async throws -> Standing {
        try await pool.withTransaction(.readOnly, within: options.timeout) { transaction in
            try await standing(&transaction, options, at: "\(pool.info)")
        }
    }

    private static func standing(
        _ transaction: inout PostgresTransaction, _ options: Options, at location: String
    ) async throws -> Standing {
        let counts = try await transaction.query(tables(of: options.schema)).rows.first
        guard let counts, try counts.integer(0) > 0 else { return .empty }
        guard try counts.integer(1) > 0 else { throw StateError.notRind(path: "\(location) schema=\(options.schema)") }
        let row = try await transaction.query(readVersion).rows.first
        guard let row, let version = try row.optionalInt(0), let compatible = try row.optionalInt(1) else {
            throw StateError.notRind(path: "\(location) schema=\(options.schema)")
        }
        guard try options.takesUnfinished || !row.bool(3) else {
            throw StateError.copying(path: "\(location) schema=\(options.schema)")
        }
        let known = options.migrations.last?.number ?? 0
        guard version >= known else { return .older(version) }
        guard compatible <= known else { throw StateError.schemaNewer(found: version, known: known) }
        return .usable(version)
    }

    /// Carries out the steps that are due, under a lock of the database, so that of several gateways that start one
    /// does it.
    ///
    /// - Returns: The numbers of the steps.
    static func migrate(_ pool: PostgresPool, _ options: Options) async throws -> [Int] {
        // The usual case takes no lock.
        if case .usable = try await standing(pool, options) { return [] }
        return try await pool.withTransaction(.readWrite, within: migrationTimeout) { transaction in
            _ = try await transaction.query(
                PostgresStatement(
                    "SELECT pg_advisory_xact_lock(hashtextextended('rind ' || $1, 0))", [.text(options.schema)]))
            var version = 0
            switch try await standing(&transaction, options, at: "\(pool.info)") {
            case .usable: return []
            case .older(let found): version = found
            case .empty:
                // A schema that is there may be one that was made for a role without the right to make another.
                let exists = try await transaction.query(
                    PostgresStatement("SELECT to_regnamespace(quote_ident($1)) IS NOT NULL", [.text(options.schema)]))
                if try exists.rows.first?.bool(0) != true {
                    _ = try await transaction.query(
                        PostgresStatement("CREATE SCHEMA \"\(options.schema)\""))
                }
            }
            let due = options.migrations.filter { $0.number > version }
            for step in due {
                // One by one: a statement is understood only when the tables before it are there.
                for statement in step.statements { _ = try await transaction.query(PostgresStatement(statement)) }
            }
            if let last = due.last { _ = try await transaction.pipeline(stamp(last)) }
            return due.map(\.number)
        }
    }

    private static func stamp(_ step: PostgresMigration) -> [PostgresStatement] {
        [("version", step.number), ("compatible_from", step.compatibleFrom)].map { name, value in
            PostgresStatement(
                "INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = $2",
                [.text(name), .int(value)])
        }
    }
}
