// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import Ledger
import SyncMachines

/// Holds sizes that are not configurable; simulations make them small, so that there are many of everything.
package struct GatewayTuning: Hashable, Sendable {
    /// The most bytes of a ledger's chunk, except one with a single entry.
    package var chunkBytes = LedgerChunkWriter.defaultMaximumBytes
    /// The number of deltas over its base beyond which a ledger is compacted.
    package var deltas = 64
    /// The number of chunks in its deltas beyond which a ledger is compacted.
    package var deltaChunks = 512
    /// The most chunks of the base that a batch of a compaction removes.
    package var batchChunks = LedgerCompaction.Settings().batchChunks
    /// The number of undos between a cursor and the base beyond which the cursor gets a full stream.
    package var undos = PullContext.Ledger.maximumUndos
    /// The number of de-duplication entries that are gathered before they are sorted and moved out of memory.
    package var runEntries = StreamIntake.Limits().run
    /// The fewest bytes of a stream that are cached for a repeated pull: less is streamed again.
    package var cachedBytes = 64 << 10
    /// A comparison always deletes up to this many missing records, whatever their percentage of the whole.
    package var missingRecords = LedgerDiffInput.AbsenceLimit().records

    /// Creates the usual sizes.
    package init() {}
}
