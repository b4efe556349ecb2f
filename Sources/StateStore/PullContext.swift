// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// All that the state knows when a pull or push begins, from one consistent read.
package struct PullContext: Hashable, Sendable {
    /// The row of the presented cursor; nil where none was presented or it is unknown for this principal.
    package var row: CursorRow?
    /// Whether the row's replica has gone on without the presented cursor: presenting it again is a fork.
    ///
    /// A cursor continues its replica if it is the tip, the newest that has come back, or was made from the tip.
    package var isFork: Bool
    /// The newest cursor of the row's replica: an idle pull may give back the presented one only if they are equal.
    package var newestOfReplica: Cursor?
    /// The greatest cursor that this principal ever got, even if its row has been collected.
    package var newest: Cursor?
    /// The session; a fresh one where it has never been met.
    package var session: SessionRow
    /// Whether the presented cursor is unknown here but exists for somebody else.
    ///
    /// It hints at a principal that changes with the token (finding 26), and serves a warning in the log only.
    package var belongsToAnotherPrincipal: Bool
    /// The ledger of the row's replica as the presented cursor sees it; nil without row.
    package var ledger: LedgerOutline?
    /// Whether any replica of the principal has a ledger.
    package var hasLedgers: Bool
    /// How many notes of pushes the principal has got so far: what goes into the new row's ``CursorRow/noted``.
    package var sequence: Int64
    /// When the operator has last let the row's replica have what was held back; 0 where never.
    package var acceptedAt: Int64
    /// When the operator last wanted everything of the row's replica compared, in milliseconds since 1970; 0: never.
    package var resyncAt: Int64
    /// The schema version that the replica's pushes have told or shown
    /// (``StateStore/notePushed(version:replica:principal:)``); nil where they have told nothing, and for a fork, whose
    /// own pushes they need not be.
    package var pushedVersion: Int?
    /// How many mappings of ids the principal has got so far; 0 where its backend takes the clients' ids.
    package var idSequence: Int64

    /// A context; the defaults are those of a principal that nobody has met.
    package init(
        row: CursorRow? = nil, isFork: Bool = false, newestOfReplica: Cursor? = nil,
        newest: Cursor? = nil, session: SessionRow = SessionRow(), belongsToAnotherPrincipal: Bool = false,
        ledger: LedgerOutline? = nil, hasLedgers: Bool = false, sequence: Int64 = 0,
        acceptedAt: Int64 = 0, resyncAt: Int64 = 0, pushedVersion: Int? = nil, idSequence: Int64 = 0
    ) {
        self.idSequence = idSequence
        self.row = row
        self.isFork = isFork
        self.newestOfReplica = newestOfReplica
        self.newest = newest
        self.session = session
        self.belongsToAnotherPrincipal = belongsToAnotherPrincipal
        self.ledger = ledger
        self.hasLedgers = hasLedgers
        self.sequence = sequence
        self.acceptedAt = acceptedAt
        self.resyncAt = resyncAt
        self.pushedVersion = pushedVersion
    }
}
