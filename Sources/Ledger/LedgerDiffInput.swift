// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Deduplication
package import LineProjection
package import SyncModel

/// All that a diff needs besides the stream's lines.
package struct LedgerDiffInput: Sendable {
    /// The most deletions for absence in a table (finding 28).
    package struct AbsenceLimit: Hashable, Sendable {
        /// So many are always let pass.
        package var records = 100
        /// The share of all records that the device holds, in percent; 100 is no limit.
        package var percent = 20
        /// Creates the defaults.
        package init() {}
    }

    /// The plan of the comparison.
    package var plan: LedgerDiffPlan
    /// The configuration.
    package var schema: Schema
    /// The client's version of it.
    package var schemaVersion: Int
    /// The tables, parents first.
    package var order: TableOrder
    /// The request types that fill tables with a ledger; empty where none is kept.
    package var types: [String: LedgeredType]
    /// The layers to look through, in their order: the cursor's, or those of each of the principal's ledgers.
    package var ledgers: [[LayerID]] = []
    /// Those of them that are small.
    package var preloaded: [LayerID: [LedgerChunk]] = [:]
    /// True if chunks that cannot be read count as missing; only if the plan is not exact.
    package var skipsDamage = false
    /// The source of the other chunks.
    package var source: any LedgerSource
    /// The key of id hashes.
    package var key: SipHash.Key
    /// The notes of pushes after the cursor.
    package var notes: [PushNote] = []
    /// The records that the client gets again because a 409 has named them: their hashes are not trusted.
    package var redeliveries: [PendingRedelivery] = []
    /// The facts that the stream has reported beside its records.
    package var signs = StreamSigns()
    /// The limit of deletions for absence.
    package var limit = AbsenceLimit()
    /// The most bytes of a chunk in the new layer, except one with a single entry.
    package var chunkBytes = LedgerChunkWriter.defaultMaximumBytes
    /// The number of lines that had come when the comparison of a whole type began; nil where none did.
    package var comparisonBegan: UInt64?
    /// The time in milliseconds since 1970.
    package var now: Int64 = 0
    /// The time before which tombstones are no longer needed.
    package var tombstonesBefore: Int64 = 0

    /// Creates an input without knowledge.
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

/// The figures of a diff, for the log and the metrics.
package struct LedgerDiffFigures: Hashable, Sendable {
    /// Records that are new to the device.
    package var created = 0
    /// Records that it may have already.
    package var updated = 0
    /// Records that are gone.
    package var deleted = 0
    /// Lines that told nothing new, and were dropped.
    package var equal = 0
    /// Records that the principal's own pushes brought back; they are among the updated ones.
    package var echoes = 0
    /// Deletions of what did not come; they are among the deleted ones.
    package var absent = 0
    /// Deletions of what has lost its parent; they are among the deleted ones.
    package var descendants = 0
    /// Missing records that were not deleted because more was not certain.
    package var heldBack = 0
    /// Differences that only comparing everything has found: the backend's stream had missed them.
    package var repairs = 0
    /// Creates figures of 0.
    package init() {}
}
