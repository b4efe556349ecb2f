// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import LineProjection
package import SyncModel

/// Brings deltas into the base of a ledger, in batches of bounded size.
///
/// Each batch is to be committed before the next one is asked for, and the last one takes the deltas away. In between
/// the ledger is right for every cursor: what is compacted already is shadowed by equal entries of the deltas, and for
/// older cursors the undos tell what was there before. A compaction that was interrupted begins anew, with undos of its
/// own behind those that were left; there may be newer deltas then.
package struct LedgerCompaction: Sendable {
    /// Sizes and times.
    package struct Settings: Hashable, Sendable {
        /// No chunk has more bytes, unless single entries nearly fill it.
        package var chunkBytes = LedgerChunkWriter.defaultMaximumBytes
        /// The most base chunks that a batch removes; it adds about four times as many at the most.
        package var batchChunks = 64
        /// The number of chunks that are read at once.
        package var readAhead = 16
        /// Tombstones from before this time, in milliseconds since 1970, vanish where their chunk is written anew.
        package var forgetTombstonesBefore: Int64 = 0
        /// Creates the usual settings, with which no tombstone is removed.
        package init() {}
    }

    /// The changes of one transaction.
    package struct Batch: Hashable, Sendable {
        /// Base chunks that go, by their numbers.
        package var removed: [Int64] = []
        /// Chunks that come into the base.
        package var added: [LedgerChunk] = []
        /// The undo entries that this compaction makes for a cursor, by the layer of its delta.
        package var undo: [LayerID: [LedgerChunk]] = [:]
        /// The changes of the base's counts, by table.
        package var counts: [String: LedgerCount] = [:]
        /// True if everything is in the base after this batch, so that the deltas are removed.
        package var isLast = false
        /// Creates a batch without changes.
        package init() {}
    }

    private let source: any LedgerSource
    private let base: LayerID
    private let deltas: [LayerID]
    private let key: SipHash.Key
    private let settings: Settings
    /// The tables that were not begun.
    private var tables: ArraySlice<(name: String, shape: LedgerShape)>
    private var current: LedgerTableCompaction?
    private var isFinished = false

    /// Creates a compaction that has done nothing yet.
    ///
    /// - Parameters:
    ///   - source: The chunks, with the changes of each batch after it.
    ///   - base: The layer into which everything is merged.
    ///   - deltas: Newest first, as ``LedgerOutline/deltas`` has them: all from the base to the cursor that is
    ///     compacted.
    ///   - tables: Every table that a delta may have entries of, each once. Entries of other tables are lost.
    ///   - key: The deployment's key of id hashes.
    ///   - settings: Sizes and times.
    package init(
        source: any LedgerSource, base: LayerID, deltas: [LayerID], tables: [(name: String, shape: LedgerShape)],
        key: SipHash.Key, settings: Settings = Settings()
    ) {
        self.source = source
        self.base = base
        self.deltas = deltas
        self.key = key
        self.settings = settings
        self.tables = tables[...]
    }

    /// Computes the next batch; returns nil after the last.
    ///
    /// There is always a last one, if only to remove empty deltas.
    ///
    /// - Throws: ``LedgerError/damaged``, or errors of the source. The compaction must be abandoned then.
    package mutating func nextBatch() async throws -> Batch? {
        guard !isFinished else { return nil }
        var batch = Batch()
        var bytes = 0
        current?.forgetBase()
        while try await hasWork(), batch.removed.count < settings.batchChunks, bytes < byteLimit {
            try await current?.compact(into: &batch, bytes: &bytes)
        }
        isFinished = try await !hasWork()
        batch.isLast = isFinished
        return batch
    }

    private var byteLimit: Int { 2 * settings.batchChunks * settings.chunkBytes }

    /// Goes to the next table that has something to compact, if the current one has nothing; false where there is none.
    private mutating func hasWork() async throws -> Bool {
        while current?.next == nil {
            guard let (name, shape) = tables.popFirst() else { return false }
            let scope = LedgerScope(source: source, table: name, key: key, readAhead: settings.readAhead)
            current = try LedgerTableCompaction(
                scope: scope, shape: shape, base: base, deltas: deltas, settings: settings, byteLimit: byteLimit)
            try await current?.findNext()
        }
        return true
    }
}
