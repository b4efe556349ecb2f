// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import SyncModel

/// Layers in memory, that count what is read of them.
actor MemoryLedger: LedgerSource {
    private struct Place: Hashable {
        var layer: LedgerLayer
        var table: String
    }

    private var layers: [Place: [NumberedChunk]] = [:]
    private var lastNumber: Int64 = 0
    private(set) var lookups = 0
    private(set) var walks = 0
    private(set) var chunksRead = 0
    private(set) var tablesRead: Set<String> = []

    func chunk(holding id: IDHash, in table: String, of layer: LedgerLayer) -> NumberedChunk? {
        lookups += 1
        tablesRead.insert(table)
        let found = stored(layer, table).last { !(id < $0.chunk.first) }
        chunksRead += found == nil ? 0 : 1
        return found
    }

    func chunks(after first: IDHash?, in table: String, of layer: LedgerLayer, limit: Int) -> [NumberedChunk] {
        walks += 1
        tablesRead.insert(table)
        let all = stored(layer, table)
        let start = first.map { first in all.firstIndex { first < $0.chunk.first } ?? all.count } ?? 0
        chunksRead += min(limit, all.count - start)
        return Array(all[start...].prefix(limit))
    }

    func stored(_ layer: LedgerLayer, _ table: String) -> [NumberedChunk] {
        layers[Place(layer: layer, table: table)] ?? []
    }

    func chunks(of layer: LedgerLayer) -> [LedgerChunk] {
        layers.filter { $0.key.layer == layer }.flatMap(\.value).map(\.chunk)
    }

    func add(_ chunks: [LedgerChunk], to layer: LedgerLayer) {
        for chunk in chunks {
            lastNumber += 1
            let place = Place(layer: layer, table: chunk.table)
            let index = layers[place]?.firstIndex { chunk.first < $0.chunk.first } ?? layers[place]?.count ?? 0
            layers[place, default: []].insert(NumberedChunk(number: lastNumber, chunk: chunk), at: index)
        }
    }

    func remove(_ layer: LedgerLayer) {
        for place in layers.keys where place.layer == layer { layers[place] = nil }
    }

    /// How many of these there were.
    func remove(_ numbers: [Int64], from layer: LedgerLayer) -> Int {
        let numbers = Set(numbers)
        var removed = 0
        for place in layers.keys where place.layer == layer {
            let before = layers[place]?.count ?? 0
            layers[place]?.removeAll { numbers.contains($0.number) }
            removed += before - (layers[place]?.count ?? 0)
        }
        return removed
    }

    func forgetCounts() {
        lookups = 0
        walks = 0
        chunksRead = 0
        tablesRead = []
    }
}

extension LedgerLayer {
    /// A layer that the source knows by its number alone; each has a cursor of its own.
    init(_ number: Int64) { self.init(id: LayerID(rawValue: number), cursor: Cursor(rawValue: number) ?? .first) }
}

extension PreloadedChunks {
    /// The chunks of some layers.
    init(_ layers: [(LedgerLayer, [LedgerChunk])]) {
        self.init()
        for (layer, chunks) in layers {
            append(chunks.map { NumberedChunk(number: 0, chunk: $0) }, of: [(layer.id, chunks.count)])
        }
    }
}
