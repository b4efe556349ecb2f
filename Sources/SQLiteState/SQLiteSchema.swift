// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The schema of a file; `docs/STATE.md` explains tables and columns.
enum SQLiteSchema {
    /// The number of the schema: files of lower numbers are of a form that is not read any more.
    static let version = 16

    /// The bytes of a page: a commit writes whole pages, and a head is to fit into one
    /// (``StateLimits/headBytes``).
    static let pageSize = 2_048

    /// The statements that make them.
    ///
    /// Heads and chunks have integer keys, so that their bytes, which nearly fill a page, lie in the tree. Cursors come
    /// in the order of their time: all commits add to the same page.
    static let sql = """
        CREATE TABLE principal (
            owner INTEGER PRIMARY KEY, version INTEGER NOT NULL, rank INTEGER NOT NULL, data BLOB NOT NULL
        ) STRICT;
        CREATE TABLE replica (
            number INTEGER PRIMARY KEY, owner INTEGER NOT NULL, version INTEGER NOT NULL, rank INTEGER NOT NULL,
            data BLOB NOT NULL
        ) STRICT;
        CREATE INDEX replica_owner ON replica (owner);
        CREATE INDEX replica_rank ON replica (rank);
        CREATE TABLE cursor (
            number INTEGER NOT NULL, owner INTEGER NOT NULL, rank INTEGER NOT NULL, PRIMARY KEY (number, owner)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE entry (
            owner INTEGER NOT NULL, kind INTEGER NOT NULL, key BLOB NOT NULL, version INTEGER NOT NULL,
            number INTEGER NOT NULL, rank INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (owner, kind, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX entry_owner ON entry (owner, kind, number) WHERE kind = 5 OR kind = 6;
        CREATE INDEX entry_number ON entry (kind, number, rank) WHERE kind = 4 OR kind = 9
            OR kind = 11 OR kind = 14 OR kind = 15 OR kind = 16 OR kind = 17;
        CREATE INDEX entry_rank ON entry (kind, rank, number) WHERE kind = 17;
        CREATE TABLE chunk (number INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
        """
}
