// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Deduplication
package import LineProjection
package import SyncModel

/// The input of a diff besides the stream's lines.
package struct LedgerDiffInput: Sendable {
    /// The limit on deletions for absence in one table (finding 28).
    package struct AbsenceLimit: Hashable, Sendable {
        /// The number of deletions that is always allowed.
        package var records = 100
        /// The share of all records that the device holds, in percent; 100 means no limit.
        package var percent = 20
        /// Creates the default limit.
        package init() {}
    }

    /// The plan of the comparison.
    package var plan: LedgerDiffPlan
    /// The configuration.
    package var schema: Schema
    /// The client's version of the schema.
    package var schemaVersion: Int
    /// The tables, parents first.
    package var order: TableOrder
    /// The request types that fill tables with a ledger; empty if no ledger is kept.
    package var types: [String: LedgeredType]
    /// The layers to look through, in lookup order: those of the cursor, or those of each of the principal's ledgers.
    package var ledgers: [[LedgerLayer]] = []
    /// The chunks of the small layers.
    package var preloaded: PreloadedChunks = PreloadedChunks()
    /// True if unreadable chunks count as absent; only if the plan is not exact.
    package var skipsDamage = false
    /// The source of all other chunks.
    package var source: any LedgerSource
    /// The key of id hashes.
    package var key: SipHash.Key
    /// The notes of pushes that the cursor has not seen.
    package var notes: [PushNote] = []
    /// The notes of pushes that the whole streams need not show yet, whether the cursor has seen them or not: the
    /// backend may have read from a replica that lags behind what it has accepted.
    package var unsettled: [PushNote] = []
    /// The records that the client gets again because a 409 has named them: no hash of theirs is believed.
    package var redeliveries: [PendingRedelivery] = []
    /// The signs that the stream gave besides its records.
    package var signs = StreamSigns()
    /// The limit on deletions for absence.
    package var limit = AbsenceLimit()
    /// The most bytes of a chunk of the new layer; only a chunk with a single entry may have more.
    package var chunkBytes = LedgerChunkWriter.defaultMaximumBytes
    /// The number of lines that had come when the comparison of a whole type began; nil if none did.
    package var comparisonBegan: UInt64?
    /// The present time.
    package var now: Instant = 0
    /// The time before which tombstones are no longer needed.
    package var tombstonesBefore: Instant = 0

    /// Creates an input without layers, notes or signs.
    package init(
        plan: LedgerDiffPlan, schema: Schema, schemaVersion: Int, order: TableOrder, types: [String: LedgeredType],
        source: any LedgerSource, key: SipHash.Key
    ) {
        self.plan = plan
        self.schema = schema
        self.schemaVersion = schemaVersion
        self.order = order
        self.types = types
        self.source = source
        self.key = key
    }
}

extension LedgerDiffInput {
    /// The most records of a table whose chunks are read at once, before it is walked.
    private static let preparedRecords = 256

    /// Reads the chunks that may hold what a small stream brings, at once: most pulls bring a few records.
    func prepareChunks(for reader: DeduplicationReader) async throws {
        guard plan.basis == .cursor, let layers = ledgers.first else { return }
        let large = layers.filter { preloaded[$0] == nil }
        guard !large.isEmpty else { return }
        var ids: [String: [IDHash]] = [:]
        for (index, table) in schema.tables.enumerated() where table.isLedgered {
            let known = reader.ids(of: order.rank[index], limit: Self.preparedRecords) ?? []
            if !known.isEmpty { ids[table.name] = known }
        }
        // A stream that brings this many of several tables is no small one: its chunks are read as they are needed.
        guard ids.values.reduce(0, { $0 + $1.count }) <= 4 * Self.preparedRecords else { return }
        if !ids.isEmpty { try await source.prepare(ids, in: large) }
    }
}

/// The figures of a diff, for the log and the metrics.
package struct LedgerDiffFigures: Hashable, Sendable {
    /// Records that are new to the device.
    package var created = 0
    /// Records that the device may already have.
    package var updated = 0
    /// Records that are gone.
    package var deleted = 0
    /// Lines that brought no change and were dropped.
    package var equal = 0
    /// Records that the principal's own pushes brought back; counted in ``updated`` too.
    package var echoes = 0
    /// Deletions of records that did not come; counted in ``deleted`` too.
    package var absent = 0
    /// Deletions of records that have lost their parent; counted in ``deleted`` too.
    package var descendants = 0
    /// Records that were kept although they are missing or were deleted before: their absence is uncertain, or too many
    /// are missing.
    package var heldBack = 0
    /// Differences that only the comparison of everything has found: the backend's stream had missed them.
    package var repairs = 0
    /// Creates figures of zero.
    package init() {}
}
