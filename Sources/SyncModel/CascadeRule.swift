// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Names who deletes the descendants of a record that a client has deleted.
package enum CascadeRule: String, CaseIterable, Sendable {
    /// The backend, or the client itself.
    case backend
    /// The gateway: it deletes the descendants that are in the ledger of the client's replica, in the same push.
    case gateway
}
