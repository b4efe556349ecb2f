// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

extension LedgerLayer: Coded {
    package init() { self.init(id: LayerID(rawValue: 0), cursor: .first) }

    package mutating func code(with coder: inout Coder) throws(StateError) {
        var number = id.rawValue
        try coder.code(&number)
        id = LayerID(rawValue: number)
        try coder.code(&cursor)
        var tables = Dictionary(grouping: chunks, by: \.table)
        try coder.code(&tables)
        if coder.isReading {
            chunks = tables.sorted { $0.key < $1.key }.flatMap { table, chunks in
                chunks.map { chunk in
                    var chunk = chunk
                    chunk.table = table
                    return chunk
                }
            }
        }
        try coder.code(&counts)
    }
}

extension ChunkHead: Coded {
    package init() { self.init(table: "", first: .first, entries: 0, number: 0, size: 0) }

    /// Codes all but the table.
    package mutating func code(with coder: inout Coder) throws(StateError) {
        var (high, low) = (first.high, first.low)
        try coder.code(whole: &high)
        try coder.code(whole: &low)
        first = IDHash(low: low, high: high)
        try coder.code(&entries)
        try coder.code(&number)
        try coder.code(&size)
        try coder.code(&named)
        try coder.code(&bytes)
    }
}

extension LedgerCount: Coded {
    package init() { self.init(held: 0, entries: 0) }

    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&held)
        try coder.code(&entries)
        try coder.code(&bytes)
    }
}
