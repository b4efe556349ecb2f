// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore

extension SQLiteStateStore {
    /// Returns the mark of the identity key under which the state was written; nil if none was set yet.
    ///
    /// - Throws: ``StateError``.
    package func keyMark() async throws -> Int64? {
        try await read { db in try db.integer("SELECT value FROM meta WHERE key = 'identity_key'") }
    }

    /// Sets the mark of the identity key; one that is there stays unless it is replaced.
    ///
    /// - Throws: ``StateError``.
    package func setKeyMark(_ mark: Int64, replaces: Bool) async throws {
        let conflict = replaces ? "UPDATE SET value = excluded.value" : "NOTHING"
        try await write { db in
            try db.run(
                "INSERT INTO meta (key, value) VALUES ('identity_key', ?) ON CONFLICT (key) DO \(conflict)", [mark])
        }
    }
}
