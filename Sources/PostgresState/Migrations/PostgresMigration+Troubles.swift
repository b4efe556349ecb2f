// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The devices that do not get on, for operators only: nothing that clients see depends on it.
extension PostgresMigration {
    static let troubles = [
        """
        CREATE TABLE device_trouble (
            principal text COLLATE "C" NOT NULL,
            replica bigint NOT NULL,
            kind text COLLATE "C" NOT NULL,
            count bigint NOT NULL,
            since bigint NOT NULL,
            last_at bigint NOT NULL,
            code text NOT NULL,
            PRIMARY KEY (principal, replica, kind)
        )
        """,
        "CREATE INDEX device_trouble_time ON device_trouble (last_at)",
    ]
}
