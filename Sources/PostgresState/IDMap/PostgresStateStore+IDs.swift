// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Returns mappings by one index range; at most 10,000 at a time.
    package func idMappings(
        of principal: Principal, after sequence: Int64, limit: Int
    ) async throws -> [StoredIDMapping] {
        try await read([
            PostgresStatement(
                """
                SELECT client_table, client_id, backend_id, is_public, sequence FROM id_map
                WHERE principal = $1 AND sequence > $2 ORDER BY sequence LIMIT $3
                """, [.principal(principal), .integer(sequence), .int(page(limit))])
        ]).rows(0).map { try StoredIDMapping($0) }
    }

    /// Writes mappings in one round trip.
    package func saveMappings(
        _ mappings: [IDMapping], principal: Principal, at now: Instant
    ) async throws -> [IDMapping] {
        guard !mappings.isEmpty else { return [] }
        let results = try await write(
            [.ensure(principal, at: now), .lock(principal)]
                + PostgresStatement.save(mappings, of: principal, at: now)
                + mappings.map { mapping in
                    PostgresStatement(
                        """
                        SELECT 1 FROM id_map
                        WHERE principal = $1 AND client_table = $2 AND client_id = $3 AND NOT is_public
                        """, [try .principal(principal), .text(mapping.table), .recordID(mapping.clientID)])
                })
        return zip(mappings, results.suffix(mappings.count)).filter { !$1.rows.isEmpty }.map(\.0)
    }

    /// Finds mappings by two look-ups.
    package func idMappings(
        of principal: Principal, table: String, id: String
    ) async throws -> [StoredIDMapping] {
        try await read([
            PostgresStatement(
                """
                SELECT client_table, client_id, backend_id, is_public, sequence FROM id_map
                WHERE principal = $1 AND client_table = $2 AND (client_id = $3 OR backend_id = $3)
                ORDER BY sequence LIMIT 100
                """, [.principal(principal), .text(table), .recordID(id)])
        ]).rows(0).map { try StoredIDMapping($0) }
    }

    /// Finds ids without a mapping by two look-ups each, in one round trip.
    package func unmappedPushes(_ ids: [IDMapping], of principal: Principal) async throws -> [IDMapping] {
        guard !ids.isEmpty else { return [] }
        let results = try await read(
            ids.map { mapping in
                // No note has an id that is not safe, nor one with a NUL, which PostgreSQL would not take.
                let record = RecordID.isSafe(mapping.clientID) ? mapping.clientID : nil
                return PostgresStatement(
                    """
                    SELECT 1 FROM push_note WHERE principal = $1 AND client_table = $2 AND record = $3
                        AND NOT EXISTS (
                            SELECT 1 FROM id_map WHERE principal = $1 AND client_table = $2 AND client_id = $4)
                    """,
                    [
                        try .principal(principal), .text(mapping.table), .text(record), .recordID(mapping.clientID),
                    ])
            })
        return zip(ids, results).filter { !$1.rows.isEmpty }.map(\.0)
    }

    /// Finds mapped ids by one key look-up each, in one round trip.
    package func mappedIDs(
        _ ids: Set<String>, in table: String, of principal: Principal
    ) async throws -> Set<String> {
        let ids = Array(ids)
        guard !ids.isEmpty else { return [] }
        let results = try await read(
            ids.map { id in
                PostgresStatement(
                    """
                    SELECT 1 FROM id_map WHERE principal = $1 AND client_table = $2 AND backend_id = $3 AND is_public
                    """, [try .principal(principal), try .table(table), .recordID(id)])
            })
        return Set(zip(ids, results).filter { !$1.rows.isEmpty }.map(\.0))
    }
}

extension PostgresStatement {
    /// Writes the ids that the backend has given, in the transaction that records which operations were applied.
    ///
    /// A record that was created again has its new id from then on. If two of a client's ids map to one record of the
    /// backend, pulls use the first one; they never use an id that may have been the backend's own. A known mapping
    /// changes nothing. The principal's row is locked before.
    static func save(_ mappings: [IDMapping], of principal: Principal, at now: Instant) throws -> [PostgresStatement] {
        try mappings.map { mapping in
            for id in [mapping.clientID, mapping.backendID] {
                guard (1...RecordID.maximumLength).contains(id.utf8.count) else {
                    throw StateError.invalid("record id")
                }
            }
            return PostgresStatement(
                """
                WITH counted AS (
                    UPDATE principal SET id_sequence = id_sequence + 1 WHERE principal = $1 AND NOT EXISTS (
                        SELECT 1 FROM id_map
                        WHERE principal = $1 AND client_table = $2 AND client_id = $3 AND backend_id = $4)
                    RETURNING id_sequence
                )
                INSERT INTO id_map (principal, client_table, client_id, backend_id, is_public, sequence, made_at)
                SELECT $1, $2, $3, $4, $6 AND NOT EXISTS (
                    SELECT 1 FROM id_map WHERE principal = $1 AND client_table = $2 AND backend_id = $4
                        AND is_public AND client_id <> $3), id_sequence, $5
                FROM counted
                ON CONFLICT (principal, client_table, client_id) DO UPDATE SET
                    backend_id = excluded.backend_id, is_public = excluded.is_public, sequence = excluded.sequence,
                    made_at = excluded.made_at
                """,
                [
                    try .principal(principal), try .table(mapping.table), .recordID(mapping.clientID),
                    .recordID(mapping.backendID), .instant(now), .bool(!mapping.mayBeBackends),
                ])
        }
    }
}

extension StoredIDMapping {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            mapping: IDMapping(table: try row.text(0), clientID: try row.recordID(1), backendID: try row.recordID(2)),
            isPublic: try row.bool(3), sequence: try row.integer(4))
    }
}
