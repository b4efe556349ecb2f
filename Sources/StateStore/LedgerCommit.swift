// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What a finished pull adds to the ledger of its replica.
///
/// The first layer of a replica becomes its base. A later one lies over the parent's layers; where those were not exact
/// (``LedgerOutline/isExact``), the cursor counts as exact from here on, because such a pull has compared everything.
package enum LedgerCommit: Hashable, Sendable {
    /// The pull was made without a ledger: what its cursor has is not known exactly.
    case none
    /// A layer of these chunks, in the order of their tables and hashes; without any the parent's layers stand.
    case chunks([LedgerChunk], counts: [String: LedgerCount])
    /// The layer that was staged, with what is in it.
    case staged(LayerID, counts: [String: LedgerCount])
}
