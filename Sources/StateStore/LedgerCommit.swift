// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The changes that a finished pull makes to the ledger of its replica.
///
/// The first layer of a replica becomes its base. Later layers lie over the parent's layers. If those were not exact
/// (``LedgerOutline/isExact``), the cursor counts as exact from here on, because such a pull has compared everything.
package enum LedgerCommit: Hashable, Sendable {
    /// The pull was made without a ledger: the records at its cursor are not known exactly.
    case none
    /// A layer of these chunks, in the order of their tables and hashes; if there are none, the parent's layers stay
    /// valid.
    case chunks([LedgerChunk], counts: [String: LedgerCount])
    /// The layer that was staged, with its counts.
    case staged(LayerID, counts: [String: LedgerCount])
}
