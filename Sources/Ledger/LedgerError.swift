// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A fault of a stored ledger; the raw value is the stable code.
package enum LedgerError: String, Error, CaseIterable, Sendable {
    /// A chunk differs from what was written: it is cut, or its checksum or its position in the order is wrong.
    ///
    /// Nothing is decided from such a ledger. The replica can be forgotten or resynced.
    case damaged = "ledger.damaged"
}
