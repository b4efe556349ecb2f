// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A stretch of one table's ledger as it is stored: about 16 KiB of entries in the order of their ``IDHash``.
package struct LedgerChunk: Hashable, Sendable {
    /// The client's table.
    package var table: String
    /// The hash of the first entry's id; all entries lie from here up to the next chunk's.
    package var first: IDHash
    /// How many entries there are.
    package var entries: Int
    /// The entries, as the engine writes and reads them; to a store they are opaque.
    package var bytes: [UInt8]

    /// A chunk.
    package init(table: String, first: IDHash, entries: Int, bytes: [UInt8]) {
        self.table = table
        self.first = first
        self.entries = entries
        self.bytes = bytes
    }
}

/// Names one layer of a ledger: the base of a replica, what one cursor added to it, or how to get back behind a cursor.
package struct LayerID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The store's own number.
    package let rawValue: Int64
    /// Takes the number as it is.
    package init(rawValue: Int64) { self.rawValue = rawValue }
    /// The decimal digits.
    package var description: String { String(rawValue) }
}

/// What a replica's ledger consists of as one of its cursors sees it.
///
/// An id is looked for in `deltas`, then in `undos`, then in `base`, each in the order given; the first entry found
/// tells its state. An entry of state *unknown* in an undo says that the id was not there.
package struct LedgerOutline: Hashable, Sendable {
    /// The replica that the layers belong to.
    package var replica: ReplicaID
    /// The state of a recent, confirmed cursor; nil where the replica has no ledger.
    package var base: LayerID?
    /// What the cursor and its ancestors added after the base, newest first.
    package var deltas: [LayerID]
    /// What was in the base before newer cursors were compacted into it, oldest first.
    package var undos: [LayerID]
    /// Whether the layers tell exactly what the device holds at the cursor: otherwise some are gone, and what they tell
    /// is a superset at best.
    package var isExact: Bool
    /// How many chunks the deltas have: many are to be compacted into the base.
    package var deltaChunks: Int
    /// Rises with every change of the base; a commit that began under another version is refused.
    package var version: Int

    /// An outline; without arguments that of a replica which has no ledger.
    package init(
        replica: ReplicaID, base: LayerID? = nil, deltas: [LayerID] = [], undos: [LayerID] = [], isExact: Bool = false,
        deltaChunks: Int = 0, version: Int = 0
    ) {
        self.replica = replica
        self.base = base
        self.deltas = deltas
        self.undos = undos
        self.isExact = isExact
        self.deltaChunks = deltaChunks
        self.version = version
    }

    /// All layers in the order in which they are looked through.
    package var layers: [LayerID] { deltas + undos + (base.map { [$0] } ?? []) }
}

/// How much of one table is in a layer or in a whole ledger.
package struct LedgerCount: Hashable, Sendable {
    /// Records that the device holds; in a delta, how many more (or fewer) it holds.
    package var held: Int
    /// Entries of any kind.
    package var entries: Int
    /// Bytes of all chunks.
    package var bytes: Int
    /// A count; without arguments nothing.
    package init(held: Int = 0, entries: Int = 0, bytes: Int = 0) {
        self.held = held
        self.entries = entries
        self.bytes = bytes
    }
}
