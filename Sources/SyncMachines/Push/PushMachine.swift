// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Decides every step of a push and does none of them: actions out, events in.
///
/// Order: confirm the presented cursor, look for a receipt, look for conflicts, note what is about to be sent, apply,
/// note what the backend has, write the receipt, answer. A push is answered with success only after the backend has
/// said so for every operation. Calls are made in batches, and what is noted of them is a journal.
package struct PushMachine: SyncMachine, Sendable {
    /// The way in which operations reach the backend.
    package enum Style: Hashable, Sendable {
        /// One request, one transaction; or one for each batch.
        case stream
        /// A call for each operation, those that do not depend on each other side by side.
        case calls
    }

    /// The step of the push, with the data of that step.
    ///
    /// The enum is indirect, because a course is large and a state is copied with every event.
    indirect enum State: Sendable {
        case loading
        case confirming(PushCourse)
        case findingReceipt(PushCourse)
        case checking(PushCourse)
        /// No operation is to be sent; the credential is verified.
        case verifying(PushCourse)
        /// The operations that are about to be sent are noted.
        case notingSeen(PushCourse)
        case sending(PushCourse)
        case pausing(PushCourse)
        /// The results of a batch of calls are written; then there is a pause, or the next batch is sent.
        case advancing(PushCourse, pause: Int64?)
        /// The room in the quarantine for refused operations is checked.
        case findingRoom(PushCourse, PushRefusal)
        /// The clock is read, to limit how long the backend may refuse one line after the other.
        case readingClock(PushCourse)
        /// The redelivery of the records in a conflict is scheduled, then the push ends with the action.
        case schedulingRedelivery(PushCourse, PushAction)
        /// The applied operations are noted, then the push ends with the action.
        case notingHeld(PushCourse, PushAction)
        /// The refused operations are quarantined, then the push ends with the action.
        case quarantining(PushCourse, PushAction)
        /// The last transaction of the journal is written, then the push ends with the action.
        case endingJournal(PushCourse, PushAction)
        case savingReceipt(PushCourse)
        case ended(PushCourse?)
    }

    let query: Query
    var state = State.loading
    var outcome = PushOutcome()
    /// The event that no action had asked for; the push fails then (`internal.unexpected_event`).
    package internal(set) var unexpected: UnexpectedEvent?

    /// Creates a push that has not begun.
    package init(query: Query) { self.query = query }

    /// Returns the first action.
    package mutating func begin() -> PushAction { .loadContext }

    /// Takes any event and returns the next action.
    package mutating func handle(_ event: PushEvent) -> PushAction {
        outcome.wasUncertain = outcome.wasUncertain || event.leavesOpen
        return switch event {
        case .done: done()
        case .context(let row): contextLoaded(row)
        case .receipt(let isThere): receiptFound(isThere)
        case .checked: checked()
        case .applied: allApplied()
        case .sent(let results): sent(results)
        case .refused(let refusal): refused(refusal)
        case .room(let isThere): roomFound(isThere)
        case .clock(let now): clockRead(now)
        case .unknownOutcome: outcomeUnknown()
        case .notNow(let after, let isKnown): putOff(after, isKnown: isKnown)
        }
    }

    private mutating func done() -> PushAction {
        switch state {
        case .confirming(let course): return lookForReceipt(course)
        case .verifying(let course): return finish(course, .answer)
        case .notingSeen(let course), .pausing(let course): return send(course)
        case .advancing(var course, let pause):
            course.written()
            guard let pause else { return send(course) }
            state = .pausing(course)
            return .sleep(pause)
        case .schedulingRedelivery(let course, let action): return noteHeld(course, action)
        case .notingHeld(let course, let action): return quarantine(course, action)
        case .quarantining(let course, let action): return write(course, action)
        case .endingJournal(let course, let action): return finish(course, action)
        case .savingReceipt(let course): return finish(course, .answer)
        case .loading, .findingReceipt, .checking, .sending, .findingRoom, .readingClock, .ended:
            return fail(.done)
        }
    }

    private mutating func contextLoaded(_ row: CursorRow?) -> PushAction {
        switch state {
        case .loading:
            let course = PushCourse(row, query)
            guard let row, !row.isConfirmed else { return lookForReceipt(course) }
            state = .confirming(course)
            return .confirm(row.cursor)
        case .confirming, .findingReceipt, .checking, .verifying, .notingSeen, .sending, .pausing, .advancing,
            .findingRoom,
            .readingClock, .schedulingRedelivery, .notingHeld, .quarantining, .endingJournal, .savingReceipt, .ended:
            return fail(.context(row))
        }
    }

    private mutating func receiptFound(_ isThere: Bool) -> PushAction {
        switch state {
        case .findingReceipt(let course): return isThere ? finish(course, .answerFromReceipt) : check(course)
        case .loading, .confirming, .checking, .verifying, .notingSeen, .sending, .pausing, .advancing, .findingRoom,
            .readingClock, .schedulingRedelivery, .notingHeld, .quarantining, .endingJournal, .savingReceipt, .ended:
            return fail(.receipt(isThere))
        }
    }

    private mutating func checked() -> PushAction {
        switch state {
        case .checking(let course): return apply(course)
        case .loading, .confirming, .findingReceipt, .verifying, .notingSeen, .sending, .pausing, .advancing,
            .findingRoom,
            .readingClock, .schedulingRedelivery, .notingHeld, .quarantining, .endingJournal, .savingReceipt, .ended:
            return fail(.checked)
        }
    }

    private mutating func allApplied() -> PushAction {
        switch state {
        case .sending(let course):
            guard case .stream(let stream) = course.sending else { return fail(.applied) }
            return batchApplied(course, stream)
        case .loading, .confirming, .findingReceipt, .checking, .verifying, .notingSeen, .pausing, .advancing,
            .findingRoom,
            .readingClock, .schedulingRedelivery, .notingHeld, .quarantining, .endingJournal, .savingReceipt, .ended:
            return fail(.applied)
        }
    }

    private mutating func sent(_ results: [Int: CallResult]) -> PushAction {
        switch state {
        case .sending(let course):
            guard case .calls(let calls) = course.sending, calls.fits(results, query) else {
                return fail(.sent(results))
            }
            return callBatchEnded(course, calls, results: results)
        case .loading, .confirming, .findingReceipt, .checking, .verifying, .notingSeen, .pausing, .advancing,
            .findingRoom,
            .readingClock, .schedulingRedelivery, .notingHeld, .quarantining, .endingJournal, .savingReceipt, .ended:
            return fail(.sent(results))
        }
    }

    private mutating func refused(_ refusal: PushRefusal) -> PushAction {
        switch state {
        case .checking(let course): return end(course, .refuse(refusal, applied: 0))
        case .sending(let course):
            guard case .stream = course.sending, query.fits(refusal) else { return fail(.refused(refusal)) }
            return streamRefused(course, refusal)
        case .loading, .confirming, .findingReceipt, .verifying, .notingSeen, .pausing, .advancing, .findingRoom,
            .readingClock,
            .schedulingRedelivery, .notingHeld, .quarantining, .endingJournal, .savingReceipt, .ended:
            return fail(.refused(refusal))
        }
    }

    private mutating func roomFound(_ isThere: Bool) -> PushAction {
        switch state {
        case .findingRoom(let course, let refusal):
            return isThere
                ? goOn(course, without: refusal) : end(course, .refuse(refusal, applied: applied))
        case .loading, .confirming, .findingReceipt, .checking, .verifying, .notingSeen, .sending, .pausing, .advancing,
            .readingClock, .schedulingRedelivery, .notingHeld, .quarantining, .endingJournal, .savingReceipt, .ended:
            return fail(.room(isThere))
        }
    }

    private mutating func clockRead(_ now: Instant) -> PushAction {
        switch state {
        case .readingClock(let course): return sendAgain(course, at: now)
        case .loading, .confirming, .findingReceipt, .checking, .verifying, .notingSeen, .sending, .pausing, .advancing,
            .findingRoom, .schedulingRedelivery, .notingHeld, .quarantining, .endingJournal, .savingReceipt, .ended:
            return fail(.clock(now))
        }
    }

    private mutating func outcomeUnknown() -> PushAction {
        switch state {
        case .sending(var course):
            guard case .stream(var stream) = course.sending else { return fail(.unknownOutcome) }
            guard stream.attempt < query.attempts else { return end(course, .fail(.unknownOutcome, applied: applied)) }
            let pause = query.backoff << Int64(min(stream.attempt, 6))
            stream.attempt += 1
            course.sending = .stream(stream)
            state = .pausing(course)
            return .sleep(pause)
        case .loading, .confirming, .findingReceipt, .checking, .verifying, .notingSeen, .pausing, .advancing,
            .findingRoom,
            .readingClock, .schedulingRedelivery, .notingHeld, .quarantining, .endingJournal, .savingReceipt, .ended:
            return fail(.unknownOutcome)
        }
    }

    private mutating func putOff(_ after: Int64?, isKnown: Bool) -> PushAction {
        switch state {
        case .sending(var course):
            guard case .stream = course.sending else { return fail(.notNow(after: after, isKnown: isKnown)) }
            guard let pause = course.patience.pause(after, query) else {
                return end(course, .fail(isKnown ? .busy : .unknownOutcome, applied: applied))
            }
            state = .pausing(course)
            return .sleep(pause)
        case .loading, .confirming, .findingReceipt, .checking, .verifying, .notingSeen, .pausing, .advancing,
            .findingRoom,
            .readingClock, .schedulingRedelivery, .notingHeld, .quarantining, .endingJournal, .savingReceipt, .ended:
            return fail(.notNow(after: after, isKnown: isKnown))
        }
    }
}

