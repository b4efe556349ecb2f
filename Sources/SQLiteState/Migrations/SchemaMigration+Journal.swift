// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore

extension SchemaMigration {
    /// Creates the tables of pushes by calls, for those in progress and those that were interrupted or failed.
    ///
    /// Numbers are never given twice, so that no push writes into the journal of another. An in-flight operation is one
    /// that was or is about to be sent and whose outcome is unknown; ids and bodies are bytes, since they may be any
    /// text. The request is kept only for creates whose record gets an id from the backend, and only until the journal
    /// is closed or the request was repeated in vain; the journal counts these tries and has the time of the first.
    static let journal = """
        CREATE TABLE push_journal (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            principal INTEGER NOT NULL REFERENCES principal ON DELETE CASCADE,
            presented INTEGER,
            started_at INTEGER NOT NULL,
            changed_at INTEGER NOT NULL,
            state TEXT NOT NULL,
            operations INTEGER NOT NULL,
            applied INTEGER NOT NULL DEFAULT 0,
            rejected INTEGER NOT NULL DEFAULT 0,
            found INTEGER NOT NULL DEFAULT 0,
            lost INTEGER NOT NULL DEFAULT 0,
            code TEXT,
            message TEXT,
            client_table TEXT,
            record BLOB,
            tries INTEGER NOT NULL DEFAULT 0,
            tried_at INTEGER
        ) STRICT;
        CREATE INDEX push_journal_principal ON push_journal (principal, state, id);
        CREATE INDEX push_journal_ended ON push_journal (changed_at);

        ALTER TABLE push_quarantine ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;

        CREATE TABLE push_flight (
            journal INTEGER NOT NULL REFERENCES push_journal ON DELETE CASCADE,
            place INTEGER NOT NULL,
            kind TEXT NOT NULL,
            client_table TEXT NOT NULL,
            record BLOB NOT NULL,
            makes_id INTEGER NOT NULL,
            idempotency_key TEXT,
            method TEXT,
            target TEXT,
            body BLOB,
            sought BLOB,
            given_up INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (journal, place)
        ) STRICT, WITHOUT ROWID;
        """
}
