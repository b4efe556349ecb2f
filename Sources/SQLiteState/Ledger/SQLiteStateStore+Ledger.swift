// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Finds a chunk by one descent in the index of the chunks.
    package func ledgerChunk(layer: LayerID, table: String, holding id: IDHash) async throws -> StoredChunk? {
        try await readFew { db in
            try db.row(
                """
                SELECT id, first, entries, bytes FROM chunk WHERE layer = ? AND client_table = ? AND first <= ?
                ORDER BY first DESC LIMIT 1
                """, [layer.rawValue, key(table, "table"), Data(id.bytes)]
            ).map { try $0.chunk(of: table, from: 0) }
        }
    }

    /// Returns at most 1,000 chunks at a time, about 16 MiB; a few are read at hand.
    package func ledgerChunks(
        layer: LayerID, table: String, after first: IDHash?, limit: Int
    ) async throws -> [StoredChunk] {
        let body: @Sendable (Database) throws -> [StoredChunk] = { db in
            // No hash precedes the empty one.
            try db.rows(
                """
                SELECT id, first, entries, bytes FROM chunk WHERE layer = ? AND client_table = ? AND first > ?
                ORDER BY first LIMIT ?
                """,
                [
                    layer.rawValue, key(table, "table"), first.map { Data($0.bytes) } ?? Data(),
                    min(max(0, limit), 1_000),
                ]
            ).map { try $0.chunk(of: table, from: 0) }
        }
        return try await limit <= Self.chunksAtHand ? readFew(body) : read(body)
    }

    /// The most chunks that are read in the caller's thread at once: 128 KiB.
    private static let chunksAtHand = 8
    /// The most bytes of the chunks of several layers that are read in the caller's thread, but for one chunk.
    private static let bytesAtHand = 128 << 10

    /// Reads all layers in one consistent read: at hand if they are small, as most deltas are, with a few hundred bytes
    /// each; otherwise once more, on a queue.
    package func ledgerChunks(of layers: [LayerID], limit: Int) async throws -> LedgerLayers {
        let small: LedgerLayers? = try await readFew { db in
            var room = Self.bytesAtHand
            let found = try db.chunks(of: layers, chunkLimit: limit, room: &room)
            return room < 0 ? nil : found
        }
        if let small { return small }
        return try await read { db in
            var room = Int.max
            return try db.chunks(of: layers, chunkLimit: limit, room: &room)
        }
    }

    /// Returns ledgers in the order of the replicas' numbers, those of at most 1,000 replicas.
    package func ledgers(of principal: Principal) async throws -> [LedgerOutline] {
        try await read { db in
            guard let owner = try db.principalID(principal) else { return [] }
            return try db.rows(
                "SELECT id FROM replica WHERE principal = ? AND base IS NOT NULL ORDER BY id LIMIT 1000", [owner]
            ).flatMap { row -> [LedgerOutline] in
                guard let anchor = try db.anchor(of: ReplicaID(rawValue: try row.integer(0))) else { return [] }
                return try db.presentable(of: anchor).map { try db.outline(of: anchor, at: $0) }
            }
        }
    }

    /// Returns the ledger at the tip if there is one, otherwise at the newest cursor.
    package func ledger(of replica: ReplicaID) async throws -> LedgerOutline? {
        try await readFew { db in
            try db.anchor(of: replica).map { anchor in
                try db.outline(of: anchor, at: anchor.tip ?? db.newestCursor(of: replica))
            }
        }
    }

    /// Stores the time in the replica's row: deletions that earlier comparisons held back may be sent.
    package func acceptDeletions(replica: ReplicaID, at now: Instant) async throws {
        try await write { db in
            try db.run(
                "UPDATE replica SET accepted_at = max(accepted_at, ?) WHERE id = ? AND dead = 0",
                [now, replica.rawValue])
            guard db.changesCount == 1 else { throw StateError.replicaUnknown(replica) }
        }
    }

    /// Stores the time in the replica's row: earlier full comparisons count as due.
    package func resync(replica: ReplicaID, at now: Instant) async throws {
        // Cursors are compared with this time, and may run ahead of the clock.
        let now = now + cursorLead
        try await write { db in
            try db.run(
                "UPDATE replica SET resync_at = max(resync_at, ?) WHERE id = ? AND dead = 0", [now, replica.rawValue])
            guard db.changesCount == 1 else { throw StateError.replicaUnknown(replica) }
        }
    }

    /// Marks a replica as dead; its rows are deleted by the next collections.
    package func forget(replica: ReplicaID) async throws -> Bool {
        try await write { db in
            guard try db.exists("SELECT 1 FROM replica WHERE id = ? AND dead = 0", [replica.rawValue]) else {
                return false
            }
            try db.kill(replica.rawValue)
            return true
        }
    }
}

extension Database {
    /// Returns the cursors that a replica's device is likely to present next: its tip, and the newest one made from the
    /// tip.
    fileprivate func presentable(of anchor: LedgerAnchor) throws -> [SyncModel.Cursor] {
        guard let tip = anchor.tip else { return try newestCursor(of: anchor.replica).map { [$0] } ?? [] }
        let child = try integer(
            "SELECT max(cursor) FROM cursor WHERE replica = ? AND parent = ?",
            [anchor.replica.rawValue, tip.rawValue])
        return [tip] + [child.flatMap(SyncModel.Cursor.init(rawValue:))].compactMap { $0 }
    }

    /// Returns the newest cursor that was handed out to a replica.
    func newestCursor(of replica: ReplicaID) throws -> SyncModel.Cursor? {
        try integer("SELECT max(cursor) FROM cursor WHERE replica = ?", [replica.rawValue])
            .flatMap(SyncModel.Cursor.init(rawValue:))
    }
}
