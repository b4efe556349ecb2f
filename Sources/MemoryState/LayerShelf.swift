// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Keeps the chunks of all ledgers by layer, readable as long as an outline that names them may still be in use.
struct LayerShelf: Sendable {
    /// The kinds of layers.
    enum Kind: Sendable {
        /// A layer that is filled in steps, and that is invisible before a commit names it.
        case staged
        /// The state of a replica at the newest cursor that was compacted.
        case base
        /// The entries that a cursor added to those below it.
        case delta
        /// The entries that the base held before a cursor was compacted into it.
        case undo
    }

    struct Layer: Sendable {
        var kind: Kind
        /// The replica; nil while the layer is staged, and again when it is no longer needed.
        var replica: ReplicaID?
        var cursor: Cursor?
        var madeAt: Instant
        /// The chunks in the order of table and first hash.
        var chunks: [StoredChunk] = []
        var counts: [String: LedgerCount] = [:]

        var isStaged: Bool { kind == .staged && replica == nil }

        func chunks(of table: String) -> [StoredChunk] { chunks.filter { $0.chunk.table == table } }

        mutating func count(_ added: [String: LedgerCount]) {
            for (table, count) in added { counts[table, default: LedgerCount()].add(count) }
        }
    }

    private(set) var lastLayer: Int64 = 0
    private var lastChunk: Int64 = 0
    var layers: [LayerID: Layer] = [:]

    mutating func makeLayer(_ kind: Kind, of replica: ReplicaID?, cursor: Cursor?, at now: Instant) -> LayerID {
        lastLayer += 1
        layers[LayerID(rawValue: lastLayer)] = Layer(kind: kind, replica: replica, cursor: cursor, madeAt: now)
        return LayerID(rawValue: lastLayer)
    }

    mutating func add(_ chunks: [LedgerChunk], to id: LayerID, limit: Int) throws(StateError) {
        guard var layer = layers[id] else { throw .ledgerChanged }
        for chunk in chunks {
            guard chunk.bytes.count <= limit else { throw .tooLarge("ledger chunk") }
            _ = try key(chunk.table, "table")
            guard !layer.chunks.contains(where: { $0.chunk.table == chunk.table && $0.chunk.first == chunk.first })
            else { throw .failed("two chunks of a layer begin with the same hash") }
            lastChunk += 1
            layer.chunks.append(StoredChunk(id: lastChunk, chunk: chunk))
        }
        layer.chunks.sort { ($0.chunk.table, $0.chunk.first) < ($1.chunk.table, $1.chunk.first) }
        layers[id] = layer
    }

    /// Detaches a layer from its replica; it can be read until it is collected.
    mutating func loosen(_ id: LayerID, at now: Instant) {
        layers[id]?.replica = nil
        layers[id]?.madeAt = now
    }

    /// Deletes the layers that have belonged to no replica since before a time.
    ///
    /// - Returns: The number of chunks and layers deleted.
    mutating func collect(before time: Instant) -> Int {
        let gone = layers.filter { $0.value.replica == nil && $0.value.madeAt < time }
        for id in gone.keys { layers[id] = nil }
        return gone.values.reduce(0) { $0 + $1.chunks.count + 1 }
    }

    /// Returns the layers of a replica, in the order in which they were made.
    func layers(of replica: ReplicaID) -> [(id: LayerID, layer: Layer)] {
        layers.filter { $0.value.replica == replica }.map { ($0.key, $0.value) }
            .sorted { $0.id.rawValue < $1.id.rawValue }
    }
}

extension LedgerCount {
    mutating func add(_ other: LedgerCount) {
        held += other.held
        entries += other.entries
        bytes += other.bytes
    }
}
