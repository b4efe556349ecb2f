// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// All that the state knows when a pull or push begins, from one consistent read.
package struct StoredPullContext: Hashable, Sendable {
    /// The row of the presented cursor; nil if none was presented or it is unknown for this principal.
    package var row: CursorRow?
    /// True if the row's replica has gone on without the presented cursor: presenting it again is a fork.
    ///
    /// A cursor continues its replica if it is the tip (the newest that has come back) or was made from the tip.
    package var isFork = false
    /// The newest cursor of the row's replica: an idle pull may give back the presented one only if the two are equal.
    package var newestOfReplica: Cursor?
    /// The greatest cursor that this principal ever got, even if its row has been collected.
    package var newest: Cursor?
    /// The session; a new one if it is unknown.
    package var session = SessionRow()
    /// The number of the last move of the principal's sessions (``SessionRules``); 0 if there was none.
    package var lastMove: Int64 = 0
    /// True if the presented cursor is unknown for this principal but exists for another.
    ///
    /// This hints at a principal that changes with the token (finding 26), and serves a warning in the log only.
    package var belongsToAnotherPrincipal = false
    /// The replica of the presented cursor if its head is damaged, so that the cursor is unknown.
    package var damaged: ReplicaID?
    /// The ledger of the row's replica as the presented cursor sees it; nil without a row.
    package var ledger: LedgerOutline?
    /// True if any replica of the principal has a ledger.
    package var hasLedgers = false
    /// The number of push notes that the principal has got so far; it becomes the new row's ``CursorRow/noted``.
    package var sequence: Int64 = 0
    /// The time at which the operator last accepted deletions held back for the row's replica; 0 if never.
    package var acceptedAt: Instant = 0
    /// The time at which the operator last requested a comparison of everything of the row's replica, in milliseconds
    /// since 1970 plus the lead of cursors; 0 if never.
    package var resyncAt: Instant = 0
    /// The time up to which cursors of the principal are distrusted, in milliseconds since 1970 plus the lead of
    /// cursors; 0 if none are (`OperatorCommands.distrust`).
    package var distrustedAt: Instant = 0
    /// The time of the first pull of the row's replica; nil without a row.
    package var firstSeen: Instant?
    /// The schema version that the replica's pushes have stated or implied
    /// (``ReplicaRules/notePushed(_:by:in:)``); nil if they have not, and for a fork, whose own pushes
    /// they may not be.
    package var pushedVersion: Int?
    /// True if records have to be delivered to the row's replica again
    /// (``RedeliveryRules``).
    package var hasRedeliveries = false
    /// The number of id mappings that the principal has got so far; 0 if its backend takes the clients' ids.
    package var idSequence: Int64 = 0
    /// The numbers of records that the ledger holds at the presented cursor, by table; empty without a ledger.
    package var held: [String: Int] = [:]
    /// True if the principal has receipts, also expired ones (``ReceiptRules``).
    package var hasReceipts = false
    /// True if pushed records of the principal are in quarantine (``QuarantineRules``).
    package var hasQuarantined = false
    /// True if redeliveries to the row's replica are recorded, also delivered ones
    /// (``RedeliveryRules``).
    package var hasRecordedRedeliveries = false
    /// The ways in which the row's replica did not get on last (``TroubleRules``).
    package var troubles: Set<DeviceTrouble.Kind> = []
    /// The rest of earlier pushes of the principal, which may have to be dealt with first.
    package var unfinished = UnfinishedPushes()

    /// Creates the context of an unknown principal.
    package init() {}
}

/// Names what earlier pushes of a principal have left to do before its next pull; almost always nothing.
package struct UnfinishedPushes: Hashable, Sendable {
    /// The numbers of the open journals, oldest first.
    package var openJournals: [Int64]
    /// True if the operator has scheduled retries of quarantined records.
    package var hasScheduledRetries: Bool

    /// Creates a value; the default is that nothing is left to do.
    package init(openJournals: [Int64] = [], hasScheduledRetries: Bool = false) {
        self.openJournals = openJournals
        self.hasScheduledRetries = hasScheduledRetries
    }
}
