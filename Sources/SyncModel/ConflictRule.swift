// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Names who detects that a pushed record has been changed elsewhere since its client's last pull.
package enum ConflictRule: String, CaseIterable, Sendable {
    /// The gateway: it reads the backend's stream before anything is applied, and compares the lines with the ledger.
    case stream
    /// The backend: every operation carries the version that its client had seen, and the backend's answer decides.
    case backend
    /// Neither: the last write wins.
    case none
}
