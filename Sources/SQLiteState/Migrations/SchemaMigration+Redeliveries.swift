// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore

extension SchemaMigration {
    /// Creates the table of pending redeliveries.
    static let redeliveries = """
        CREATE TABLE owed (
            replica INTEGER NOT NULL REFERENCES replica ON DELETE CASCADE,
            client_table TEXT NOT NULL,
            record TEXT NOT NULL,
            count INTEGER NOT NULL,
            since INTEGER NOT NULL,
            delivered INTEGER,
            PRIMARY KEY (replica, client_table, record)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX owed_since ON owed (since);
        """
}
