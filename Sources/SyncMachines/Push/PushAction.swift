// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The gateway's next step of a push; exactly one at a time, each answered by one ``PushEvent``.
package enum PushAction: Hashable, Sendable {
    /// Read the row of the presented cursor; answered by `context`.
    case loadContext
    /// Note durably that the client holds everything up to this cursor.
    case confirm(Cursor)
    /// Look for the receipt of the very same push; answered by `receipt`.
    case findReceipt
    /// Search the backend's stream for changes of the pushed records by others; answered by `checked` or `refused`.
    case checkConflicts
    /// Make one cheap call that shows whether the backend accepts the credential, unless that is known.
    case verifyCredential
    /// Note durably that these ids are about to be sent (transaction 6).
    case noteSeen
    /// Begin a journal, and note the ids in the same transaction (6).
    case beginJournal
    /// Note durably, in one transaction, which operations were applied or will never be, and which are about to be sent
    /// (transaction 7).
    case advance(applied: [Int], rejected: [Int] = [], inFlight: [Int])
    /// Note durably how the push ends (transaction 8).
    case endJournal(PushEnd)
    /// Note durably that the backend has these operations (transaction 8).
    case noteHeld(Set<Int>)
    /// Note durably that the client gets the present state of these records again, which a 409 is about to name.
    case scheduleRedelivery([PushRefusal.Record])
    /// Send all operations except some in one request, with the vector at the client's time for the
    /// backend's own conflict check; of a push in batches, those of one batch. Another set of operations is
    /// another request, with an idempotency key of its own.
    case sendAll(base: CheckpointVector?, without: Set<Int> = [], batch: Range<Int>? = nil)
    /// Send these operations, a call for each; they do not depend on each other. Once one of them ends the push or is
    /// put off, no further one need be begun. Answered by `sent`.
    case send([Int])
    /// Find out if these operations can be quarantined; answered by `room`.
    case findRoom(Set<Int>)
    /// Quarantine these operations, durably.
    case quarantine(Set<Int>)
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
    /// The end: the outcome is unknown, or the push could not be tried.
    case fail(PushFailure, applied: Int)
    /// The end: the error that a call has failed with.
    case rethrow(applied: Int)
}

/// The end of a push by calls, for its journal.
package struct PushEnd: Hashable, Sendable {
    /// The answer to the client.
    package enum Outcome: Hashable, Sendable {
        /// Success; the answer may be kept for a repeated request.
        case answered(keepsReceipt: Bool)
        /// The backend refuses.
        case refused(PushRefusal)
        /// The outcome is unknown, or the push could not be tried.
        case failed(PushFailure)
        /// The error that a call has failed with.
        case error
    }
    /// The answer to the client.
    package var outcome: Outcome
    /// Operations that were applied and are not noted as that yet.
    package var applied: [Int]
    /// Operations that the backend will never take and that are not noted as that yet.
    package var rejected: [Int]
    /// Operations that may have been applied.
    package var unknown: [Int]
    /// Creates an end.
    package init(_ outcome: Outcome, applied: [Int] = [], rejected: [Int] = [], unknown: [Int] = []) {
        self.outcome = outcome
        self.applied = applied
        self.rejected = rejected
        self.unknown = unknown
    }
}

/// The result of one call of a push.
package enum CallResult: Hashable, Sendable {
    /// The backend has applied it.
    case applied
    /// The backend has applied it, and the journal has that already, with the id that the backend has given.
    case recorded
    /// The backend has applied it and has given an id, which could not be written to the journal.
    case unrecorded
    /// The backend refuses it.
    case refused(PushRefusal)
    /// The backend has put it off; `isKnown` is true if it was certainly not applied, else it may be sent again
    /// although it may have been applied.
    case notNow(after: Int64?, isKnown: Bool)
    /// It may or may not have been applied, and must not be sent again.
    case unknown
    /// It was not applied, and the push cannot go on.
    case failed
}

/// The outcome of the last ``PushAction``.
package enum PushEvent: Hashable, Sendable {
    /// It worked and there is nothing to tell.
    case done
    /// The row of the presented cursor, if there is one.
    case context(CursorRow?)
    /// True if the same push was answered a moment ago.
    case receipt(Bool)
    /// The stream shows no changes of the pushed records by others.
    case checked
    /// All operations that were sent are applied.
    case applied
    /// The results of the operations of one ``PushAction/send(_:)``, by their indices; operations that were not begun
    /// are left out.
    case sent([Int: CallResult])
    /// The backend refuses.
    case refused(PushRefusal)
    /// True if the operations can be quarantined.
    case room(Bool)
    /// The time in milliseconds.
    case clock(Instant)
    /// The request may or may not have been applied.
    case unknownOutcome
    /// The backend has put it off; `isKnown` is true if nothing was certainly applied, else it may be sent again
    /// although it may have been applied: for this many milliseconds, if the backend says so.
    case notNow(after: Int64?, isKnown: Bool)
}

extension PushEvent {
    /// True if operations may have been applied whose outcome is unknown.
    var leavesOpen: Bool {
        switch self {
        case .unknownOutcome, .notNow(_, isKnown: false): true
        case .sent(let results):
            results.values.contains { result in
                switch result {
                case .unknown, .unrecorded, .notNow(_, isKnown: false): true
                case .applied, .recorded, .refused, .notNow, .failed: false
                }
            }
        default: false
        }
    }
}

extension CallResult {
    /// Returns true if further calls may begin once one has had this result.
    func allowsOthers(_ query: PushMachine.Query) -> Bool {
        switch self {
        case .applied, .recorded: true
        case .refused(let refusal): !query.ends(with: refusal)
        case .unrecorded, .notNow, .unknown, .failed: false
        }
    }
}
