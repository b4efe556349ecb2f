// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Decides every step of a push and does none of them: actions out, events in.
///
/// Order: confirm the presented cursor, look for a receipt, look for conflicts, note what is about to be sent, apply,
/// note what the backend has, write the receipt, answer. A push is answered with success only after the backend has
/// said so for every operation. Calls are made in batches, and what is noted of them is a journal.
package struct PushMachine: SyncMachine, Sendable {
    /// How operations reach the backend.
    package enum Style: Hashable, Sendable {
        /// One request, one transaction; or one for each batch.
        case stream
        /// A call for each operation, those that do not depend on each other side by side.
        case calls
    }

    /// What a record means that the backend will never take.
    package enum Rejection: Hashable, Sendable {
        /// The push fails; nothing behind it is tried.
        case fail
        /// The others go on, and the answer names it (`experimentalRejectedIds`).
        case report
        /// The others go on, and it is set aside before the answer; without room for it the push fails.
        case quarantine
    }

    enum Step: Sendable {
        case loading, confirming, findingReceipt, checking, verifying, noting, applying, pausing, savingReceipt, ended
        /// What comes of a batch of calls is written; then there is a pause, or the next one is sent.
        case advancing(pause: Int64?)
        /// The last transaction of a journal is written, then this is done.
        case endingJournal(PushAction)
        /// The redelivery of what a conflict has named is scheduled, then this is done.
        case awaitingRedelivery(PushAction)
        /// The notes of what is applied are written, then this is done.
        case closing(PushAction)
        /// Whether what is refused can be set aside.
        case findingRoom(PushRefusal)
        /// How long the backend has been refusing one line after the other.
        case timing
    }

    let query: Query
    var step = Step.loading
    private(set) var row: CursorRow?
    var attempt = 0
    /// How often a stream push was sent again without what was refused, and when that began.
    var rounds = 0
    var firstRound: Int64?
    /// The first operation of a stream push whose outcome is open.
    private(set) var next = 0
    /// How often in a row something was put off, and how long the push has waited altogether.
    var retries = 0
    private var waited: Int64 = 0
    var isSetAside = false
    /// What has become of the calls.
    var calls = CallBatches()

    /// The places of the operations that the backend will never take.
    package internal(set) var rejected: Set<Int> = []
    /// The places of the operations that the backend is known to have applied.
    package internal(set) var taken: Set<Int> = []
    /// What came where nothing of its kind was asked for; the push fails then (`internal.unexpected_event`).
    package internal(set) var unexpected: UnexpectedEvent?
    /// How many operations the backend is known to have applied.
    package var applied: Int { taken.count }
    /// Operations that may have been applied.
    package var unknown: [Int] { calls.unknown.sorted() }
    /// Whether the backend is known to have applied nothing: what an answer has once left open stays open here,
    /// whatever a later attempt was told.
    package var isUnapplied: Bool { taken.isEmpty && !wasUncertain }
    private var wasUncertain = false

    /// A push that is about to begin.
    package init(query: Query) {
        self.query = query
        calls = CallBatches(levels: query.style == .calls ? query.levels : [], parallel: query.parallel)
    }

    /// The first action.
    package mutating func begin() -> PushAction { .loadContext }

    /// Takes what happened and says what to do next, whatever it is.
    package mutating func handle(_ event: PushEvent) -> PushAction {
        wasUncertain = wasUncertain || event.leavesOpen
        switch (step, event) {
        case (.loading, .context(let row)):
            self.row = row
            step = .confirming
            if let row, !row.isConfirmed { return .confirm(row.cursor) }
            return lookForReceipt()
        case (.confirming, .done): return lookForReceipt()
        case (.findingReceipt, .receipt(let found)):
            guard !found else {
                step = .ended
                return .answerFromReceipt
            }
            return check()
        case (.checking, .checked): return apply()
        case (.checking, .refused(let refusal)): return end(.refuse(refusal, applied: 0))
        case (.verifying, .done):
            step = .ended
            return .answer
        case (.applying, .sent(let results)) where query.style == .calls && calls.fits(results, self):
            return callBatchEnded(results)
        case (.applying, .applied) where query.style == .stream: return batchApplied()
        case (.applying, .refused(let refusal)) where query.style == .stream && fits(refusal): return refused(refusal)
        case (.findingRoom(let refusal), .room(let isThere)):
            return isThere ? goOn(without: refusal) : end(.refuse(refusal, applied: applied))
        case (.timing, .clock(let now)): return sendAgain(at: now)
        case (.applying, .notNow(let after, let isKnown)) where query.style == .stream:
            guard let pause = pause(after) else {
                return end(.fail(isKnown ? .busy : .unknownOutcome, applied: applied))
            }
            step = .pausing
            return .sleep(pause)
        case (.applying, .unknownOutcome) where query.style == .stream:
            guard attempt < query.attempts else { return end(.fail(.unknownOutcome, applied: applied)) }
            defer { attempt += 1 }
            step = .pausing
            return .sleep(query.backoff << Int64(min(attempt, 6)))
        case (.noting, .done), (.pausing, .done): return send()
        case (.advancing(let pause?), .done):
            step = .pausing
            return .sleep(pause)
        case (.advancing(nil), .done): return send()
        case (.endingJournal(let action), .done):
            step = .ended
            return action
        case (.awaitingRedelivery(let action), .done): return close(action)
        case (.closing(let action), .done): return finish(action)
        case (.savingReceipt, .done):
            step = .ended
            return .answer
        default: return fail(event)
        }
    }

    private mutating func lookForReceipt() -> PushAction {
        guard query.hasToldTime else { return apply() }
        step = .findingReceipt
        return .findReceipt
    }

    private mutating func check() -> PushAction {
        guard query.checks, query.operations > 0 else { return apply() }
        step = .checking
        return .checkConflicts
    }

    private mutating func apply() -> PushAction {
        guard query.operations > 0 else {
            step = .verifying
            return .verifyCredential
        }
        guard query.style == .stream else {
            calls.begin()
            step = .noting
            return .beginJournal
        }
        guard query.notes else { return send() }
        step = .noting
        return .noteSeen
    }

    /// Sends everything, or what of the calls is next: that these are about to be sent is written down before.
    mutating func send() -> PushAction {
        step = .applying
        guard query.style == .calls else {
            return .sendAll(base: row?.vector, without: rejected, batch: query.batch > 0 ? batch : nil)
        }
        let (applied, inFlight) = calls.toWrite()
        guard applied.isEmpty, inFlight.isEmpty else {
            step = .advancing(pause: nil)
            return .advance(applied: applied, inFlight: inFlight)
        }
        return calls.callBatch.isEmpty ? end(query.hasToldTime ? .saveReceipt : .answer) : .send(calls.callBatch)
    }

    /// The operations of a stream push that are sent at present, in the order in which they can be applied: so a batch
    /// has what it refers to in it or behind it.
    var batch: Range<Int> {
        next..<min(next + (query.batch > 0 ? query.batch : query.operations), query.operations)
    }

    mutating func batchApplied() -> PushAction {
        taken.formUnion(Set(batch).subtracting(rejected))
        next = batch.upperBound
        retries = 0
        attempt = 0
        (rounds, firstRound) = (0, nil)
        guard next >= query.operations else { return send() }
        return end(query.hasToldTime ? .saveReceipt : .answer)
    }

    /// How long to wait before it is tried again; nil where the budget does not hold that.
    mutating func pause(_ after: Int64?) -> Int64? {
        let pause = max(after ?? 0, query.backoff << Int64(min(retries, 6)))
        guard pause <= query.retryBudget - waited else { return nil }
        waited += pause
        retries += 1
        return pause
    }
}
