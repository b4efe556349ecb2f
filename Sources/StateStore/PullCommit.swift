// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What a finished pull writes, in one transaction, before the first byte of its answer.
package struct PullCommit: Hashable, Sendable {
    /// Whether the row's replica is there already.
    package enum Replica: Hashable, Sendable {
        /// A first sync, an unknown cursor or a fork.
        case new
        /// The replica of the presented cursor.
        case existing
    }

    /// The new cursor with all that it stands for.
    ///
    /// Where the principal has got mappings of ids since those of `ids`, the pull is worth nothing.
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
    /// What the pull adds to the ledger of its replica.
    package var ledger: LedgerCommit
    /// The ledgers that the pull has read, each with its version: where one was changed meanwhile, or is gone, the pull
    /// is worth nothing.
    ///
    /// Its own replica's, that of another one from which a new one goes out, or those of all of its principal's.
    package var ledgersRead: [ReplicaID: Int]
    /// What of the replica's pending redeliveries the answer brings; they are done when the cursor comes back.
    package var delivered: [PendingRedelivery]
    /// The client's schema version as it has told it, for the operator; the row's is what its data are of.
    package var clientVersion: Int?

    /// A commit.
    package init(
        row: CursorRow, replica: Replica, quarantined: [QuarantinedLine] = [], result: String = "pull",
        now: Int64, unconfirmedReplicas: Int = 8, ledger: LedgerCommit = .none,
        ledgersRead: [ReplicaID: Int] = [:], delivered: [PendingRedelivery] = [], clientVersion: Int? = nil
    ) {
        self.delivered = delivered
        self.row = row
        self.replica = replica
        self.quarantined = quarantined
        self.result = result
        self.now = now
        self.unconfirmedReplicas = unconfirmedReplicas
        self.ledger = ledger
        self.ledgersRead = ledgersRead
        self.clientVersion = clientVersion ?? row.schemaVersion
    }
}
