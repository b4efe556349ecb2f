// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Deduplication
package import LineProjection
package import SyncModel

/// All that a diff needs besides the stream's lines.
package struct LedgerDiffInput: Sendable {
    /// How many deletions for absence a table may have at the most (finding 28).
    package struct AbsenceLimit: Hashable, Sendable {
        /// So many are always let pass.
        package var records = 100
        /// Of all records that the device holds, in percent; 100 is no limit.
        package var percent = 20
        /// The defaults.
        package init() {}
    }

    /// What is compared with what.
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
    /// Whether chunks that cannot be read count as not there; only where the plan is not exact.
    package var skipsDamage = false
    /// Where the others come from.
    package var source: any LedgerSource
    /// The key of id hashes.
    package var key: SipHash.Key
    /// What pushes have said that the cursor has not seen.
    package var notes: [PushNote] = []
    /// What the client gets again since a 409 has named it: no hash of it is believed.
    package var redeliveries: [PendingRedelivery] = []
    /// What the stream said beside its records.
    package var signs = StreamSigns()
    /// How many deletions for absence there may be.
    package var limit = AbsenceLimit()
    /// No chunk of the new layer has more bytes, but for one with a single entry.
    package var chunkBytes = LedgerChunkWriter.defaultMaximumBytes
    /// The number of lines that had come when the comparison of a whole type began; nil where none did.
    package var comparisonBegan: UInt64?
    /// The time in milliseconds since 1970.
    package var now: Int64 = 0
    /// Tombstones from before this time are needed by nobody any more.
    package var tombstonesBefore: Int64 = 0

    /// An input without anything known.
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

/// What a diff came to, for the log and the metrics.
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
    /// None.
    package init() {}
}
