// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A part of a ledger, whose contents never change.
package struct LedgerLayer: Hashable, Sendable {
    /// A number that no other layer has.
    package var id: LayerID
    /// The cursor that it was made with; of an undo, the cursor before which its contents were valid.
    package var cursor: Cursor
    /// The chunks in the order of table and first hash, or the directories that name them.
    package var chunks: [ChunkHead] = []
    /// The figures by table; in a delta, what it adds to the records held.
    package var counts: [String: LedgerCount] = [:]

    /// Creates a layer without chunks.
    package init(
        id: LayerID, cursor: Cursor, chunks: [ChunkHead] = [], counts: [String: LedgerCount] = [:]
    ) {
        self.id = id
        self.cursor = cursor
        self.chunks = chunks
        self.counts = counts
    }

    /// The number of chunks.
    package var chunkCount: Int { chunks.reduce(0) { $0 + max(1, $1.named) } }

    /// The size of all chunks in bytes.
    package var bytes: Int { chunks.reduce(0) { $0 + $1.size } }
}

/// A chunk without its contents, or with them if they are few; or a directory, whose contents name chunks of a table
/// that follow each other.
package struct ChunkHead: Hashable, Sendable {
    /// The client's table.
    package var table: String
    /// The hash of the first entry's id.
    package var first: IDHash
    /// The number of entries; of a directory, of all its chunks.
    package var entries: Int
    /// The number of the chunk; no other one has it.
    package var number: Int64
    /// The size of the contents in bytes; of a directory, of all its chunks.
    package var size: Int
    /// The number of chunks that the directory names; 0 if this is a chunk.
    package var named = 0
    /// The contents, if they are few; others are under the number in the store.
    package var bytes: [UInt8]?

    /// Creates a chunk.
    package init(
        table: String, first: IDHash, entries: Int, number: Int64, size: Int, bytes: [UInt8]? = nil
    ) {
        self.table = table
        self.first = first
        self.entries = entries
        self.number = number
        self.size = size
        self.bytes = bytes
    }
}
