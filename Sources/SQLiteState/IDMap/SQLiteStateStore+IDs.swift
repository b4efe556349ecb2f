// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Returns mappings by one index range; at most 10,000 at a time.
    package func idMappings(
        of principal: Principal, after sequence: Int64, limit: Int
    ) async throws -> [StoredIDMapping] {
        try await readSeldom(of: principal, where: "p.id_sequence > ?", sequence) { db, owner in
            try db.rows(
                """
                SELECT client_table, client_id, backend_id, is_public, sequence FROM id_map
                WHERE principal = ? AND sequence > ? ORDER BY sequence LIMIT ?
                """, [owner, sequence, min(max(0, limit), 10_000)]
            ).map { try StoredIDMapping($0) }
        } ?? []
    }

    /// Writes mappings in one transaction.
    package func saveMappings(
        _ mappings: [IDMapping], principal: Principal, at now: Instant
    ) async throws -> [IDMapping] {
        guard !mappings.isEmpty else { return [] }
        return try await write { db in
            try db.save(mappings, of: db.ensurePrincipal(principal, at: now), at: now)
        }
    }

    /// Finds mappings by two look-ups.
    package func idMappings(
        of principal: Principal, table: String, id: String
    ) async throws -> [StoredIDMapping] {
        try await read { db in
            guard let owner = try db.principalID(principal) else { return [] }
            return try db.rows(
                """
                SELECT client_table, client_id, backend_id, is_public, sequence FROM id_map
                WHERE principal = ?1 AND client_table = ?2 AND (client_id = ?3 OR backend_id = ?3)
                ORDER BY sequence LIMIT 100
                """, [owner, table, Data(id.utf8)]
            ).map { try StoredIDMapping($0) }
        }
    }

    /// Finds ids without a mapping by two look-ups each.
    package func unmappedPushes(_ ids: [IDMapping], of principal: Principal) async throws -> [IDMapping] {
        try await read { db in
            guard let owner = try db.principalID(principal) else { return [] }
            return try ids.filter { mapping in
                try db.exists(
                    """
                    SELECT 1 FROM push_note n WHERE principal = ?1 AND client_table = ?2 AND record = ?3
                        AND NOT EXISTS (
                            SELECT 1 FROM id_map WHERE principal = ?1 AND client_table = ?2 AND client_id = ?4)
                    """, [owner, mapping.table, mapping.clientID, Data(mapping.clientID.utf8)])
            }
        }
    }
}

extension StoredIDMapping {
    fileprivate init(_ row: StoredRow) throws {
        self.init(
            mapping: IDMapping(
                table: try row.text(0), clientID: String(decoding: try row.bytes(1), as: UTF8.self),
                backendID: String(decoding: try row.bytes(2), as: UTF8.self)),
            isPublic: try row.integer(3) != 0, sequence: try row.integer(4))
    }
}
