// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore

extension SchemaMigration {
    /// Creates the tables of the ids that backends have made, and of the records that each cursor's device knows by
    /// them.
    ///
    /// If several client ids map to one backend id, the first is public: pulls use it. No row is deleted with its
    /// principal, since a device may hold the client's id for as long as it likes. Ids are bytes, since they may be any
    /// text.
    static let ids = """
        CREATE TABLE id_map (
            principal INTEGER NOT NULL REFERENCES principal,
            client_table TEXT NOT NULL,
            client_id BLOB NOT NULL,
            backend_id BLOB NOT NULL,
            is_public INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            made_at INTEGER NOT NULL,
            PRIMARY KEY (principal, client_table, client_id)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX id_map_backend ON id_map (principal, client_table, backend_id) WHERE is_public = 1;
        CREATE UNIQUE INDEX id_map_sequence ON id_map (principal, sequence);

        ALTER TABLE principal ADD COLUMN id_sequence INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE cursor ADD COLUMN id_sequence INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE cursor ADD COLUMN kept BLOB;
        """
}
