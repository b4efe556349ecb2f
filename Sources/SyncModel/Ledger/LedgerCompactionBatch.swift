// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// One step of a compaction: the base chunks that are replaced, their replacements, and their former contents.
package struct LedgerCompactionBatch: Hashable, Sendable {
    /// The numbers of the base chunks that are removed.
    package var removed: [Int64] = []
    /// The chunks that are added to the base.
    package var added: [LedgerChunk] = []
    /// The base's former entries, by the cursor whose delta replaced them; they go into that cursor's undo layer.
    package var undo: [Cursor: [LedgerChunk]] = [:]
    /// The changes of the base's counts, by table.
    package var counts: [String: LedgerCount] = [:]
    /// True if everything is in the base after this batch, so that the deltas can be removed.
    package var isLast = false
    /// Creates a batch without changes.
    package init() {}
}
