// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Ledger
package import SyncModel

/// The gateway's next step of a pull; exactly one at a time, each answered by one ``PullEvent``.
package enum PullAction: Hashable, Sendable {
    /// Read what the state knows; answered by `context`.
    case loadContext
    /// Bring what was added to the replica's ledger into its base.
    case compactLedger
    /// Ask for a permit to compare a whole request type; answered by `comparisonGranted`.
    ///
    /// The lines from then on belong to the comparison, and may have to be dropped.
    case beginComparison(type: String)
    /// Drop all lines since the last `beginComparison`: comparing the type has failed, for the `failures`-th
    /// time in a row, and the pull ends as one that has not tried. Answered by `done`.
    case dropComparison(type: String, failures: Int)
    /// Note durably that the client holds everything up to this cursor (transaction 1), at the latest before anything
    /// else is written; a stranger's cursor is never confirmed.
    case confirm(Cursor)
    /// Do the next step of the stream; answered by `stream`.
    case stream(StreamAction)
    /// Compare the lines with the records of the client, and decide which go out; answered by `diffed`.
    ///
    /// May be asked for again after more lines came; the earlier diff is void then.
    case diff(LedgerDiffPlan)
    /// Wait this many milliseconds.
    case sleep(Int64)
    /// Read the clock; answered by `clock`.
    case readClock
    /// Wait until the backend gives no ids to pushed records, and save those that the stream has reported; answered by
    /// `done`, `idsChanged` or `idsUnknown`.
    case awaitIDs
    /// Write the cursor row durably with what the diff found (transaction 5); answered by `done`, `cursorTaken` or
    /// `idsChanged`.
    case commit(CursorRow, isNewReplica: Bool)
    /// The end: send the answer.
    case answer(PullAnswerPlan)
    /// The end: nothing has changed that a client could see.
    case fail(PullFailure)
    /// The end: the client's schema version cannot be, and nothing has changed.
    case refuse(SchemaRefusal)
    /// The end: nothing has changed, and the pull starts over with the ids that became known.
    case startOver
    /// The end: nothing has changed, and the pull begins anew once earlier pushes are dealt with.
    case finishPushes
}

/// The outcome of the last ``PullAction``.
package enum PullEvent: Hashable, Sendable {
    /// It succeeded, without a result.
    case done
    /// The state's context of the pull.
    case context(PullContext)
    /// The event of the stream.
    case stream(StreamEvent)
    /// True if there is a permit for comparing a whole request type.
    case comparisonGranted(Bool)
    /// The comparison of a whole type has failed; only while ``PullMachine/isComparing``.
    case comparisonFailed
    /// A chunk of the ledger cannot be read; from now on such ones are skipped. Once a pull.
    case ledgerDamaged
    /// The report of the diff.
    case diffed(LedgerDiffReport)
    /// Milliseconds since 1970.
    case clock(Instant)
    /// Another pull of this principal was faster; this is now its newest cursor.
    case cursorTaken(newest: Cursor)
    /// The backend has given ids to pushed records, and the stream may have brought these records without them.
    case idsChanged
    /// The backend is still giving ids to pushed records, and the time for waiting is over.
    case idsUnknown
}

/// The arrays of the answer that get the records, and the strategy by which the client applies it.
package enum PullDelivery: String, Hashable, Sendable {
    /// A first sync: all in `created`, no deletions.
    case first
    /// New records in `created`, changed ones in `updated`, deletions in `deleted`.
    case incremental
    /// All in `updated`, and what does not come is wiped.
    case replacement
}

/// The content of the answer.
package struct PullAnswerPlan: Hashable, Sendable {
    /// The origin of the records.
    package enum Content: Hashable, Sendable {
        /// No records: nothing has changed.
        case nothing
        /// The streamed records.
        case streamed
    }
    /// The tables that the answer replaces on the device.
    package enum Replaced: Hashable, Sendable {
        /// None: the client keeps its records, and gets their deletions by name.
        case nothing
        /// All.
        case everything
        /// These, by the client's names.
        case tables([String])
    }
    /// The timestamp of the answer.
    package var cursor: Cursor
    /// The origin of the records.
    package var content: Content
    /// The delivery of the records.
    package var delivery: PullDelivery
    /// The row that was committed; nil where the presented cursor goes back.
    package var row: CursorRow?
    /// The reason for a full stream, for the log; nil for an incremental pull.
    package var restart: FullStreamReason?
    /// The tables of whose records the client drops those that the answer does not have.
    package var replaced: Replaced

    /// Creates a plan; a replacement replaces everything.
    package init(
        cursor: Cursor, content: Content, delivery: PullDelivery, row: CursorRow? = nil,
        restart: FullStreamReason? = nil
    ) {
        self.cursor = cursor
        self.content = content
        self.delivery = delivery
        self.row = row
        self.restart = restart
        replaced = delivery == .replacement ? .everything : .nothing
    }
}

/// The reason why a pull could not go on from its cursor.
package enum FullStreamReason: String, Hashable, Sendable {
    /// The cursor is not in the state.
    case unknownCursor = "unknown_cursor"
    /// The cursor was made before the session's last reset.
    case olderGeneration = "older_generation"
    /// The cursor was made under another session.
    case otherSession = "other_session"
    /// The backend has sent a reset.
    case reset
    /// The ledger no longer reaches back to the cursor.
    case olderThanLedger = "older_than_ledger"
    /// A part of the ledger cannot be read.
    case damagedLedger = "damaged_ledger"
    /// The operator wanted everything to be compared.
    case resync
    /// A backup of the backend or of the state was restored, and the cursor was made before.
    case distrusted
    /// The backend's complete token is older than the cursor's: a backup of the backend was restored.
    case tokensWentBack = "tokens_went_back"
    /// The backend no longer takes a checkpoint of the cursor, such as one of a type that it has given up.
    case refusedTokens = "refused_tokens"
}
