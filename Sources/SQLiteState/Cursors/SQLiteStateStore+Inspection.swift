// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
package import StateStore
package import SyncModel

extension SQLiteStateStore: InspectableStore {
    /// Returns principals by ranges of the indexes of their digests and of their users' digests.
    package func principals(beginningWith digits: String, limit: Int) async throws -> [Principal] {
        try await read { db in
            let first = try key(digits, "principal")
            // No digit of a digest sorts after "f".
            return try db.rows(
                """
                SELECT digest, user_digest, scope FROM principal WHERE digest >= ?1 AND digest < ?2
                UNION SELECT user_digest, NULL, NULL FROM principal WHERE user_digest >= ?1 AND user_digest < ?2
                ORDER BY 1 LIMIT ?3
                """, [first, first + "g", min(max(0, limit), 10_000)]
            ).map { try $0.principal(0, origin: 1) }
        }
    }

    /// Counts along the index of the times at which replicas were seen.
    package func schemaVersions(ofLast limit: Int) async throws -> [SchemaVersionCount] {
        try await read { db in
            try db.rows(
                """
                SELECT version, count(*) FROM (
                    SELECT coalesce(schema_version, pushed_version) AS version FROM replica WHERE dead = 0
                    ORDER BY last_seen DESC LIMIT ?)
                GROUP BY version ORDER BY version DESC
                """, [min(max(0, limit), 10_000)]
            ).map { row in
                SchemaVersionCount(
                    version: try row.optionalInteger(0).map(Int.init), devices: Int(try row.number(1)))
            }
        }
    }

    /// Finds a note by one key look-up.
    package func pushNote(of principal: Principal, table: String, id: String) async throws -> PushNote? {
        try await read { db in
            try db.row(
                """
                SELECT client_table, record, state, sequence, links, shape FROM push_note
                WHERE principal = (SELECT id FROM principal WHERE digest = ?) AND client_table = ? AND record = ?
                """, [key(principal.rawValue, "principal"), key(table, "table"), id]
            ).map { try $0.pushNote() }
        }
    }

    /// Finds cursors by one key look-up for each layer.
    package func cursors(of outline: LedgerOutline) async throws -> [LayerID: SyncModel.Cursor] {
        try await read { db in
            var cursors: [LayerID: SyncModel.Cursor] = [:]
            for layer in outline.deltas + outline.undos {
                let cursor = try db.integer("SELECT cursor FROM layer WHERE id = ?", [layer.rawValue])
                cursors[layer] = cursor.flatMap(SyncModel.Cursor.init(rawValue:))
            }
            if let base = outline.base {
                let compacted = try db.integer(
                    "SELECT folded FROM replica WHERE id = ? AND base = ?", [outline.replica.rawValue, base.rawValue])
                cursors[base] = compacted.flatMap(SyncModel.Cursor.init(rawValue:))
            }
            return cursors
        }
    }
}
