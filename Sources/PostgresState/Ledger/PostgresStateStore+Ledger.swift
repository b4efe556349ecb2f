// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Finds a chunk by one descent in the index of the chunks.
    package func ledgerChunk(layer: LayerID, table: String, holding id: IDHash) async throws -> StoredChunk? {
        try await read([
            PostgresStatement(
                """
                SELECT id, first, entries, bytes FROM chunk WHERE layer = $1 AND client_table = $2 AND first <= $3
                ORDER BY first DESC LIMIT 1
                """, [.integer(layer.rawValue), .table(table), .bytes(id.bytes)])
        ]).row(0).map { try $0.chunk(of: table, from: 0) }
    }

    /// Returns at most 1,000 chunks at a time, about 16 MiB.
    package func ledgerChunks(
        layer: LayerID, table: String, after first: IDHash?, limit: Int
    ) async throws -> [StoredChunk] {
        // No hash precedes the empty one.
        try await read([
            PostgresStatement(
                """
                SELECT id, first, entries, bytes FROM chunk WHERE layer = $1 AND client_table = $2 AND first > $3
                ORDER BY first LIMIT $4
                """,
                [
                    .integer(layer.rawValue), .table(table), .bytes(first?.bytes ?? []),
                    .int(min(max(0, limit), 1_000)),
                ])
        ]).rows(0).map { try $0.chunk(of: table, from: 0) }
    }

    /// Reads all layers in one consistent read and one round trip.
    package func ledgerChunks(of layers: [LayerID], limit: Int) async throws -> LedgerLayers {
        guard !layers.isEmpty else { return LedgerLayers() }
        return try Self.found(layers, limit: limit, in: await read(Self.readAll(layers, limit))[...])
    }

    /// Reads layers and notes in one round trip.
    package func diffBasis(
        layers: [LayerID], chunkLimit: Int, notesOf principal: Principal, after sequence: Int64, noteLimit: Int
    ) async throws -> (layers: LedgerLayers, notes: [PushNote]) {
        let results = try await read(
            [Self.readNotes(of: principal, after: sequence, limit: noteLimit)] + Self.readAll(layers, chunkLimit))
        return (
            try Self.found(layers, limit: chunkLimit, in: results.dropFirst()),
            try results.rows(0).map { try $0.pushNote() }.reversed()
        )
    }

    /// True: the database is another machine, or might be.
    package var readsAreRoundTrips: Bool { true }

    private static func readAll(_ layers: [LayerID], _ limit: Int) -> [PostgresStatement] {
        layers.map { layer in
            PostgresStatement(
                """
                SELECT l.chunks, c.client_table, c.id, c.first, c.entries, c.bytes
                FROM layer l LEFT JOIN chunk c ON c.layer = l.id AND l.chunks <= $2
                WHERE l.id = $1 ORDER BY c.client_table, c.first
                """, [.integer(layer.rawValue), .int(limit)])
        }
    }

    private static func found(
        _ layers: [LayerID], limit: Int, in results: ArraySlice<PostgresResult>
    ) throws -> LedgerLayers {
        var found = LedgerLayers()
        for (layer, result) in zip(layers, results) {
            guard let first = result.rows.first else { continue }
            if try first.integer(0) > Int64(limit) {
                found.large.insert(layer)
            } else {
                found.chunks[layer] = try result.rows.compactMap { row in
                    try row.optionalText(1).map { try row.chunk(of: $0, from: 2).chunk }
                }
            }
        }
        return found
    }

    /// Returns ledgers in the order of the replicas' numbers, those of at most 1,000 replicas, in two round trips.
    package func ledgers(of principal: Principal) async throws -> [LedgerOutline] {
        try await transaction(.readOnly) { transaction in
            let rows = try await transaction.query(try Self.presentable(principal)).rows
            let ledgers = try rows.flatMap { row in
                let anchor = try LedgerAnchor(row)
                let cursors = try anchor.tip.map { [$0, try row.cursor(13)] } ?? [try row.cursor(12)]
                return cursors.compactMap { $0 }.map { (anchor, $0) }
            }
            guard !ledgers.isEmpty else { return [] }
            let chains = try await transaction.pipeline(
                try ledgers.map { try .chain(from: $0.1, of: principal) })
            return try zip(ledgers, chains).map { try LedgerChain($1.rows).outline($0.0) }
        }
    }

    /// Reads a principal's ledgers with the cursors that their devices are likely to present next: the newest one, for
    /// those without a tip, and the newest one made from the tip.
    private static func presentable(_ principal: Principal) throws -> PostgresStatement {
        PostgresStatement(
            """
            SELECT \(LedgerAnchor.columns),
                (SELECT max(c.cursor) FROM cursor c WHERE c.principal = $1 AND c.replica = r.id),
                (SELECT max(c.cursor) FROM cursor c
                    WHERE c.principal = $1 AND c.replica = r.id AND c.cursor > r.tip AND c.parent = r.tip)
            FROM replica r WHERE r.principal = $1 AND r.base IS NOT NULL AND NOT r.dead ORDER BY r.id LIMIT 1000
            """, [try .principal(principal)])
    }

    /// Returns the ledger at the tip if there is one, otherwise at the newest cursor.
    package func ledger(of replica: ReplicaID) async throws -> LedgerOutline? {
        try await transaction(.readOnly) { transaction in
            let row = try await transaction.query(
                PostgresStatement(
                    """
                    SELECT \(LedgerAnchor.columns), coalesce(r.tip, (
                        SELECT max(c.cursor) FROM cursor c WHERE c.principal = r.principal AND c.replica = r.id))
                    FROM replica r WHERE r.id = $1 AND NOT r.dead
                    """, [.integer(replica.rawValue)])
            ).rows.first
            guard let row else { return nil }
            let anchor = try LedgerAnchor(row)
            guard let cursor = try row.cursor(12) else { return anchor.outline }
            let chain = try await transaction.query(try .chain(from: cursor, of: anchor.principal))
            return try LedgerChain(chain.rows).outline(anchor)
        }
    }

    /// Stores the time in the replica's row: deletions that earlier comparisons held back may be sent.
    package func acceptDeletions(replica: ReplicaID, at now: Instant) async throws {
        let results = try await write([
            PostgresStatement(
                "UPDATE replica SET accepted_at = greatest(accepted_at, $2) WHERE id = $1 AND NOT dead",
                [.integer(replica.rawValue), .instant(now)])
        ])
        guard results.first?.count == 1 else { throw StateError.replicaUnknown(replica) }
    }

    /// Stores the time in the replica's row: earlier full comparisons count as due.
    package func resync(replica: ReplicaID, at now: Instant) async throws {
        // Cursors are compared with this time, and may run ahead of the clock.
        let results = try await write([
            PostgresStatement(
                "UPDATE replica SET resync_at = greatest(resync_at, $2) WHERE id = $1 AND NOT dead",
                [.integer(replica.rawValue), .instant(now + cursorLead)])
        ])
        guard results.first?.count == 1 else { throw StateError.replicaUnknown(replica) }
    }

    /// Marks a replica as dead; its rows are deleted by the next collections.
    package func forget(replica: ReplicaID) async throws -> Bool {
        try await write([.kill(replica.rawValue)]).first?.count == 1
    }
}

extension PostgresStatement {
    /// Hides a replica; its rows are deleted by collections, in batches.
    ///
    /// Its cursors are unknown from now on, its ledger belongs to no device, and a pull in progress finds the replica
    /// gone when it commits.
    static func kill(_ replica: Int64) -> PostgresStatement {
        PostgresStatement(
            "UPDATE replica SET dead = true, tip = NULL, base = NULL, compacted = NULL WHERE id = $1 AND NOT dead",
            [.integer(replica)])
    }
}
