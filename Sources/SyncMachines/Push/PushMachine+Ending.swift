// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

// How a push ends, and what has to be written before.
extension PushMachine {
    /// Schedules the redelivery of the records in a conflict, notes what the backend has, then ends with the action.
    mutating func end(_ course: PushCourse, _ action: PushAction) -> PushAction {
        guard query.notes, course.row != nil, case .refuse(let refusal, _) = action, refusal.kind == .conflict else {
            return noteHeld(course, action)
        }
        state = .schedulingRedelivery(course, action)
        return .scheduleRedelivery(refusal.records)
    }

    mutating func noteHeld(_ course: PushCourse, _ action: PushAction) -> PushAction {
        guard case .stream = course.sending, query.notes, applied > 0 else { return quarantine(course, action) }
        state = .notingHeld(course, action)
        return .noteHeld(taken)
    }

    /// True if the receipt is saved right after the note of what the backend has, so that one transaction can write both.
    package var savesReceiptNext: Bool {
        if case .notingHeld(_, .saveReceipt) = state { rejected.isEmpty } else { false }
    }

    /// Quarantines what was refused: durable before anybody can hear that it was taken, from a receipt too.
    mutating func quarantine(_ course: PushCourse, _ action: PushAction) -> PushAction {
        guard query.quarantines, !rejected.isEmpty, action == .saveReceipt || action == .answer else {
            return write(course, action)
        }
        state = .quarantining(course, action)
        return .quarantine(rejected)
    }

    /// Writes the journal's last transaction, with the receipt, or the receipt alone.
    mutating func write(_ course: PushCourse, _ action: PushAction) -> PushAction {
        if case .calls(let calls) = course.sending, let unwritten = calls.journal?.unwritten {
            state = .endingJournal(course, action == .saveReceipt ? .answer : action)
            return .endJournal(PushEnd(Self.outcome(action), unwritten, unknown: calls.unknown.sorted()))
        }
        guard action == .saveReceipt else { return finish(course, action) }
        state = .savingReceipt(course)
        return .saveReceipt
    }

    /// Returns the outcome for the journal.
    private static func outcome(_ action: PushAction) -> PushEnd.Outcome {
        switch action {
        case .refuse(let refusal, _): .refused(refusal)
        case .fail(let failure, _): .failed(failure)
        case .rethrow: .error
        default: .answered(keepsReceipt: action == .saveReceipt)
        }
    }

    mutating func finish(_ course: PushCourse, _ action: PushAction) -> PushAction {
        state = .ended(course)
        return action
    }

    /// Ends a push whose machine got what it had not asked for, with as much written as can be.
    ///
    /// What was being sent may have been applied.
    mutating func fail(_ event: PushEvent) -> PushAction {
        unexpected = unexpected ?? UnexpectedEvent(event, in: state)
        var course = course
        course?.abandon()
        let failure = PushAction.fail(.unexpectedEvent, applied: applied)
        switch state {
        case .confirming, .findingReceipt, .checking, .verifying, .notingSeen, .sending, .pausing, .advancing,
            .findingRoom,
            .readingClock:
            if let course { return end(course, failure) }
        case .loading, .schedulingRedelivery, .notingHeld, .quarantining, .endingJournal, .savingReceipt, .ended: break
        }
        state = .ended(course)
        return failure
    }
}
