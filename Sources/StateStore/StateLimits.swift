// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Bounds on what a store keeps and how often it writes.
package struct StateLimits: Hashable, Sendable {
    /// How many different lines the quarantine keeps; the ones that came longest ago go first.
    package var quarantineEntries = 10_000
    /// How many bytes of a quarantined line are kept.
    package var quarantineBytes = 16_384
    /// How large a checkpoint vector may be, in bytes as stored: the tokens, the namespaces and a few bytes each.
    package var vectorBytes = 1 << 20
    /// How large the comparison states of a cursor may be, in bytes as stored.
    package var comparisonBytes = 1 << 20
    /// How large a chunk of a ledger may be.
    package var chunkBytes = 1 << 20
    /// How large the body of a receipt may be.
    package var receiptBytes = 1 << 16
    /// How many receipts one principal may have; the oldest go first.
    package var receiptsPerPrincipal = 64
    /// How many journals of pushes that came to no good end one principal may have; the oldest go first.
    package var journalsPerPrincipal = 16
    /// How many records one principal may have of which operations were refused; the oldest go first.
    package var refusalsPerPrincipal = 64
    /// How many notes of pushes one principal keeps when the next one begins; the oldest go first.
    ///
    /// More than are laid over a ledger, or a cursor from before them would be taken for one that lacks none.
    package var notesPerPrincipal = 60_000
    /// How much older than now "last seen" must be before it is written again, in milliseconds.
    package var touchInterval: Int64 = 60_000
    /// How much older than now "accepted at" must be before it is written again, in milliseconds.
    ///
    /// Keep it below `auth_ttl`, or answers from the state always cost a backend call.
    package var acceptedInterval: Int64 = 10_000
    /// How many rows one transaction of a collection deletes at most, so that it never holds up a pull for long.
    package var collectBatch = 500

    /// The defaults.
    package init() {}
}
