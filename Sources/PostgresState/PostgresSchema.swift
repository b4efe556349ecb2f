// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore

/// The schema of a state in PostgreSQL; `docs/STATE.md` explains tables and columns.
enum PostgresSchema {
    /// The number of this form of the state: those of lower numbers are not read.
    static let version = 10

    static let statements = [
        "CREATE TABLE meta (key text COLLATE \"C\" PRIMARY KEY, value bigint NOT NULL)",
        """
        CREATE TABLE principal (
            owner bigint PRIMARY KEY, version bigint NOT NULL, rank bigint NOT NULL, data bytea NOT NULL
        )
        """,
        """
        CREATE TABLE replica (
            owner bigint NOT NULL, number bigint NOT NULL, version bigint NOT NULL, rank bigint NOT NULL,
            data bytea NOT NULL, PRIMARY KEY (owner, number)
        )
        """,
        "CREATE UNIQUE INDEX replica_number ON replica (number)",
        "CREATE INDEX replica_rank ON replica (rank, number)",
        """
        CREATE TABLE cursor (
            owner bigint NOT NULL, number bigint NOT NULL, rank bigint NOT NULL, PRIMARY KEY (owner, number)
        )
        """,
        "CREATE INDEX cursor_number ON cursor (number)",
        """
        CREATE TABLE entry (
            owner bigint NOT NULL, kind smallint NOT NULL, key bytea NOT NULL, version bigint NOT NULL,
            number bigint NOT NULL, rank bigint NOT NULL, data bytea NOT NULL, PRIMARY KEY (owner, kind, key)
        )
        """,
        "CREATE INDEX entry_owner ON entry (owner, kind, number) WHERE kind = 5 OR kind = 6",
        """
        CREATE INDEX entry_number ON entry (kind, number, rank)
            WHERE kind = 4 OR kind = 9 OR kind = 11 OR kind = 14 OR kind = 15 OR kind = 16 OR kind = 17
        """,
        "CREATE INDEX entry_rank ON entry (kind, rank, number) WHERE kind = 17",
        "CREATE TABLE chunk (number bigint PRIMARY KEY, data bytea NOT NULL)",
        """
        CREATE TABLE lease (
            owner bigint PRIMARY KEY, holder text COLLATE "C", fence bigint NOT NULL, taken_at bigint NOT NULL,
            expires_at bigint NOT NULL, distrust_until bigint NOT NULL DEFAULT 0
        ) WITH (fillfactor = 50)
        """,
        "CREATE SEQUENCE lease_fence",
        // The number of the state: positions of another one, from which it was copied, do not count.
        "INSERT INTO meta (key, value) VALUES ('epoch', 1 + (random() * 9e15)::bigint)",
        "INSERT INTO meta (key, value) VALUES ('version', 10), ('compatible_from', 10), ('probe', 0)",
    ]

    /// The longest time to make the schema, and to wait until another gateway has made it.
    private static let timeout = Duration.seconds(120)

    /// Returns the version that a database has; nil if there is no state yet.
    ///
    /// - Throws: ``StateError/notRind(path:)``, ``StateError/schemaNewer(path:found:known:)`` or
    ///   ``StateError/outdated(path:found:)``.
    static func found(_ pool: PostgresPool, _ options: PostgresStateStore.Options) async throws -> Int? {
        try await pool.withTransaction(.readOnly, within: options.timeout) { transaction in
            try await found(&transaction, options, at: "\(pool.info) schema=\(options.schema)")
        }
    }

    private static func found(
        _ transaction: inout PostgresTransaction, _ options: PostgresStateStore.Options, at location: String
    ) async throws -> Int? {
        let counts = try await transaction.query(
            PostgresStatement(
                """
                SELECT count(*), count(*) FILTER (WHERE c.relname = 'meta'),
                    bool_and(has_schema_privilege(n.oid, 'USAGE'))
                FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
                """, [.text(options.schema)])
        ).rows.first
        guard let counts, try counts.integer(0) > 0 else { return nil }
        guard try counts.integer(1) > 0 else { throw StateError.notRind(path: location) }
        // The tables of such a schema seem to be missing.
        guard try counts.bool(2) else {
            throw StateError.open(path: location, reason: "the role has no right USAGE on the schema")
        }
        let row = try await transaction.query(
            """
            SELECT (SELECT value FROM meta WHERE key = 'version'),
                (SELECT value FROM meta WHERE key = 'compatible_from')
            """
        ).rows.first
        guard let row, let found = try row.optionalInteger(0), let compatible = try row.optionalInteger(1) else {
            throw StateError.notRind(path: location)
        }
        guard found >= version else { throw StateError.outdated(path: location, found: Int(found)) }
        guard compatible <= version else {
            throw StateError.schemaNewer(path: location, found: Int(found), known: version)
        }
        return Int(found)
    }

