// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Who deletes the descendants of a record that a client has deleted.
package enum CascadeRule: String, CaseIterable, Sendable {
    /// The backend, or the client itself.
    case backend
    /// The gateway: those that the ledger of the client's replica names go with the same push.
    case gateway
}
