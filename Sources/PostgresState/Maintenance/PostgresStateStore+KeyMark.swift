// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore

extension PostgresStateStore {
    /// Returns the mark of the identity key under which the state was written; nil if none was set yet.
    ///
    /// - Throws: ``StateError``.
    package func keyMark() async throws -> Int64? {
        let results = try await read([PostgresStatement("SELECT value FROM meta WHERE key = 'identity_key'")])
        return try results.row(0)?.number(0)
    }

    /// Sets the mark of the identity key.
    ///
    /// - Throws: ``StateError``.
    package func setKeyMark(_ mark: Int64) async throws {
        _ = try await write([
            PostgresStatement(
                "INSERT INTO meta (key, value) VALUES ('identity_key', $1) ON CONFLICT (key) DO UPDATE SET value = $1",
                [.integer(mark)])
        ])
    }
}
