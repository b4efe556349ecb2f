// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

extension MemoryStateStore {
    /// Finds the last chunk whose first hash is not greater than the id's.
    package func ledgerChunk(layer: LayerID, table: String, holding id: IDHash) async throws -> StoredChunk? {
        try await read { contents in
            let table = try key(table, "table")
            return contents.shelf.layers[layer]?.chunks(of: table).last { $0.chunk.first <= id }
        }
    }

    /// Returns the chunks of a table, at most 1,000 at a time.
    package func ledgerChunks(
        layer: LayerID, table: String, after first: IDHash?, limit: Int
    ) async throws -> [StoredChunk] {
        try await read { contents in
            let table = try key(table, "table")
            let chunks = contents.shelf.layers[layer]?.chunks(of: table) ?? []
            let rest = chunks.filter { chunk in first.map { chunk.chunk.first > $0 } ?? true }
            return Array(rest.prefix(min(max(0, limit), 1_000)))
        }
    }

    /// Returns all chunks of small layers.
    package func ledgerChunks(of layers: [LayerID], limit: Int) async throws -> LedgerLayers {
        try await read { contents in
            var found = LedgerLayers()
            for id in layers {
                guard let layer = contents.shelf.layers[id] else { continue }
                if layer.chunks.count > limit {
                    found.large.insert(id)
                } else {
                    found.chunks[id] = layer.chunks.map(\.chunk)
                }
            }
            return found
        }
    }

    /// Creates a staged layer.
    package func stageLayer(at now: Instant) async throws -> LayerID {
        try await write { $0.shelf.makeLayer(.staged, of: nil, cursor: nil, at: now) }
    }

    /// Adds chunks to a staged layer.
    package func stage(_ chunks: [LedgerChunk], in layer: LayerID) async throws {
        try await write { contents in
            guard contents.shelf.layers[layer]?.isStaged == true else { throw StateError.ledgerChanged }
            try contents.shelf.add(chunks, to: layer, limit: contents.limits.chunkBytes)
        }
    }

    /// Returns the deltas that are not in the base yet.
    package func compactableDeltas(replica: ReplicaID, upTo cursor: Cursor) async throws -> [CompactableDelta] {
        try await read { try $0.compactableDeltas(replica, upTo: cursor) }
    }

    /// Merges a part of the deltas into the base.
    package func compactBatch(_ compaction: LedgerCompactionBatch, at now: Instant) async throws -> Int {
        try await write { try $0.compact(compaction, at: now) }
    }

    /// Outlines each ledger at the cursors that its device is likely to present next.
    package func ledgers(of principal: Principal) async throws -> [LedgerOutline] {
        try await read { contents in
            contents.replicas(of: principal).filter { $0.replica.ledger.base != nil }.flatMap { id, replica in
                guard let tip = replica.tip else {
                    return [contents.newestCursor(of: id)].compactMap { contents.outline(of: id, at: $0) }
                }
                let children = contents.owners[principal]?.cursors.values
                    .filter { $0.row.replica == id && $0.row.parent == tip }.map(\.row.cursor)
                return [tip, children?.max()].compactMap { $0 }.compactMap { contents.outline(of: id, at: $0) }
            }
        }
    }

    /// Outlines a ledger at the tip if there is one, otherwise at the newest cursor.
    package func ledger(of replica: ReplicaID) async throws -> LedgerOutline? {
        try await read { contents in
            contents.outline(of: replica, at: contents.replicas[replica]?.tip ?? contents.newestCursor(of: replica))
        }
    }

    /// Allows the deletions that earlier comparisons held back.
    package func acceptDeletions(replica: ReplicaID, at now: Instant) async throws {
        try await write { contents in
            guard let known = contents.replicas[replica] else { throw StateError.replicaUnknown(replica) }
            contents.replicas[replica]?.acceptedAt = max(known.acceptedAt, now)
        }
    }

    /// Makes earlier comparisons due.
    package func resync(replica: ReplicaID, at now: Instant) async throws {
        // Cursors are compared with this time, and may run ahead of the clock.
        let now = now + cursorLead
        try await write { contents in
            guard let known = contents.replicas[replica] else { throw StateError.replicaUnknown(replica) }
            contents.replicas[replica]?.resyncAt = max(known.resyncAt, now)
        }
    }

    /// Forgets a replica.
    package func forget(replica: ReplicaID) async throws -> Bool {
        try await write { contents in
            defer { contents.kill(replica) }
            return contents.replicas[replica] != nil
        }
    }
}
