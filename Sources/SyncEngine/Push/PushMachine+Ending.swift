// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

// How a push ends, and what has to be written before.
extension PushMachine {
    /// Schedules the redelivery of what a conflict has named, notes what the backend has, then does the last thing.
    mutating func end(_ action: PushAction) -> PushAction {
        guard query.notes, row != nil, case .refuse(let refusal, _) = action, refusal.kind == .conflict else {
            return close(action)
        }
        step = .awaitingRedelivery(action)
        return .scheduleRedelivery(refusal.records)
    }

    mutating func close(_ action: PushAction) -> PushAction {
        guard query.style == .stream, query.notes, applied > 0 else { return finish(action) }
        step = .closing(action)
        return .noteHeld(operations: next)
    }

    mutating func finish(_ action: PushAction) -> PushAction {
        // Durable before anybody can hear that it was taken, from a receipt too.
        if query.rejection == .quarantine, !rejected.isEmpty, !isSetAside, action == .saveReceipt || action == .answer {
            isSetAside = true
            step = .closing(action)
            return .setAside(rejected)
        }
        if calls.hasBegun { return endJournal(action) }
        step = action == .saveReceipt ? .savingReceipt : .ended
        return action
    }

    /// Ends a push whose machine got what it had not asked for, with as much written as can be.
    ///
    /// What was being sent may have been applied.
    mutating func fail(_ event: PushEvent) -> PushAction {
        unexpected = unexpected ?? UnexpectedEvent(event, in: step)
        calls.abandon()
        let failure = PushAction.fail(.unexpectedEvent, applied: applied)
        switch step {
        case .loading, .confirming, .findingReceipt, .checking, .verifying, .noting, .applying, .pausing, .advancing,
            .findingRoom, .timing:
            return end(failure)
        case .savingReceipt, .ended, .endingJournal, .awaitingRedelivery, .closing:
            step = .ended
            return failure
        }
    }
}
