// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine
import SyncModel

/// The layers of all ledgers, as they are at one moment.
struct SimulatedLayers: LedgerSource {
    private var tables: [LayerID: [String: [NumberedChunk]]] = [:]
    private var counts: [LayerID: [String: LedgerCount]] = [:]
    private var lastLayer: Int64 = 0
    private var lastChunk: Int64 = 0

    /// The layer that was made last.
    var newest: LayerID { LayerID(rawValue: lastLayer) }

    func chunk(layer: LayerID, table: String, holding id: IDHash) -> NumberedChunk? {
        tables[layer]?[table]?.last { !(id < $0.chunk.first) }
    }

    func chunks(layer: LayerID, table: String, after first: IDHash?, limit: Int) -> [NumberedChunk] {
        let all = tables[layer]?[table] ?? []
        let start = first.map { first in all.firstIndex { first < $0.chunk.first } ?? all.count } ?? 0
        return Array(all[start...].prefix(limit))
    }

    /// All of a layer, of all tables.
    func chunks(of layer: LayerID) -> [LedgerChunk] { (tables[layer] ?? [:]).values.joined().map(\.chunk) }

    func count(of layers: [LayerID], table: String) -> Int {
        layers.reduce(0) { $0 + (counts[$1]?[table]?.held ?? 0) }
    }

    /// Makes a layer.
    mutating func add(_ chunks: [LedgerChunk], counts: [String: LedgerCount] = [:]) -> LayerID {
        lastLayer += 1
        let layer = LayerID(rawValue: lastLayer)
        self.counts[layer] = counts
        tables[layer] = [:]
        append(chunks, to: layer)
        return layer
    }

    mutating func append(_ chunks: [LedgerChunk], to layer: LayerID) {
        for chunk in chunks {
            lastChunk += 1
            var row = tables[layer]?[chunk.table] ?? []
            let index = row.firstIndex { chunk.first < $0.chunk.first } ?? row.count
            row.insert(NumberedChunk(number: lastChunk, chunk: chunk), at: index)
            tables[layer, default: [:]][chunk.table] = row
        }
    }

    /// Takes chunks away; false where one of them was not there.
    mutating func remove(_ numbers: [Int64], from layer: LayerID) -> Bool {
        let numbers = Set(numbers)
        var removed = 0
        for (table, row) in tables[layer] ?? [:] {
            let left = row.filter { !numbers.contains($0.number) }
            removed += row.count - left.count
            tables[layer]?[table] = left
        }
        return removed == numbers.count
    }

    mutating func count(_ changes: [String: LedgerCount], in layer: LayerID) {
        for (table, change) in changes {
            counts[layer, default: [:]][table, default: LedgerCount()].held += change.held
        }
    }

    mutating func remove(_ layer: LayerID) {
        tables[layer] = nil
        counts[layer] = nil
    }
}

// A simulation runs in one task; nothing else ever sees the box.
/// The layers as they are now, for a compaction that changes them while it reads.
final class SimulatedLayerBox: LedgerSource, @unchecked Sendable {
    var layers: SimulatedLayers

    init(_ layers: SimulatedLayers) { self.layers = layers }

    func chunk(layer: LayerID, table: String, holding id: IDHash) -> NumberedChunk? {
        layers.chunk(layer: layer, table: table, holding: id)
    }

    func chunks(layer: LayerID, table: String, after first: IDHash?, limit: Int) -> [NumberedChunk] {
        layers.chunks(layer: layer, table: table, after: first, limit: limit)
    }
}
