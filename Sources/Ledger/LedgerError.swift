// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What can be wrong with a stored ledger; the raw value is the stable code.
package enum LedgerError: String, Error, CaseIterable, Sendable {
    /// A chunk is not what was written: it is cut, its checksum or its place in the order is wrong.
    ///
    /// Nothing is decided from such a ledger. The replica can be forgotten or resynced.
    case damaged = "ledger.damaged"
}
