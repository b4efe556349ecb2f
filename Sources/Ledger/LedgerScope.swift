// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import SyncModel

/// What all cursors of one walk through a table have in common.
struct LedgerScope: Sendable {
    let source: any LedgerSource
    let table: String
    let key: SipHash.Key
    /// How many chunks a walk reads at once.
    let readAhead: Int
    /// Whether chunks that cannot be read count as not there.
    var skipsDamage = false
}
