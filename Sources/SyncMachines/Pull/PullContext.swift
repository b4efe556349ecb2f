// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The state's knowledge about a pull before it begins, read in one transaction.
package struct PullContext: Hashable, Sendable {
    /// The knowledge about the ledger of the presented cursor's replica.
    package struct Ledger: Hashable, Sendable {
        /// True if there is one; until the replica's first pull with a ledger, the device's records are unknown.
        package var hasBase = true
        /// True if its layers are exactly what the device holds at the cursor.
        package var isExact = true
        /// True if there are so many deltas above the base that they should be compacted into it.
        package var needsCompaction = false
        /// The number of records that the device holds, by request type.
        package var rows: [String: Int] = [:]
        /// The time at which the operator has last released deletions that were held back;
        /// 0 is never.
        package var acceptedAt: Instant = 0
        /// The time at which the operator has scheduled a full comparison; 0 is never.
        package var resyncAt: Instant = 0
        /// Creates an exact ledger.
        package init() {}

        /// The most undo layers between a cursor and the base: every lookup goes through all of them.
        package static let maximumUndos = 256

        /// Creates the knowledge about a ledger as a cursor sees it.
        ///
        /// A ledger that has not begun yet is built up type by type; until then every type counts as never compared.
        package init(_ outline: LedgerOutline, maximumUndos: Int = Self.maximumUndos) {
            hasBase = outline.base != nil
            isExact = !hasBase || outline.isExact && outline.undos.count <= maximumUndos
        }
    }

    /// The row of the presented cursor, if it is this principal's.
    package var row: CursorRow?
    /// True if the presented cursor is another principal's: what such a device holds is unknown.
    package var isForeign = false
    /// True if another chain of cursors goes on from the presented one or beside it: a new replica begins (finding 9).
    package var isFork: Bool
    /// True if no newer cursor was made for the row's replica.
    package var isNewestOfReplica: Bool
    /// The time up to which the principal's cursors are distrusted, because a backup was restored; 0 is never.
    package var distrustedAt: Instant = 0
    /// The principal's newest cursor.
    package var newest: Cursor?
    /// The session's row.
    package var session: SessionRow
    /// The number of notes that the principal's pushes have made.
    package var sequence: Int64
    /// True if any replica of the principal has a ledger.
    package var hasLedgers: Bool
    /// The ledger of the row's replica.
    package var ledger: Ledger
    /// The records that the client gets again because a 409 has named them.
    package var redeliveries: [PendingRedelivery] = []
    /// True if the client may have records under ids that lines no longer use for them, so that it has to get their
    /// deletion although the stream brings nothing.
    package var hasDuplicates = false
    /// The id by which the client knows each record that has a backend-assigned id.
    package var ids = VisibleIDs()
    /// The least schema version that has all that the replica's pushes have named; nil where they have told nothing.
    package var pushedVersion: Int?
    /// True if earlier pushes of the principal have left something to do that has to come before a pull (finding 19).
    package var isHeldUpByPushes = false
    /// The time of reading.
    package var now: Instant

    /// Creates the context of an unknown principal.
    package init(
        row: CursorRow? = nil, isFork: Bool = false, isNewestOfReplica: Bool = true, newest: Cursor? = nil,
        session: SessionRow = SessionRow(), sequence: Int64 = 0, hasLedgers: Bool = false, ledger: Ledger = Ledger(),
        pushedVersion: Int? = nil, now: Instant = 0
    ) {
        self.row = row
        self.isFork = isFork
        self.isNewestOfReplica = isNewestOfReplica
        self.newest = newest
        self.session = session
        self.sequence = sequence
        self.hasLedgers = hasLedgers
        self.ledger = ledger
        self.pushedVersion = pushedVersion
        self.now = now
    }
}
