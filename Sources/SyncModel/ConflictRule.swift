// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Who finds out whether a pushed record was changed by somebody else since its client's last pull.
package enum ConflictRule: String, CaseIterable, Sendable {
    /// The gateway: it asks the backend's stream before anything is applied, and compares what comes with the ledger.
    case stream
    /// The backend: every operation says what its client had seen, and what it answers counts.
    case backend
    /// Nobody: the last write wins.
    case none
}
