// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import LineProjection
package import SyncModel

/// A merge of deltas into the base of a ledger, in batches of bounded size.
///
/// The batches take effect together, with the last one. Until then base and deltas stay as they are, and a compaction
/// that was interrupted leaves nothing behind that counts.
package struct LedgerCompaction: Sendable {
    /// The sizes and times of a compaction.
    package struct Settings: Hashable, Sendable {
        /// The most bytes of a chunk, unless single entries nearly fill it.
        package var chunkBytes = LedgerChunkWriter.defaultMaximumBytes
        /// The most base chunks that a batch removes; it adds at most about four times as much.
        package var batchChunks = 512
        /// The number of chunks that are read at once, at most.
        package var readAhead = 128
        /// The time before which tombstones vanish if their chunk is rewritten.
        package var forgetTombstonesBefore: Instant = 0
        /// Creates the usual settings, under which no tombstone vanishes.
        package init() {}
    }

    private let source: any LedgerSource
    private let base: LedgerLayer
    private let deltas: [LedgerLayer]
    private let key: SipHash.Key
    private let settings: Settings
    /// The tables that are not begun yet.
    private var tables: ArraySlice<(name: String, shape: LedgerShape)>
    private var current: LedgerTableCompaction?
    private var isFinished = false

    /// Creates a compaction that has done nothing.
    ///
    /// - Parameters:
    ///   - source: The source of the chunks, which do not change.
    ///   - base: The layer that the deltas are merged into.
    ///   - deltas: The deltas, newest first, as ``LedgerOutline/deltas`` has them: all from the base to the cursor that
    ///     is compacted.
    ///   - tables: Every table that a delta may have entries of, each once. Entries of other tables are lost.
    ///   - key: The deployment's key of id hashes.
    ///   - settings: Sizes and times.
    package init(
        source: any LedgerSource, base: LedgerLayer, deltas: [LedgerLayer],
        tables: [(name: String, shape: LedgerShape)],
        key: SipHash.Key, settings: Settings = Settings()
    ) {
        self.source = source
        self.base = base
        self.deltas = deltas
        self.key = key
        self.settings = settings
        self.tables = tables[...]
    }

    /// Returns the next batch; nil after the last.
    ///
    /// There is always a last batch, if only to remove empty deltas.
    ///
    /// - Throws: ``LedgerError/damaged``, or errors of the source. The compaction is unusable after that.
    package mutating func nextBatch() async throws -> LedgerCompactionBatch? {
        guard !isFinished else { return nil }
        var batch = LedgerCompactionBatch()
        var bytes = 0
        while try await hasWork(), batch.removed.count < settings.batchChunks, bytes < byteLimit {
            try await current?.compact(into: &batch, bytes: &bytes)
        }
        isFinished = try await !hasWork()
        batch.isLast = isFinished
        return batch
    }

    private var byteLimit: Int { 2 * settings.batchChunks * settings.chunkBytes }

    /// Goes to the next table that has something to compact, if the current one has nothing; returns false if there is
    /// none.
    private mutating func hasWork() async throws -> Bool {
        while current?.isDone ?? true {
            guard let (name, shape) = tables.popFirst() else { return false }
            let scope = LedgerScope(source: source, table: name, key: key, readAhead: settings.readAhead)
            current = try LedgerTableCompaction(
                scope: scope, shape: shape, base: base, deltas: deltas, settings: settings, byteLimit: byteLimit)
            try await current?.findNext()
        }
        return true
    }
}
