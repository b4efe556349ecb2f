// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The schema of a state in PostgreSQL; `docs/STATE.md` explains tables and columns.
enum PostgresBytesSchema {
    /// The number of the schema: those of lower numbers are of a form that is not read any more.
    static let version = 6

    /// The statements that make it.
    static let statements = [
        "CREATE TABLE meta (key text COLLATE \"C\" PRIMARY KEY, value bigint NOT NULL)",
        """
        CREATE TABLE principal (
            owner bigint PRIMARY KEY, version bigint NOT NULL, seen bigint NOT NULL, data bytea NOT NULL
        )
        """,
        """
        CREATE TABLE replica (
            owner bigint NOT NULL, id bigint NOT NULL, version bigint NOT NULL, seen bigint NOT NULL,
            data bytea NOT NULL, PRIMARY KEY (owner, id)
        )
        """,
        "CREATE INDEX replica_id ON replica (id)",
        "CREATE INDEX replica_seen ON replica (seen, id)",
        """
        CREATE TABLE cursor (
            owner bigint NOT NULL, cursor bigint NOT NULL, replica bigint NOT NULL, PRIMARY KEY (owner, cursor)
        )
        """,
        "CREATE INDEX cursor_number ON cursor (cursor)",
        """
        CREATE TABLE entry (
            owner bigint NOT NULL, kind smallint NOT NULL, key bytea NOT NULL, version bigint NOT NULL,
            number bigint NOT NULL, rank bigint NOT NULL, data bytea NOT NULL, PRIMARY KEY (owner, kind, key)
        )
        """,
        "CREATE INDEX entry_owner ON entry (owner, kind, number) WHERE kind = 5 OR kind = 6",
        """
        CREATE INDEX entry_number ON entry (kind, number, rank)
            WHERE kind = 4 OR kind = 9 OR kind = 11 OR kind = 14 OR kind = 15
        """,
        "CREATE INDEX entry_rank ON entry (kind, rank, number) WHERE kind = 17",
        "CREATE TABLE chunk (id bigint PRIMARY KEY, data bytea NOT NULL)",
        """
        CREATE TABLE lease (
            owner bigint PRIMARY KEY, holder text COLLATE "C", fence bigint NOT NULL, taken_at bigint NOT NULL,
            expires_at bigint NOT NULL, distrust_until bigint NOT NULL DEFAULT 0
        ) WITH (fillfactor = 50)
        """,
        "CREATE SEQUENCE lease_fence",
        "CREATE SEQUENCE journal_number",
        "CREATE SEQUENCE push_number",
        "INSERT INTO meta (key, value) VALUES ('version', 6), ('compatible_from', 6), ('probe', 0)",
    ]
}
