// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What the gateway does next for a pull; exactly one at a time, each answered by one ``PullEvent``.
package enum PullAction: Hashable, Sendable {
    /// Read what the state knows; answered by `context`.
    case loadContext
    /// Bring what was added to the replica's ledger into its base.
    case compactLedger
    /// Ask for a place among the pulls that compare a whole request type; answered by `comparisonGranted`.
    ///
    /// What is streamed from then on belongs to the comparison, and may have to be forgotten again.
    case beginComparison(type: String)
    /// Forget all that has come since the last `beginComparison`: comparing the type has failed, for the `failures`-th
    /// time in a row, and the pull ends as one that has not tried. Answered by `done`.
    case dropComparison(type: String, failures: Int)
    /// Note durably that the client holds everything up to this cursor (transaction 1).
    case confirm(Cursor)
    /// Note durably what the backend holds (transactions 2 and 3).
    case storePosition(Position)
    /// Ask the backend which checkpoints it holds; answered by `listed`.
    case listCheckpoints
    /// Delete checkpoints by name. Answered by `done` or `namespacesRefused`.
    case forget([String])
    /// Delete all checkpoints of the session.
    case forgetAll
    /// Set checkpoints; never holds a reset token. Answered by `done` or `tokensRefused`.
    case acknowledge([String])
    /// Raise the session's generation and note durably that its position is unknown, in one transaction;
    /// answered by `generationRaised`.
    ///
    /// The reset acknowledgement that follows takes all checkpoints away, so it needs what every ack call needs.
    case raiseGeneration
    /// Acknowledge the reset token, alone.
    case acknowledgeReset(token: String)
    /// Stream these request types from the vector on into the spool; answered by `streamEnded`.
    ///
    /// With `afresh` the spool and all counts of an earlier attempt are thrown away first.
    case stream(types: [String], from: CheckpointVector, afresh: Bool)
    /// Compare what came with what the client has, and decide what goes out; answered by `diffed`.
    ///
    /// May be asked for again after more was streamed; what an earlier one decided is void then.
    case diff(LedgerDiffPlan)
    /// Go on with the spool of ``PullQuery/kept``, instead of an empty one.
    case takeCached
    /// Wait this many milliseconds.
    case sleep(Int64)
    /// Read the clock; answered by `clock`.
    case readClock
    /// Write the cursor row durably with what the diff found (transaction 5); answered by `done` or `cursorTaken`.
    case commit(CursorRow, isNewReplica: Bool)
    /// The end: send the answer.
    case answer(PullAnswerPlan)
    /// The end: nothing has changed that a client could see.
    case fail(PullFailure)
    /// The end: the client's schema version cannot be, and nothing has changed.
    case refuse(SchemaRefusal)
    /// The end of one that only asks what has changed (``PullQuery/isCheck``).
    case endCheck(CheckedStream)
}

/// How asking the stream what has changed since a cursor has ended.
package enum CheckedStream: Hashable, Sendable {
    /// What has come since this vector is complete, and to be compared by the plan.
    case complete(LedgerDiffPlan, since: CheckpointVector)
    /// The stream cannot go on from the cursor: the client has to pull first.
    case outdated(PullRestart)
}

/// What happened to the last ``PullAction``.
package enum PullEvent: Hashable, Sendable {
    /// It worked and there is nothing to tell.
    case done
    /// What the state knows.
    case context(PullContext)
    /// What the backend says it holds.
    case listed(CheckpointVector)
    /// The backend says that it does not take these checkpoints, and would say so again.
    case tokensRefused
    /// The backend does not take the names of these checkpoints: it has given up what they belong to.
    case namespacesRefused
    /// The backend refuses the stream because of its request types, and its answer names these of them.
    ///
    /// Not while ``PullMachine/isComparing``: then it is a failed comparison.
    case typesRefused(named: [String])
    /// The session's new generation.
    case generationRaised(Int)
    /// Whether there is a place for comparing a whole request type.
    case comparisonGranted(Bool)
    /// What was begun for comparing a whole type has failed; only while ``PullMachine/isComparing``.
    case comparisonFailed
    /// A chunk of the ledger cannot be read; from now on such ones are skipped. Once a pull.
    case ledgerDamaged
    /// What came of comparing.
    case diffed(LedgerDiffReport)
    /// The stream is over.
    case streamEnded(StreamReport)
    /// Milliseconds since 1970.
    case clock(Int64)
    /// Another pull of this principal was faster; this is now its newest cursor.
    case cursorTaken(newest: Cursor)
}

/// How one stream request went.
package struct StreamReport: Hashable, Sendable {
    /// Why it ended.
    package enum End: Hashable, Sendable {
        /// With the complete line.
        case complete
        /// Without it: cut, silent for too long, refused for now.
        case broken
        /// With a reset line.
        case reset(token: String)
    }
    /// Why it ended.
    package var end: End
    /// The newest token of every namespace that came in this request.
    package var received: CheckpointVector
    /// Whether any line came that was neither the complete line nor ack-only.
    package var carriedData: Bool

    /// A report.
    package init(end: End, received: CheckpointVector = CheckpointVector(), carriedData: Bool) {
        self.end = end
        self.received = received
        self.carriedData = carriedData
    }
}

/// Into which array of the answer the records go, and how the client is told to apply it.
package enum PullDelivery: String, Hashable, Sendable {
    /// A first sync: all in `created`, no deletions.
    case first
    /// New records in `created`, changed ones in `updated`, deletions in `deleted`.
    case later
    /// All in `updated`, and what does not come is wiped.
    case replacement
}

/// What goes out.
package struct PullAnswerPlan: Hashable, Sendable {
    /// Where the records come from.
    package enum Content: Hashable, Sendable {
        /// Nothing has changed.
        case nothing
        /// What was streamed.
        case streamed
    }
    /// The timestamp of the answer.
    package var cursor: Cursor
    /// Where the records come from.
    package var content: Content
    /// How they are handed out.
    package var delivery: PullDelivery
    /// The row that was committed; nil where the presented cursor goes back.
    package var row: CursorRow?
    /// Why the whole stream came, for the log; nil on a plain pull.
    package var restart: PullRestart?
    /// Whether tables without a ledger are replaced on the device while the others get what has changed.
    package var replacesUnledgered = false

    /// A plan.
    package init(
        cursor: Cursor, content: Content, delivery: PullDelivery, row: CursorRow? = nil, restart: PullRestart? = nil
    ) {
        self.cursor = cursor
        self.content = content
        self.delivery = delivery
        self.row = row
        self.restart = restart
    }
}

/// Why a pull could not go on from its cursor.
package enum PullRestart: String, Hashable, Sendable {
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
    /// The backend no longer takes a checkpoint of the cursor, such as one of a type that it has given up.
    case refusedTokens = "refused_tokens"
}
