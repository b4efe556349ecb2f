// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The errors of a stored ledger; the raw value is the stable code.
package enum LedgerError: String, Error, CaseIterable, Sendable {
    /// A chunk is not as it was written: it is cut off, its checksum is wrong, or it is out of order.
    ///
    /// Nothing is decided from such a ledger. The replica can be forgotten or resynced.
    case damaged = "ledger.damaged"
}
