// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Names what was restored from a backup, and so what can no longer be relied on.
package enum RestoredBackup: Sendable {
    /// The backend: its tokens of after the backup name other changes, or none. The ledgers are right: they say what
    /// the devices have got.
    case backend
    /// The state: what devices have pushed and got since the backup is in no ledger, so no ledger is exact.
    case state
}
