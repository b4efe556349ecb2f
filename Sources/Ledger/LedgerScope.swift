// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import SyncModel

/// The parameters that all cursors of one walk through a table share.
struct LedgerScope: Sendable {
    let source: any LedgerSource
    let table: String
    let key: SipHash.Key
    /// The number of chunks that a walk reads at once, at most.
    let readAhead: Int
    /// True if unreadable chunks count as absent.
    var skipsDamage = false
}
