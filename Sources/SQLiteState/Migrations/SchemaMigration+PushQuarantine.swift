// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore

extension SchemaMigration {
    /// Creates the table of pushed records in quarantine.
    ///
    /// Numbers are never given again, since an operator may have written one down. No row is deleted with its
    /// principal: it is the only copy of a change that its device takes for synced. Ids are bytes, since they may be
    /// any text.
    static let pushQuarantine = """
        CREATE TABLE push_quarantine (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            principal INTEGER NOT NULL REFERENCES principal,
            client_table TEXT NOT NULL,
            record BLOB NOT NULL,
            kind TEXT NOT NULL,
            body BLOB NOT NULL,
            whole INTEGER NOT NULL DEFAULT 0,
            reason TEXT NOT NULL,
            status INTEGER,
            message TEXT,
            count INTEGER NOT NULL,
            first_at INTEGER NOT NULL,
            last_at INTEGER NOT NULL,
            marked_at INTEGER,
            UNIQUE (principal, client_table, record)
        ) STRICT;
        CREATE INDEX push_quarantine_marked ON push_quarantine (principal, id) WHERE marked_at IS NOT NULL;

        ALTER TABLE push_note ADD COLUMN accepted INTEGER NOT NULL DEFAULT 0;
        UPDATE push_note SET accepted = sequence WHERE state IN (1, 2);
        """
}
