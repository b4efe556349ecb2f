// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Logging
import SyncEngine

extension PushRunner: Effects {
    mutating func end(_ action: PushAction, of machine: PushMachine) async throws -> PushAnswer? {
        (rejected, taken) = (machine.rejected, machine.taken)
        switch action {
        case .answer:
            try await removeTaken()
            await noteRefusals()
            // A retry is the operator's, and says nothing of the app.
            if !isRetry { await noteVersion() }
            return answer(newReceipt)
        case .answerFromReceipt:
            logger.info("a push came again and was answered as before")
            await noteVersion()
            return answer(receipt ?? newReceipt)
        case .refuse(let refusal, let applied):
            if applied > 0 { tellHalf(applied) }
            await removeTakenAtLast()
            await dropNotes(machine)
            await noteRefusals()
            count(refusal)
            throw refused(refusal, applied: applied)
        case .rethrow(let applied):
            await removeTakenAtLast()
            await dropNotes(machine)
            await noteRefusals()
            if applied > 0 { tellHalf(applied) }
            throw failure ?? PushFailure.unknownOutcome
        case .fail(let failure, let applied): throw await failed(failure, applied: applied, machine)
        case .loadContext, .confirm, .findReceipt, .checkConflicts, .verifyCredential, .noteSeen, .beginJournal,
            .advance, .endJournal, .noteHeld, .scheduleRedelivery, .sendAll, .send, .findRoom, .setAside, .readClock,
            .sleep, .saveReceipt:
            return nil
        }
    }

    mutating func perform(_ action: PushAction, of machine: PushMachine) async throws -> PushEvent {
        let event = try await perform(action)
        note(event)
        return event
    }

    /// No error is an event: the push ends, and leaves behind what is known of it.
    mutating func event(
        for error: any Error, of action: PushAction, of machine: PushMachine
    ) async throws -> PushEvent {
        if journal == nil { await noteApplied(machine.taken) }
        await abandonJournal(machine, because: error)
        await removeTakenAtLast()
        await noteRefusals()
        if let error = error as? BackendError, !error.isOutcomeUnknown { await dropNotes(machine) }
        throw error
    }
}
