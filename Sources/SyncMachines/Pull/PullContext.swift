// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What the state knows about a pull before it begins, read in one transaction.
package struct PullContext: Hashable, Sendable {
    /// What is known of the ledger of the presented cursor's replica.
    package struct Ledger: Hashable, Sendable {
        /// Whether there is one; until the replica's first pull with a ledger nobody knows what the device holds.
        package var hasBase = true
        /// Whether its layers tell exactly what the device holds at the cursor.
        package var isExact = true
        /// Whether there are so many deltas above the base that they should be compacted into it.
        package var needsCompaction = false
        /// How many records the device holds, by request type.
        package var rows: [String: Int] = [:]
        /// When the operator has last released deletions that were held back, in milliseconds since 1970; 0 is never.
        package var acceptedAt: Int64 = 0
        /// When the operator wanted everything to be compared, in milliseconds since 1970; 0 is never.
        package var resyncAt: Int64 = 0
        /// A ledger that is exact.
        package init() {}

        /// How many ways back a cursor may be behind the base: every record that it looks up goes through all of them.
        package static let maximumUndos = 256

        /// What is to be known of a ledger as a cursor sees it.
        ///
        /// One that has not begun yet is built up type by type; until then every type counts as never compared.
        package init(_ outline: LedgerOutline, maximumUndos: Int = Self.maximumUndos) {
            hasBase = outline.base != nil
            isExact = !hasBase || outline.isExact && outline.undos.count <= maximumUndos
        }
    }

    /// The row of the presented cursor, if it is this principal's.
    package var row: CursorRow?
    /// Whether another line of cursors went on from the presented one or beside it: a new replica begins (finding 9).
    package var isFork: Bool
    /// Whether no newer cursor was made for the row's replica.
    package var isNewestOfReplica: Bool
    /// The principal's newest cursor.
    package var newest: Cursor?
    /// What is known about the session.
    package var session: SessionRow
    /// How many notes the principal's pushes have made.
    package var sequence: Int64
    /// Whether any replica of the principal has a ledger.
    package var hasLedgers: Bool
    /// The ledger of the row's replica.
    package var ledger: Ledger
    /// What the client gets again since a 409 has named it.
    package var redeliveries: [PendingRedelivery] = []
    /// Whether the client may have records under ids by which it is not told of them any more, so that it has to hear
    /// so although the stream brings nothing.
    package var hasDuplicates = false
    /// By which ids the client knows records to which the backend has given ids.
    package var ids = VisibleIDs()
    /// The least schema version that has all that the replica's pushes have named; nil where they have told nothing.
    package var pushedVersion: Int?
    /// When it was read, in milliseconds since 1970.
    package var now: Int64

    /// What is true of a principal that nobody has met before.
    package init(
        row: CursorRow? = nil, isFork: Bool = false, isNewestOfReplica: Bool = true, newest: Cursor? = nil,
        session: SessionRow = SessionRow(), sequence: Int64 = 0, hasLedgers: Bool = false, ledger: Ledger = Ledger(),
        pushedVersion: Int? = nil, now: Int64 = 0
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
