// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A state file as the first version of the schema made it.
///
/// Frozen: never edit it together with the migrations.
enum VersionOne {
    static let schema = """
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

        PRAGMA application_id = 0x52696E64;
        PRAGMA user_version = 1;
        """

    static let rows = """
        INSERT INTO principal VALUES (1, 'a11ce', 1700000000005, 1700000000005);
        INSERT INTO vector VALUES (1, x'\(digest)', CAST('\(tokens)' AS BLOB));
        INSERT INTO session VALUES (5, 1, 'f0', 3, 1, 1700000000001, 1700000000001);
        INSERT INTO replica VALUES (42, 1, 1, 1600000000000, 1700000000000, 'pull, 3 records');
        INSERT INTO cursor VALUES (1, 1700000000000, 42, 1600000000000, 1, 12, 5, 2, 1, 'm1');
        INSERT INTO push VALUES (1, 1, 'd1', 200, 'application/json', x'7b7d', 1700000000002, 1700000120002);
        INSERT INTO quarantine VALUES
            (1, x'00', 'a11ce', 'record.unsafe_id', 'AlbumV1', 'AlbumV1', NULL, 'a/b', x'', 7, 1, 2);
        UPDATE meta SET value = 5 WHERE key = 'quarantine_dropped';
        UPDATE meta SET value = 1700000000009 WHERE key = 'newest_collected';
        """

    private static let tokens = "7:AlbumV1,12:AlbumV1|0197,14:SyncCompleteV1,1:x,"
    /// SHA-256 of the tokens.
    private static let digest = "0fa37402395afeb037be751da2cb3b976fc200a2ecf70a771576168a7da2a547"
}
