// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension PostgresMigration {
    /// A row for each principal that syncs; `holder` is null while nobody does.
    ///
    /// No column but the key is indexed, and pages keep room, so that a take changes the row in its place.
    static let leases = [
        """
        CREATE TABLE lease (
            principal text COLLATE "C" PRIMARY KEY,
            holder text COLLATE "C",
            fence bigint NOT NULL,
            taken_at bigint NOT NULL,
            expires_at bigint NOT NULL,
            distrust_until bigint NOT NULL DEFAULT 0
        ) WITH (fillfactor = 50)
        """,
        "CREATE SEQUENCE lease_fence",
    ]
}
