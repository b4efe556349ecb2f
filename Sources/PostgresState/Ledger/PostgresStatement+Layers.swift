// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore
import SyncModel

/// The kinds of layers; stored as numbers.
enum LayerKind: Int64, Sendable {
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

/// Writes layers, their chunks and their counts.
extension PostgresStatement {
    /// Creates a layer under a number that the sequence of the table has given.
    static func makeLayer(
        _ id: Int64, _ kind: LayerKind, of replica: ReplicaID, principal: Principal, cursor: Cursor, at now: Instant
    ) throws -> PostgresStatement {
        PostgresStatement(
            "INSERT INTO layer (id, principal, replica, kind, cursor, made_at) VALUES ($1, $2, $3, $4, $5, $6)",
            [
                .integer(id), try .principal(principal), .integer(replica.rawValue), .integer(kind.rawValue),
                .cursor(cursor), .instant(now),
            ])
    }

    /// Adds chunks to a layer; it is the caller's mistake if a chunk begins like another one of its table.
    static func add(_ chunks: [LedgerChunk], to layer: Int64, limit: Int) throws(StateError) -> [PostgresStatement] {
        guard !chunks.isEmpty else { return [] }
        var statements: [PostgresStatement] = []
        for chunk in chunks {
            guard chunk.bytes.count <= limit else { throw .tooLarge("ledger chunk") }
            statements.append(
                PostgresStatement(
                    "INSERT INTO chunk (layer, client_table, first, entries, bytes) VALUES ($1, $2, $3, $4, $5)",
                    [
                        .integer(layer), try .table(chunk.table), .bytes(chunk.first.bytes), .int(chunk.entries),
                        .bytes(chunk.bytes),
                    ]))
        }
        return statements + [
            PostgresStatement(
                "UPDATE layer SET chunks = chunks + $2 WHERE id = $1", [.integer(layer), .int(chunks.count)])
        ]
    }

    /// Adds to the counts of a layer.
    static func count(_ counts: [String: LedgerCount], in layer: Int64) throws -> [PostgresStatement] {
        try counts.sorted { $0.key < $1.key }.map { table, count in
            PostgresStatement(
                """
                INSERT INTO layer_count (layer, client_table, held, entries, bytes) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT (layer, client_table) DO UPDATE SET held = layer_count.held + $3,
                    entries = layer_count.entries + $4, bytes = layer_count.bytes + $5
                """,
                [
                    .integer(layer), try .table(table), .int(count.held), .int(count.entries), .int(count.bytes),
                ])
        }
    }

    /// Detaches a delta from its cursor, and from the replica if no other cursor shares it.
    ///
    /// - Parameters:
    ///   - layer: The delta.
    ///   - cursor: The cursor, which rests on `below` from now on.
    ///   - principal: The principal that the cursor belongs to.
    ///   - below: The cursor itself if the base has the delta now; nil if nothing is known exactly any more.
    ///   - now: The time at which the delta is detached.
    /// - Returns: The statements.
    /// - Throws: ``StateError/invalid(_:)`` for a principal that no store accepts.
    static func drop(
        layer: Int64, of cursor: Int64, _ principal: Principal, below: Int64?, at now: Instant
    ) throws -> [PostgresStatement] {
        [
            PostgresStatement(
                """
                UPDATE cursor SET layer = NULL, below = $3, exact = exact AND $3::bigint IS NOT NULL
                WHERE principal = $1 AND cursor = $2
                """, [try .principal(principal), .integer(cursor), .integer(below)]),
            PostgresStatement(
                """
                UPDATE layer SET replica = NULL, made_at = $2
                WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM cursor WHERE layer = $1)
                """, [.integer(layer), .instant(now)]),
        ]
    }
}

extension PostgresRow {
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
