// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The values that hold for the accounts of all principals.
package struct AccountSetting: Sendable {
    /// The limits.
    package var limits: StateLimits
    /// The lead of cursors over the clock in milliseconds.
    package var cursorLead: Int64 = 0
    /// The store's epoch: positions of other ones do not count.
    package var epoch: Int64 = 0
    /// Returns a number that no chunk, layer or loose set has; those that are given later are greater, as a rule.
    package var number: @Sendable (_ now: Instant) -> Int64
    /// True if numbers of which nothing is known are taken for free ones: the commit is refused if they are not.
    package var assumesFree = false
    /// True if there is room for changes that are stored later.
    package var canDefer = true

    /// Creates a setting.
    package init(
        limits: StateLimits, cursorLead: Int64 = 0, epoch: Int64 = 0, number: @escaping @Sendable (Instant) -> Int64
    ) {
        self.limits = limits
        self.cursorLead = cursorLead
        self.epoch = epoch
        self.number = number
    }
}

/// An account that its rule has left.
package struct FinishedAccount {
    /// The changes to commit.
    package var changes: RowChanges
    /// The view once they are committed.
    package var view: AccountView
    /// The further changes that are to be stored later.
    package var deferred: [ReplicaID: [DeferredChange]]
    /// The replicas that are stored with all that was deferred of them.
    package var stored: Set<ReplicaID>
}

/// Rows, chunks or new numbers that a rule needs and that were not loaded.
package struct Missing: Error {
    /// The rows.
    package var lookups: [Lookup] = []
    /// The number of further numbers of each kind.
    package var numbers: [RowKind: Int] = [:]
    /// The numbers of chunks.
    package var chunks: [Int64] = []
}
