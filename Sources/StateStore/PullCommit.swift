// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What a finished pull writes, in one transaction, before the first byte of its answer (design §6, number 5).
package struct PullCommit: Hashable, Sendable {
    /// Whether the row's replica is there already.
    package enum Replica: Hashable, Sendable {
        /// A first sync, an unknown cursor or a fork.
        case new
        /// The replica of the presented cursor.
        case existing
    }

    /// The new cursor with all that it stands for.
    package var row: CursorRow
    /// Whether its replica begins with it.
    package var replica: Replica
    /// Lines that could not be delivered.
    package var quarantined: [QuarantinedLine]
    /// What the replica "last did", one short phrase for the operator.
    package var result: String
    /// The time in milliseconds since 1970.
    package var now: Int64
    /// How many replicas of the principal may be without a confirmed cursor; older ones go (finding 27).
    package var unconfirmedReplicas: Int

    /// A commit.
    package init(
        row: CursorRow, replica: Replica, quarantined: [QuarantinedLine] = [], result: String = "pull",
        now: Int64, unconfirmedReplicas: Int = 8
    ) {
        self.row = row
        self.replica = replica
        self.quarantined = quarantined
        self.result = result
        self.now = now
        self.unconfirmedReplicas = unconfirmedReplicas
    }
}
