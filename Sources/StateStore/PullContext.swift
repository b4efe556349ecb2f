// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// All that the state knows when a pull or push begins, from one consistent read.
package struct PullContext: Hashable, Sendable {
    /// The row of the presented cursor; nil where none was presented or it is unknown for this principal.
    package var row: CursorRow?
    /// Whether a cursor that was made from the presented one has come back: presenting it again is a fork.
    package var hasConfirmedSuccessor: Bool
    /// The newest cursor of the row's replica: an idle pull may give back the presented one only if they are equal.
    package var newestOfReplica: Cursor?
    /// The greatest cursor that this principal ever got, even if its row has been collected.
    package var newest: Cursor?
    /// The session; a fresh one where it has never been met.
    package var session: SessionRow
    /// Whether the presented cursor is unknown here but exists for somebody else.
    ///
    /// It hints at a principal that changes with the token (finding 26). For a warning in the log only; what it is worth is nothing (design §2).
    package var belongsToAnotherPrincipal: Bool
    /// Whether the principal has receipts, which an answered pull must end even when it brings nothing.
    package var hasReceipts: Bool

    /// A context; the defaults are those of a principal that nobody has met.
    package init(
        row: CursorRow? = nil, hasConfirmedSuccessor: Bool = false, newestOfReplica: Cursor? = nil,
        newest: Cursor? = nil, session: SessionRow = SessionRow(), belongsToAnotherPrincipal: Bool = false,
        hasReceipts: Bool = false
    ) {
        self.row = row
        self.hasConfirmedSuccessor = hasConfirmedSuccessor
        self.newestOfReplica = newestOfReplica
        self.newest = newest
        self.session = session
        self.belongsToAnotherPrincipal = belongsToAnotherPrincipal
        self.hasReceipts = hasReceipts
    }
}