// What others may know of it.
extension PushMachine {
    /// The indices of the operations that the backend will never take.
    package var rejected: Set<Int> { outcome.rejected }
    /// The indices of the operations that the backend is known to have applied.
    package var taken: Set<Int> { outcome.taken }
    /// The number of operations that the backend is known to have applied.
    package var applied: Int { outcome.taken.count }
    /// Operations that may have been applied.
    package var unknown: [Int] { course?.unknown.sorted() ?? [] }
    /// The end of a push that an error has cut short, for its journal.
    package var interruption: PushEnd { PushEnd(.error, course?.unwritten ?? .init(), unknown: unknown) }
    /// Returns true if further calls may begin once one has had this result.
    package func goesOn(after result: CallResult) -> Bool { result.allowsOthers(query) }
    /// True if the backend is known to have applied nothing: an outcome that was once unknown stays unknown here,
    /// even if a later attempt was refused.
    package var isUnapplied: Bool { outcome.taken.isEmpty && !outcome.wasUncertain }

    var course: PushCourse? {
        switch state {
        case .loading: nil
        case .confirming(let course), .findingReceipt(let course), .checking(let course), .verifying(let course),
            .notingSeen(let course), .sending(let course), .pausing(let course), .advancing(let course, _),
            .findingRoom(let course, _), .readingClock(let course), .schedulingRedelivery(let course, _),
            .notingHeld(let course, _), .quarantining(let course, _), .endingJournal(let course, _),
            .savingReceipt(let course):
            course
        case .ended(let course): course
        }
    }
}