    /// Returns the version that a database has, nil if there is no state yet, if the role has all rights that a gateway
    /// needs.
    ///
    /// - Throws: ``StateError/readOnly(_:)`` if it has not; what ``found(_:_:)`` throws.
    static func foundForUse(_ pool: PostgresPool, _ options: PostgresStateStore.Options) async throws -> Int? {
        try await pool.withTransaction(.readOnly, within: options.timeout) { transaction in
            let found = try await found(&transaction, options, at: "\(pool.info) schema=\(options.schema)")
            let rights = found == nil ? rightsToMake : rightsToUse
            let lacking = try await transaction.query(PostgresStatement(rights, [.text(options.schema)]))
            guard let names = try lacking.rows.first?.optionalText(0) else { return found }
            throw StateError.readOnly("its role lacks the right \(names)")
        }
    }

    /// The rights that the role lacks on the tables and sequences of a state.
    private static let rightsToUse = """
        SELECT string_agg(r."right" || ' on ' || c.relname, ', ' ORDER BY c.relname, r."right")
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        JOIN (
            VALUES ('r', 'SELECT'), ('r', 'INSERT'), ('r', 'UPDATE'), ('r', 'DELETE'), ('S', 'USAGE')
        ) r (kind, "right") ON r.kind = c.relkind::text
        WHERE n.nspname = $1
            AND c.relname IN ('meta', 'principal', 'replica', 'cursor', 'entry', 'chunk', 'lease', 'lease_fence')
            AND NOT CASE c.relkind
            WHEN 'S' THEN has_sequence_privilege(c.oid, r."right") ELSE has_table_privilege(c.oid, r."right") END
        """

    /// The right that the role lacks to make a state.
    private static let rightsToMake = """
        SELECT CASE
            WHEN to_regnamespace(quote_ident($1)) IS NULL
            THEN CASE WHEN NOT has_database_privilege(current_database(), 'CREATE') THEN 'CREATE on the database' END
            WHEN NOT (has_schema_privilege($1, 'CREATE') AND has_schema_privilege($1, 'USAGE')) THEN 'CREATE on the schema'
            END
        """

    /// Checks that there is a state that this version can use as it is.
    static func requireUsable(_ pool: PostgresPool, _ options: PostgresStateStore.Options) async throws {
        guard try await found(pool, options) == nil else { return }
        throw StateError.open(
            path: "\(pool.info) schema=\(options.schema)", reason: "there is no state in it yet, 'rind serve' makes it")
    }

    /// Makes the schema if there is none, under a lock of the database, so that of several gateways that start one does
    /// it; returns whether it was made.
    static func migrate(_ pool: PostgresPool, _ options: PostgresStateStore.Options) async throws -> Bool {
        // The usual case takes no lock.
        guard try await foundForUse(pool, options) == nil else { return false }
        return try await pool.withTransaction(.readWrite, within: timeout) { transaction in
            _ = try await transaction.query(
                PostgresStatement(
                    "SELECT pg_advisory_xact_lock(hashtextextended('rind ' || $1, 0))", [.text(options.schema)]))
            let known = try await found(&transaction, options, at: "\(pool.info) schema=\(options.schema)")
            guard known == nil else { return false }
            // A schema that is there may be one that was made for a role without the right to make another.
            let exists = try await transaction.query(
                PostgresStatement("SELECT to_regnamespace(quote_ident($1)) IS NOT NULL", [.text(options.schema)]))
            if try exists.rows.first?.bool(0) != true {
                _ = try await transaction.query(PostgresStatement("CREATE SCHEMA \"\(options.schema)\""))
            }
            // One by one: a statement is understood only when the tables before it are there.
            for statement in statements { _ = try await transaction.query(PostgresStatement(statement)) }
            return true
        }
    }
}
