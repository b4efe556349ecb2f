// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// A splitter that gathers the entries of neighboring chunks and deals them out evenly to new ones.
struct LedgerChunkSplitter: Sendable {
    private let table: String
    private let maximumBytes: Int
    private var buffer: LedgerEntryBuffer
    /// The offset and the hash of each entry.
    private var starts: [(offset: Int, hash: IDHash)] = []
    private var largest = 0

    init(table: String, shape: LedgerShape, maximumBytes: Int) {
        self.table = table
        self.maximumBytes = maximumBytes
        buffer = LedgerEntryBuffer(shape: shape)
    }

    /// The number of bytes that wait to be dealt out.
    var bytes: Int { buffer.count }

    mutating func append(entryOf reader: borrowing LedgerChunkReader, hash: IDHash) {
        starts.append((buffer.count, hash))
        reader.copyEntry(to: &buffer)
        largest = max(largest, buffer.count - starts[starts.count - 1].offset)
    }

    /// Returns all entries in as few chunks as possible, of about equal size.
    mutating func takeChunks() -> [LedgerChunk] {
        // A chunk ends at or before its border, and always with a whole entry, so it can be longer than its share by
        // less than one entry.
        let room = max(1, maximumBytes - LedgerChunkFormat.headerBytes - largest)
        let isOne = buffer.count + LedgerChunkFormat.headerBytes <= maximumBytes
        let pieces = isOne ? 1 : (buffer.count + room - 1) / room
        func offset(_ index: Int) -> Int { index < starts.count ? starts[index].offset : buffer.count }
        var chunks: [LedgerChunk] = []
        var first = 0
        for piece in 1...pieces where first < starts.count {
            let border = buffer.count * piece / pieces
            var end = first + 1
            while end < starts.count, offset(end + 1) <= border { end += 1 }
            chunks.append(
                LedgerChunk(
                    table: table, first: starts[first].hash, entries: end - first,
                    bytes: buffer.chunk(offset(first)..<offset(end))))
            first = end
        }
        buffer.removeAll()
        starts.removeAll(keepingCapacity: true)
        largest = 0
        return chunks
    }
}
