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
        try codeChunks(with: &coder)
        // Whoever looks a chunk up relies on the order of tables. On the way out it is the rules' to keep.
        guard !coder.isReading || chunks.indices.dropFirst().allSatisfy({ isBehind($0) }) else { throw Coder.damage }
        try coder.code(&counts)
    }

    private func isBehind(_ index: Int) -> Bool {
        let (before, table) = (chunks[index - 1].table, chunks[index].table)
        return before == table || before.utf8.lexicographicallyPrecedes(table.utf8)
    }

    /// Codes the chunks behind their tables, in whatever order they are.
    mutating func codeChunks(with coder: inout Coder) throws(StateError) {
        var tables = chunks.indices.count { $0 == 0 || chunks[$0].table != chunks[$0 - 1].table }
        try coder.code(count: &tables)
        if coder.isReading { chunks = [] }
        var (start, last): (Int, Int64) = (0, 0)
        for _ in 0..<tables {
            var table = coder.isReading ? "" : chunks[start].table
            var count = chunks[start...].prefix { $0.table == table }.count
            try coder.code(&table)
            try coder.code(count: &count)
            if coder.isReading { chunks.reserveCapacity(start + count) }
            for index in start..<start + count {
                var chunk = coder.isReading ? ChunkHead() : chunks[index]
                try chunk.code(with: &coder, after: last)
                last = chunk.number
                guard coder.isReading else { continue }
                chunk.table = table
                chunks.append(chunk)
            }
            start += count
        }
    }
}

extension ChunkHead {
    fileprivate init() { self.init(table: "", first: .first, entries: 0, number: 0, size: 0) }

    /// Codes all but the table; chunks that were written together have numbers that follow each other.
    fileprivate mutating func code(with coder: inout Coder, after last: Int64) throws(StateError) {
        var (high, low) = (first.high, first.low)
        try coder.code(whole: &high)
        try coder.code(whole: &low)
        first = IDHash(low: low, high: high)
        var step = number &- last
        try coder.code(&entries, &step, &size, &named)
        number = last &+ step
        try coder.code(&bytes)
    }
}

extension LedgerCount: Coded {
    package init() { self.init(held: 0, entries: 0) }

    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&held, &entries)
        try coder.code(&bytes)
    }
}
