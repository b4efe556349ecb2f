// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// The chunks of all ledgers by layer, readable while anybody may still hold an outline that names them.
struct LayerShelf: Sendable {
    /// What a layer is for.
    enum Kind: Sendable {
        /// Filled in steps, and seen by nobody before a commit names it.
        case staged
        /// What a replica held at the newest cursor that was compacted.
        case base
        /// What a cursor added to those below it.
        case delta
        /// What the base held before a cursor was compacted into it.
        case undo
    }

    struct Layer: Sendable {
        var kind: Kind
        /// Nil while it is staged, and again when nothing needs it any more.
        var replica: ReplicaID?
        var cursor: Cursor?
        var madeAt: Int64
        /// By table and first hash.
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

    mutating func makeLayer(_ kind: Kind, of replica: ReplicaID?, cursor: Cursor?, at now: Int64) -> LayerID {
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

    /// Takes a layer from its replica; it can be read until it is collected.
    mutating func loosen(_ id: LayerID, at now: Int64) {
        layers[id]?.replica = nil
        layers[id]?.madeAt = now
    }

    /// Takes away the layers that belong to nothing since before a time.
    ///
    /// - Returns: How many chunks and layers that was.
    mutating func collect(before time: Int64) -> Int {
        let gone = layers.filter { $0.value.replica == nil && $0.value.madeAt < time }
        for id in gone.keys { layers[id] = nil }
        return gone.values.reduce(0) { $0 + $1.chunks.count + 1 }
    }

    /// The layers of a replica, in the order in which they were made.
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
