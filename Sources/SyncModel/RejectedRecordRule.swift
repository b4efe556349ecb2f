// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Decides the outcome of a pushed record that the backend will never accept.
package enum RejectedRecordRule: String, CaseIterable, Sendable {
    /// The push fails with a sentence that names the record.
    case fail
    /// The other records are applied, and the answer names this one; only for apps that pass push answers on to
    /// WatermelonDB.
    case report
    /// The record is quarantined for the operator, and the client is told that it was accepted.
    case quarantine
}
