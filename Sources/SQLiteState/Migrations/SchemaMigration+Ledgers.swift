// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore

extension SchemaMigration {
    /// Creates the tables of ledgers, notes of pushes and full comparisons.
    ///
    /// Chunks are in a table with row numbers: in one without, SQLite keeps only a quarter of a page of each row in the
    /// tree, and deltas of a few hundred bytes would not fit (https://www.sqlite.org/withoutrowid.html). The number of
    /// a layer is never given again, since a pull may still hold it.
    static let second = """
        CREATE TABLE layer (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            replica INTEGER REFERENCES replica ON DELETE SET NULL,
            kind INTEGER NOT NULL,
            cursor INTEGER,
            chunks INTEGER NOT NULL DEFAULT 0,
            made_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX layer_replica ON layer (replica, kind, cursor);
        CREATE INDEX layer_undo ON layer (cursor) WHERE kind = 3 AND replica IS NOT NULL;
        CREATE INDEX layer_loose ON layer (made_at) WHERE replica IS NULL;

        CREATE TABLE layer_count (
            layer INTEGER NOT NULL REFERENCES layer ON DELETE CASCADE,
            client_table TEXT NOT NULL,
            held INTEGER NOT NULL,
            entries INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (layer, client_table)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE chunk (
            id INTEGER PRIMARY KEY,
            layer INTEGER NOT NULL REFERENCES layer ON DELETE CASCADE,
            client_table TEXT NOT NULL,
            first BLOB NOT NULL,
            entries INTEGER NOT NULL,
            bytes BLOB NOT NULL,
            UNIQUE (layer, client_table, first)
        ) STRICT;

        CREATE TABLE sweep_states (
            id INTEGER PRIMARY KEY,
            digest BLOB NOT NULL UNIQUE,
            states BLOB NOT NULL
        ) STRICT;

        CREATE TABLE push_note (
            principal INTEGER NOT NULL REFERENCES principal ON DELETE CASCADE,
            client_table TEXT NOT NULL,
            record TEXT NOT NULL,
            state INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            links BLOB NOT NULL,
            shape INTEGER NOT NULL,
            made_at INTEGER NOT NULL,
            PRIMARY KEY (principal, client_table, record)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX push_note_sequence ON push_note (principal, sequence);
        CREATE INDEX push_note_time ON push_note (made_at, principal, sequence);

        ALTER TABLE principal ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;

        ALTER TABLE replica ADD COLUMN tip INTEGER;
        ALTER TABLE replica ADD COLUMN base INTEGER REFERENCES layer;
        ALTER TABLE replica ADD COLUMN folded INTEGER;
        ALTER TABLE replica ADD COLUMN horizon INTEGER;
        ALTER TABLE replica ADD COLUMN ledger_version INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE replica ADD COLUMN fold_after INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE replica ADD COLUMN schema_version INTEGER;
        ALTER TABLE replica ADD COLUMN accepted_at INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE replica ADD COLUMN resync_at INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE replica ADD COLUMN dead INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX replica_dead ON replica (dead) WHERE dead = 1;
        CREATE INDEX replica_base ON replica (base) WHERE base IS NOT NULL;
        UPDATE replica SET tip = (SELECT max(cursor) FROM cursor WHERE replica = replica.id AND confirmed = 1);

        ALTER TABLE cursor ADD COLUMN layer INTEGER REFERENCES layer;
        ALTER TABLE cursor ADD COLUMN below INTEGER;
        ALTER TABLE cursor ADD COLUMN exact INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE cursor ADD COLUMN noted INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE cursor ADD COLUMN sweeps INTEGER REFERENCES sweep_states;
        CREATE INDEX cursor_layer ON cursor (layer) WHERE layer IS NOT NULL;
        CREATE INDEX cursor_pending ON cursor (cursor) WHERE layer IS NOT NULL AND confirmed = 0;
        CREATE INDEX cursor_sweeps ON cursor (sweeps) WHERE sweeps IS NOT NULL;
        DROP INDEX cursor_successor;
        """
}
