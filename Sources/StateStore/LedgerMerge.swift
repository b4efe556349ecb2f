// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The results of a compaction so far: the base's chunks that are replaced, what replaces them, and what undoes it.
package struct LedgerMerge: Hashable, Sendable {
    /// The replica whose ledger was compacted.
    package var replica: ReplicaID
    /// The base that was read.
    package var base: LayerID
    /// The cursor up to which everything will be in the base; its delta and those before it go with the last step.
    package var upTo: Cursor
    /// The number of its staged rows, from the first of them on; no other merge or layer has it.
    var number: Int64 = 0
    /// The number of its steps so far, without the last.
    var steps = 0
    /// The version of the ledger that it was begun from; after the last step, the new one.
    package var version: Int
    /// The numbers of the base's chunks that go.
    var removed: Set<Int64> = []
    /// The chunks that come.
    var added: [ChunkHead] = []
    /// The base's former entries, by the cursors whose deltas have replaced them.
    var undos: [Cursor: LedgerLayer] = [:]
    /// The changes of the base's figures.
    var counts: [String: LedgerCount] = [:]

    /// Creates a merge without changes of the ledger that an outline shows; nil if it has no base.
    package init?(of outline: LedgerOutline, upTo cursor: Cursor) {
        guard let base = outline.base?.id else { return nil }
        (replica, self.base, upTo, version) = (outline.replica, base, cursor, outline.version)
    }
}
