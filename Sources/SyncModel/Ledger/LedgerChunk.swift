// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A stored part of one table's ledger: about 2 KB of entries in the order of their ``IDHash``.
package struct LedgerChunk: Hashable, Sendable {
    /// The client's table.
    package var table: String
    /// The hash of the first entry's id; the entries cover the range from this hash up to the next chunk's first.
    package var first: IDHash
    /// The number of entries.
    package var entries: Int
    /// The entries, as the engine writes and reads them; opaque to a store.
    package var bytes: [UInt8]

    /// Creates a chunk.
    package init(table: String, first: IDHash, entries: Int, bytes: [UInt8]) {
        self.table = table
        self.first = first
        self.entries = entries
        self.bytes = bytes
    }
}

/// A chunk and the number under which it is stored.
package struct NumberedChunk: Hashable, Sendable {
    /// The store's own number.
    package var number: Int64
    /// The chunk.
    package var chunk: LedgerChunk
    /// Creates a numbered chunk.
    package init(number: Int64, chunk: LedgerChunk) {
        self.number = number
        self.chunk = chunk
    }
}

/// The chunks of small layers, which were read at once.
package struct PreloadedChunks: Hashable, Sendable {
    private var chunks: [NumberedChunk] = []
    private var ranges: [LayerID: Range<Int>] = [:]
    /// The size of all contents in bytes.
    package private(set) var bytes = 0

    /// Creates a value without layers.
    package init() {}

    /// Adds the chunks of layers, those of each behind those of the one before.
    ///
    /// - Parameters:
    ///   - further: All chunks, those of a layer in the order of table and first hash.
    ///   - counts: The layers, each with the number of its chunks.
    package mutating func append(_ further: [NumberedChunk], of counts: [(layer: LayerID, count: Int)]) {
        var start = chunks.count
        chunks += further
        bytes += further.reduce(0) { $0 + $1.chunk.bytes.count }
        ranges.reserveCapacity(ranges.count + counts.count)
        for (layer, count) in counts {
            ranges[layer] = start..<start + count
            start += count
        }
    }

    /// Returns all chunks of a layer; nil if they were not read.
    package subscript(layer: LedgerLayer) -> ArraySlice<NumberedChunk>? { ranges[layer.id].map { chunks[$0] } }
}

/// Names one layer of a ledger: the base of a replica, the changes of one cursor, or the undo layer of a cursor.
package struct LayerID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The store's own number for the layer.
    package let rawValue: Int64
    /// Creates a layer id from the number as it is.
    package init(rawValue: Int64) { self.rawValue = rawValue }
    /// The decimal digits.
    package var description: String { String(rawValue) }
}

/// The layers of a replica's ledger as one of its cursors sees it.
///
/// An id is looked up in `deltas`, then in `undos`, then in `base`, each in the order given; the first entry found is
/// its state. An entry of state *unknown* in an undo layer means that the id was not there.
package struct LedgerOutline: Hashable, Sendable {
    /// The replica that the layers belong to.
    package var replica: ReplicaID
    /// The state of a recent, confirmed cursor; nil if the replica has no ledger.
    package var base: LedgerLayer?
    /// The changes that the cursor and its ancestors made after the base, newest first.
    package var deltas: [LedgerLayer]
    /// The undo layers: the base's entries before newer cursors were compacted into it, oldest first.
    package var undos: [LedgerLayer]
    /// True if the layers hold exactly what the device holds at the cursor; otherwise some layers are gone, and the
    /// rest is a superset at best.
    package var isExact: Bool
    /// The number of chunks in the deltas: many of them are a reason to compact them into the base.
    package var deltaChunks: Int
    /// Rises with every change of the base; a commit that began under another version is refused.
    package var version: Int

    /// Creates an outline; without further arguments, that of a replica without a ledger.
    package init(
        replica: ReplicaID, base: LedgerLayer? = nil, deltas: [LedgerLayer] = [], undos: [LedgerLayer] = [],
        isExact: Bool = false, deltaChunks: Int = 0, version: Int = 0
    ) {
        self.replica = replica
        self.base = base
        self.deltas = deltas
        self.undos = undos
        self.isExact = isExact
        self.deltaChunks = deltaChunks
        self.version = version
    }

    /// The figures by table.
    package var counts: [String: LedgerCount] {
        var total = base?.counts ?? [:]
        for delta in deltas {
            for (table, count) in delta.counts { total[table, default: LedgerCount()].add(count) }
        }
        return total
    }

    /// All layers in lookup order.
    package var layers: [LedgerLayer] { deltas + undos + (base.map { [$0] } ?? []) }
}

/// The size of one table in a layer or in a whole ledger.
package struct LedgerCount: Hashable, Sendable {
    /// The number of records that the device holds; in a delta, the change in that number.
    package var held: Int
    /// The number of entries of any kind.
    package var entries: Int
    /// The size of all chunks in bytes.
    package var bytes: Int
    /// Creates a count; without arguments, zero.
    package init(held: Int = 0, entries: Int = 0, bytes: Int = 0) {
        self.held = held
        self.entries = entries
        self.bytes = bytes
    }

    /// Adds other figures.
    package mutating func add(_ other: LedgerCount) {
        held += other.held
        entries += other.entries
        bytes += other.bytes
    }
}
