// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What the gateway does next for a push; exactly one at a time, each answered by one ``PushEvent``.
package enum PushAction: Hashable, Sendable {
    /// Read the row of the presented cursor; answered by `context`.
    case loadContext
    /// Note durably that the client holds everything up to this cursor.
    case confirm(Cursor)
    /// Look for the receipt of the very same push; answered by `receipt`.
    case findReceipt
    /// Ask the backend's stream whether somebody else has changed what is pushed; answered by `checked` or `refused`.
    case checkConflicts
    /// Make one cheap call that shows whether the backend accepts the credential, unless that is known.
    case verifyCredential
    /// Note durably that these ids are about to be sent (transaction 6).
    case noteSeen
    /// Begin a journal, and note the ids in the same transaction (6).
    case beginJournal
    /// Note durably, in one transaction, which operations were applied and which are about to be sent (transaction 7).
    case advance(applied: [Int], inFlight: [Int])
    /// Note durably how the push ends (transaction 8).
    case endJournal(PushEnd)
    /// Note durably that the backend has so many of the operations, counted from the first (transaction 8).
    case noteHeld(operations: Int)
    /// Note durably that the client gets the present state of these records again, which a 409 is about to name.
    case scheduleRedelivery([PushRefusal.Record])
    /// Send all operations but those at some places in one request, with the vector at the client's time for the
    /// backend's own conflict check; of a push that goes in batches, those of one batch. Another set of places is
    /// another request, with an idempotency key of its own.
    case sendAll(base: CheckpointVector?, without: Set<Int> = [], batch: Range<Int>? = nil)
    /// Send these operations, a call for each; they do not depend on each other. Once one of them ends the push or is
    /// put off, no further one need be begun. Answered by `sent`.
    case send([Int])
    /// Find out whether the operations at these places can be set aside; answered by `room`.
    case findRoom(Set<Int>)
    /// Set the operations at these places aside, durably.
    case setAside(Set<Int>)
    /// Read the clock; answered by `clock`.
    case readClock
    /// Wait this many milliseconds.
    case sleep(Int64)
    /// Keep the answer for a repeated request.
    case saveReceipt
    /// The end: success.
    case answer
    /// The end: success, as answered before.
    case answerFromReceipt
    /// The end: the backend refuses; `applied` operations stay where it has no transactions.
    case refuse(PushRefusal, applied: Int)
    /// The end: nobody knows, or it could not be tried.
    case fail(PushFailure, applied: Int)
    /// The end: the error that a call has failed with.
    case rethrow(applied: Int)
}

/// How a push by calls ends, for its journal.
package struct PushEnd: Hashable, Sendable {
    /// What the client hears.
    package enum Outcome: Hashable, Sendable {
        /// Success; the answer may be kept for a repeated request.
        case answered(keepsReceipt: Bool)
        /// The backend refuses.
        case refused(PushRefusal)
        /// Nobody knows, or it could not be tried.
        case failed(PushFailure)
        /// The error that a call has failed with.
        case error
    }
    /// What the client hears.
    package var outcome: Outcome
    /// Operations that were applied and are not noted as that yet.
    package var applied: [Int]
    /// Operations that may have been applied.
    package var unknown: [Int]
    /// An end.
    package init(_ outcome: Outcome, applied: [Int] = [], unknown: [Int] = []) {
        self.outcome = outcome
        self.applied = applied
        self.unknown = unknown
    }
}

/// What became of one call of a push.
package enum CallResult: Hashable, Sendable {
    /// The backend has applied it.
    case applied
    /// The backend refuses it.
    case refused(PushRefusal)
    /// It was not applied, or may be sent again whatever became of it, and the backend may take it a little later.
    case notNow(after: Int64?, isKnown: Bool)
    /// It may or may not have been applied, and must not be sent again.
    case unknown
    /// It was not applied, and the push cannot go on.
    case failed
}

/// What happened to the last ``PushAction``.
package enum PushEvent: Hashable, Sendable {
    /// It worked and there is nothing to tell.
    case done
    /// The row of the presented cursor, if there is one.
    case context(CursorRow?)
    /// Whether the very same push was answered a moment ago.
    case receipt(Bool)
    /// Nobody else has changed what is pushed, as far as the stream tells.
    case checked
    /// All operations that were sent are applied.
    case applied
    /// What became of the operations of one ``PushAction/send(_:)``, by their places; those that were not begun are
    /// left out.
    case sent([Int: CallResult])
    /// The backend refuses.
    case refused(PushRefusal)
    /// Whether operations can be set aside.
    case room(Bool)
    /// The time in milliseconds.
    case clock(Int64)
    /// The request may or may not have been applied.
    case unknownOutcome
    /// It was not applied, or may be sent again whatever became of it, and the backend may take it a little later:
    /// after so many milliseconds, where it says so.
    case notNow(after: Int64?, isKnown: Bool)
}

extension PushEvent {
    /// Whether something may have been applied of which nobody knows.
    var leavesOpen: Bool {
        switch self {
        case .unknownOutcome, .notNow(_, isKnown: false): true
        case .sent(let results):
            results.values.contains { result in
                switch result {
                case .unknown, .notNow(_, isKnown: false): true
                case .applied, .refused, .notNow, .failed: false
                }
            }
        default: false
        }
    }
}
