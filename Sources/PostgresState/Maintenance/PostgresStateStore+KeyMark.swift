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

    /// Sets the mark of the identity key; one that is there stays unless it is replaced.
    ///
    /// - Throws: ``StateError``.
    package func setKeyMark(_ mark: Int64, replaces: Bool) async throws {
        let conflict = replaces ? "UPDATE SET value = excluded.value" : "NOTHING"
        _ = try await write([
            PostgresStatement(
                "INSERT INTO meta (key, value) VALUES ('identity_key', $1) ON CONFLICT (key) DO \(conflict)",
                [.integer(mark)])
        ])
    }
}
