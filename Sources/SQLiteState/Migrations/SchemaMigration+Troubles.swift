// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore

extension SchemaMigration {
    /// Creates the table of devices that do not get on, for operators only: nothing that clients see depends on it.
    static let troubles = """
        CREATE TABLE device_trouble (
            replica INTEGER NOT NULL REFERENCES replica ON DELETE CASCADE,
            kind TEXT NOT NULL,
            count INTEGER NOT NULL,
            since INTEGER NOT NULL,
            last_at INTEGER NOT NULL,
            code TEXT NOT NULL,
            PRIMARY KEY (replica, kind)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX device_trouble_time ON device_trouble (last_at);
        """
}
