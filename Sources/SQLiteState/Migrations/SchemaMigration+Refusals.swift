// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore

extension SchemaMigration {
    /// Creates the table of recent refusals by the backend, for operators only: nothing that clients see depends on it.
    static let refusals = """
        CREATE TABLE push_refusal (
            principal INTEGER NOT NULL REFERENCES principal ON DELETE CASCADE,
            client_table TEXT NOT NULL,
            record BLOB NOT NULL,
            kind TEXT NOT NULL,
            call TEXT,
            reason TEXT NOT NULL,
            status INTEGER,
            message TEXT,
            count INTEGER NOT NULL,
            first_at INTEGER NOT NULL,
            last_at INTEGER NOT NULL,
            PRIMARY KEY (principal, client_table, record)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX push_refusal_time ON push_refusal (last_at);
        """
}
