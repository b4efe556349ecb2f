// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The values that hold for all principals since backups were restored.
package struct StateEpochs: Hashable, Sendable, Coded {
    /// The number of resets that all sessions have seen.
    package var resets = 0
    /// The time up to which all cursors are distrusted.
    package var distrustedAt: Instant = 0
    /// The time up to which no ledger is exact.
    package var resyncAt: Instant = 0

    /// The key of its row.
    package static let key = RowKey(.meta, of: 0, Array("epochs".utf8))

    package init() {}

    /// Distrusts everything that was made until a time.
    package mutating func distrust(because restored: RestoredBackup, until time: Instant) {
        resets += 1
        distrustedAt = max(distrustedAt, time)
        if restored == .state { resyncAt = max(resyncAt, time) }
    }

    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&resets, &distrustedAt, &resyncAt)
    }
}

/// Names what was restored from a backup, and so what can no longer be relied on.
package enum RestoredBackup: Sendable {
    /// The backend: its tokens of after the backup name other changes, or none. The ledgers are right: they say what
    /// the devices have got.
    case backend
    /// The state: what devices have pushed and got since the backup is in no ledger, so no ledger is exact.
    case state
}
