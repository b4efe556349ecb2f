// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore

/// One numbered step of the state's schema.
///
/// A step that has been released is never edited: a new one follows it.
package struct SchemaMigration: Hashable, Sendable {
    /// The step's number; the schema version of a state that has the step.
    package var number: Int
    /// SQL statements, run in one transaction together with all other steps that are due.
    package var sql: String
    /// The tables that the step creates: a file of this version that lacks one is damaged.
    package var tables: [String]

    /// Creates a step.
    package init(number: Int, sql: String, tables: [String] = []) {
        self.number = number
        self.sql = sql
        self.tables = tables
    }

    /// All steps of SQLite states, in the order of their numbers.
    package static let sqlite: [SchemaMigration] = [
        SchemaMigration(
            number: 1, sql: first,
            tables: ["meta", "principal", "vector", "session", "replica", "cursor", "push", "quarantine"]),
        SchemaMigration(
            number: 2, sql: second, tables: ["layer", "layer_count", "chunk", "sweep_states", "push_note"]),
        SchemaMigration(number: 3, sql: third),
        SchemaMigration(number: 4, sql: pushQuarantine, tables: ["push_quarantine"]),
        SchemaMigration(number: 5, sql: redeliveries, tables: ["owed"]),
        SchemaMigration(number: 6, sql: ids, tables: ["id_map"]),
        SchemaMigration(number: 7, sql: journal, tables: ["push_journal", "push_flight"]),
        SchemaMigration(number: 8, sql: refusals, tables: ["push_refusal"]),
        SchemaMigration(number: 9, sql: troubles, tables: ["device_trouble"]),
        SchemaMigration(number: 10, sql: scopes),
        SchemaMigration(number: 11, sql: distrust),
    ]

    /// Adds the column of schema versions that pushes show, for clients that do not report theirs.
    private static let third = "ALTER TABLE replica ADD COLUMN pushed_version INTEGER;"

    /// Creates the first tables; `docs/STATE.md` explains the tables and columns.
    ///
    /// STRICT, so that a column never holds a value of another type. Every foreign key has an index in its own table,
    /// or else deleting a vector or session would read all cursors.
    private static let first = """
        CREATE TABLE meta (
            key TEXT PRIMARY KEY NOT NULL,
            value INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT INTO meta (key, value) VALUES ('newest_collected', 0), ('quarantine_dropped', 0);

        CREATE TABLE principal (
            id INTEGER PRIMARY KEY,
            digest TEXT NOT NULL UNIQUE,
            newest INTEGER NOT NULL DEFAULT 0,
            last_seen INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX principal_newest ON principal (newest);
        CREATE INDEX principal_seen ON principal (last_seen);

        CREATE TABLE vector (
            id INTEGER PRIMARY KEY,
            digest BLOB NOT NULL UNIQUE,
            tokens BLOB NOT NULL
        ) STRICT;

        CREATE TABLE session (
            id INTEGER PRIMARY KEY,
            principal INTEGER NOT NULL REFERENCES principal ON DELETE CASCADE,
            digest TEXT NOT NULL,
            generation INTEGER NOT NULL DEFAULT 0,
            position INTEGER REFERENCES vector,
            accepted_at INTEGER,
            last_seen INTEGER NOT NULL,
            UNIQUE (principal, digest)
        ) STRICT;
        CREATE INDEX session_position ON session (position) WHERE position IS NOT NULL;
        CREATE INDEX session_seen ON session (last_seen);

        CREATE TABLE replica (
            id INTEGER PRIMARY KEY,
            principal INTEGER NOT NULL REFERENCES principal ON DELETE CASCADE,
            confirmed INTEGER NOT NULL DEFAULT 0,
            first_seen INTEGER NOT NULL,
            last_seen INTEGER NOT NULL,
            last_result TEXT NOT NULL DEFAULT ''
        ) STRICT;
        CREATE INDEX replica_principal ON replica (principal, confirmed, last_seen);
        CREATE INDEX replica_seen ON replica (last_seen);

        CREATE TABLE cursor (
            principal INTEGER NOT NULL REFERENCES principal ON DELETE CASCADE,
            cursor INTEGER NOT NULL,
            replica INTEGER NOT NULL REFERENCES replica ON DELETE CASCADE,
            parent INTEGER,
            vector INTEGER NOT NULL REFERENCES vector,
            schema_version INTEGER,
            session INTEGER NOT NULL REFERENCES session,
            generation INTEGER NOT NULL,
            confirmed INTEGER NOT NULL DEFAULT 0,
            mapping TEXT NOT NULL,
            PRIMARY KEY (principal, cursor)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX cursor_time ON cursor (cursor);
        CREATE INDEX cursor_replica ON cursor (replica, cursor, confirmed);
        CREATE INDEX cursor_successor ON cursor (principal, parent) WHERE confirmed = 1 AND parent IS NOT NULL;
        CREATE INDEX cursor_vector ON cursor (vector);
        CREATE INDEX cursor_session ON cursor (session);

        CREATE TABLE push (
            id INTEGER PRIMARY KEY,
            principal INTEGER NOT NULL REFERENCES principal ON DELETE CASCADE,
            digest TEXT NOT NULL,
            status INTEGER NOT NULL,
            content_type TEXT NOT NULL,
            body BLOB NOT NULL,
            saved_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            UNIQUE (principal, digest)
        ) STRICT;
        CREATE INDEX push_expiry ON push (expires_at);

        CREATE TABLE quarantine (
            id INTEGER PRIMARY KEY,
            digest BLOB NOT NULL UNIQUE,
            principal TEXT NOT NULL,
            reason TEXT NOT NULL,
            type TEXT,
            namespace TEXT,
            client_table TEXT,
            record TEXT,
            bytes BLOB NOT NULL,
            count INTEGER NOT NULL,
            first_seen INTEGER NOT NULL,
            last_seen INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX quarantine_seen ON quarantine (last_seen, id);
        CREATE INDEX quarantine_reason ON quarantine (reason);
        """
}
