// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StateStore
import SyncModel

/// The kinds of layers; stored as numbers.
enum LayerKind: Int64, Sendable, Hashable, DatabaseValueConvertible {
    /// A layer that is filled in steps, and that is invisible before a commit names it.
    case staged = 0
    /// The state of a replica at the newest cursor that was compacted.
    case base = 1
    /// The entries that a cursor added to those below it.
    case delta = 2
    /// The entries that the base held before a cursor was compacted into it.
    case undo = 3
    /// A layer whose chunks are being deleted: no commit can name it any more.
    case vanishing = 4
}

/// Reads and writes layers, their chunks and their counts.
extension Database {
    /// Creates a layer without chunks.
    func makeLayer(
        _ kind: LayerKind, replica: ReplicaID?, cursor: SyncModel.Cursor?, at now: Instant
    ) throws -> Int64 {
        try run(
            "INSERT INTO layer (replica, kind, cursor, made_at) VALUES (?, ?, ?, ?)",
            [replica?.rawValue, kind, cursor?.rawValue, now])
        return lastInsertedRowID
    }

    /// Adds chunks to a layer; it is the caller's mistake if a chunk begins like another one of its table.
    func add(_ chunks: [LedgerChunk], to layer: Int64, limit: Int) throws {
        guard !chunks.isEmpty else { return }
        for chunk in chunks {
            guard chunk.bytes.count <= limit else { throw StateError.tooLarge("ledger chunk") }
            try run(
                "INSERT INTO chunk (layer, client_table, first, entries, bytes) VALUES (?, ?, ?, ?, ?)",
                [
                    layer, key(chunk.table, "table"), Data(chunk.first.bytes), chunk.entries, Data(chunk.bytes),
                ])
        }
        try run("UPDATE layer SET chunks = chunks + ? WHERE id = ?", [chunks.count, layer])
    }

    /// Returns the chunks of layers; a layer that has more than `chunkLimit` is only named.
    ///
    /// `room` is the number of bytes that the chunks may have together, and in the end what is left of it. If they have
    /// more, it is negative, and the rest is missing.
    func chunks(of layers: [LayerID], chunkLimit: Int, room: inout Int) throws -> LedgerLayers {
        var found = LedgerLayers()
        for layer in layers where room >= 0 {
            let rows = try rows(
                // With a comparison beside the join, SQLite would go through all chunks of a large layer.
                """
                SELECT l.chunks, c.client_table, c.id, c.first, c.entries, c.bytes
                FROM layer l LEFT JOIN chunk c ON c.layer = CASE WHEN l.chunks <= ?2 THEN l.id END
                WHERE l.id = ?1 ORDER BY c.client_table, c.first
                """, [layer.rawValue, chunkLimit]
            ) { row in
                room -= row.byteCount(5)
                return room >= 0
            }
            guard let first = rows.first else { continue }
            if try first.integer(0) > chunkLimit {
                found.large.insert(layer)
            } else {
                found.chunks[layer] = try rows.compactMap { row in
                    try row.optionalText(1).map { try row.chunk(of: $0, from: 2).chunk }
                }
            }
        }
        return found
    }

    /// Adds to the counts of a layer.
    func count(_ counts: [String: LedgerCount], in layer: Int64) throws {
        for (table, count) in counts {
            try run(
                """
                INSERT INTO layer_count (layer, client_table, held, entries, bytes) VALUES (?1, ?2, ?3, ?4, ?5)
                ON CONFLICT (layer, client_table)
                DO UPDATE SET held = held + ?3, entries = entries + ?4, bytes = bytes + ?5
                """, [layer, key(table, "table"), count.held, count.entries, count.bytes])
        }
    }

    /// Returns the counts of a layer, by table.
    func counts(of layer: Int64) throws -> [String: LedgerCount] {
        try rows("SELECT client_table, held, entries, bytes FROM layer_count WHERE layer = ?", [layer])
            .reduce(into: [:]) { counts, row in
                counts[try row.text(0)] = LedgerCount(
                    held: try row.amount(1), entries: try row.amount(2), bytes: try row.amount(3))
            }
    }

    /// Detaches a layer from its replica; its chunks are deleted later, in steps, when no read can still use them.
    func loosen(layer: Int64, at now: Instant) throws {
        try run("UPDATE layer SET replica = NULL, made_at = ? WHERE id = ?", [now, layer])
    }

    /// Detaches a delta from its cursor, and from the replica if no other cursor shares it.
    ///
    /// - Parameters:
    ///   - layer: The delta.
    ///   - cursor: The cursor, which rests on `below` from now on.
    ///   - principal: The principal that the cursor belongs to.
    ///   - below: The cursor itself if the base has the delta now; nil if nothing is known exactly any more.
    ///   - now: The time at which the delta is detached.
    /// - Throws: The errors of SQLite.
    func drop(layer: Int64?, of cursor: Int64, _ principal: Int64, below: Int64?, at now: Instant) throws {
        try run(
            """
            UPDATE cursor SET layer = NULL, below = ?1, exact = CASE WHEN ?1 IS NULL THEN 0 ELSE exact END
            WHERE principal = ?2 AND cursor = ?3
            """, [below, principal, cursor])
        guard let layer, try !exists("SELECT 1 FROM cursor WHERE layer = ? LIMIT 1", [layer]) else { return }
        try loosen(layer: layer, at: now)
    }
}

extension StoredRow {
    /// Reads a chunk whose number, first hash, count and bytes are in the columns from `index` on.
    func chunk(of table: String, from index: Int) throws -> StoredChunk {
        guard let first = IDHash(bytes: try bytes(index + 1)) else {
            throw StateError.corrupt("a chunk of a ledger has no hash")
        }
        return StoredChunk(
            id: try integer(index),
            chunk: LedgerChunk(table: table, first: first, entries: try amount(index + 2), bytes: try bytes(index + 3)))
    }
}
