// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StateStore
import SyncModel

/// What a layer is; stored as the number.
enum LayerKind: Int64, Sendable, Hashable, DatabaseValueConvertible {
    /// Filled in steps, and seen by nobody before a commit names it.
    case staged = 0
    /// The state of a replica at the newest cursor that was compacted.
    case base = 1
    /// What a cursor added to those below it.
    case delta = 2
    /// What the base held before a cursor was compacted into it.
    case undo = 3
    /// Its chunks are being deleted: no commit can name it any more.
    case vanishing = 4
}

/// Layers, their chunks and what is counted of them.
extension Database {
    /// Makes a layer without chunks.
    func makeLayer(
        _ kind: LayerKind, replica: ReplicaID?, cursor: SyncModel.Cursor?, at now: Int64
    ) throws -> Int64 {
        try run(
            "INSERT INTO layer (replica, kind, cursor, made_at) VALUES (?, ?, ?, ?)",
            [replica?.rawValue, kind, cursor?.rawValue, now])
        return lastInsertedRowID
    }

    /// Puts chunks into a layer; one that begins like another of its table is a mistake of the caller.
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

    /// Adds to what is counted of a layer.
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

    /// What is counted of a layer, by table.
    func counts(of layer: Int64) throws -> [String: LedgerCount] {
        try rows("SELECT client_table, held, entries, bytes FROM layer_count WHERE layer = ?", [layer])
            .reduce(into: [:]) { counts, row in
                counts[try row.text(0)] = LedgerCount(
                    held: try row.amount(1), entries: try row.amount(2), bytes: try row.amount(3))
            }
    }

    /// Takes a layer from its replica; its chunks go later, in steps, when nobody can be reading them any more.
    func loosen(layer: Int64, at now: Int64) throws {
        try run("UPDATE layer SET replica = NULL, made_at = ? WHERE id = ?", [now, layer])
    }

    /// Takes a delta from its cursor, and from the replica where no other cursor shares it.
    ///
    /// - Parameters:
    ///   - layer: The delta.
    ///   - cursor: The cursor, which stands on `below` from now on.
    ///   - principal: Whose cursor it is.
    ///   - below: The cursor itself where the base has the delta now; nil where nothing is known exactly any more.
    ///   - now: When it became loose.
    /// - Throws: What SQLite throws.
    func drop(layer: Int64?, of cursor: Int64, _ principal: Int64, below: Int64?, at now: Int64) throws {
        try run(
            """
            UPDATE cursor SET layer = NULL, below = ?1, exact = CASE WHEN ?1 IS NULL THEN 0 ELSE exact END
            WHERE principal = ?2 AND cursor = ?3
            """, [below, principal, cursor])
        guard let layer, try !exists("SELECT 1 FROM cursor WHERE layer = ? LIMIT 1", [layer]) else { return }
        try loosen(layer: layer, at: now)
    }
}

extension Row {
    /// A chunk whose number, first hash, count and bytes are in the columns from `index` on.
    func chunk(of table: String, from index: Int) throws -> StoredChunk {
        guard let first = IDHash(bytes: try bytes(index + 1)) else {
            throw StateError.corrupt("a chunk of a ledger has no hash")
        }
        return StoredChunk(
            id: try integer(index),
            chunk: LedgerChunk(table: table, first: first, entries: try amount(index + 2), bytes: try bytes(index + 3)))
    }
}
