// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import Ledger
import SyncMachines

/// Holds sizes that nobody configures; a simulation makes them small, so that there are many of everything.
package struct GatewayTuning: Hashable, Sendable {
    /// No chunk of a ledger has more bytes, but for one with a single entry.
    package var chunkBytes = LedgerChunkWriter.defaultMaximumBytes
    /// A ledger with more deltas over its base than this is compacted.
    package var deltas = 32
    /// One whose deltas have more chunks than this is, too.
    package var deltaChunks = 64
    /// A cursor behind more ways back than this gets everything.
    package var undos = PullContext.Ledger.maximumUndos
    /// How many de-duplication entries are gathered before they are sorted and taken away.
    package var runEntries = StreamIntake.Limits().run
    /// How many bytes a backend has sent until they are worth keeping for a repeated pull: less is streamed again.
    package var cachedBytes = 64 << 10
    /// So many records that a comparison misses are deleted, whatever share of all they are.
    package var missingRecords = LedgerDiffInput.AbsenceLimit().records

    /// The usual sizes.
    package init() {}
}
