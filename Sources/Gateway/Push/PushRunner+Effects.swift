// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Logging
import StateStore
import SyncMachines
import SyncModel
import Telemetry

extension PushRunner: Effects {
    mutating func perform(_ action: PushAction, of machine: PushMachine) async throws -> PushEvent {
        let timing = SyncTrace.begin(action.stage)
        defer { timing.end() }
        let event = try await event(of: action, machine)
        refusals.take(event, of: scope)
        return event
    }

    private mutating func event(of action: PushAction, _ machine: PushMachine) async throws -> PushEvent {
        switch action {
        case .loadContext: return .context(try await loadContext())
        case .confirm(let cursor): try await acceptance.confirm(cursor)
        case .findReceipt: return .receipt(try await receipts.find(scope, &acceptance))
        case .checkConflicts: return try await checkConflicts()
        case .verifyCredential: try await acceptance.obtain()
        case .noteSeen:
            try await acceptance.obtain()
            notedAfter = try await notes.begin()
            if try await notes.writeSeen(operations, with: receipts.end) { receipts.othersHaveEnded() }
        case .noteHeld(let taken):
            unwrittenHeld = taken
            // Otherwise one transaction writes both.
            if !machine.savesReceiptNext { try await writeHeld() }
        case .beginJournal:
            try await acceptance.obtain()
            try await beginJournal()
        case .advance(let applied, let rejected, let inFlight):
            try await advance(applied: applied, rejected: rejected, inFlight: inFlight)
        case .endJournal(let end): try await endJournal(end, of: machine)
        case .scheduleRedelivery(let records):
            try await acceptance.obtain()
            await notes.scheduleRedelivery(records)
        case .sendAll(let base, let without, let batch):
            try await receipts.endOthers(scope, &acceptance)
            return try await sendAll(base: base, without: without, batch: batch)
        case .send(let indices):
            try await receipts.endOthers(scope, &acceptance)
            return await send(indices, of: machine)
        case .readClock: return .clock(scope.now)
        case .sleep(let milliseconds): try await services.clock.sleep(milliseconds: milliseconds)
        case .findRoom(let indices): return .room(quarantine.hasRoom(for: indices))
        case .quarantine(let indices):
            try await quarantine.quarantine(indices, because: refusals)
            try await notes.writeRefused(indices)
        case .saveReceipt:
            // Before the receipt: once it is stored, a repetition of the push does nothing else.
            try await removeQuarantined(machine.taken)
            let held = notes.held(unwrittenHeld)
            if held == nil { try await writeHeld() }
            let reply = PushAnswerMaker(scope, rejected: machine.rejected)
            if await receipts.save(reply, with: held ?? [], scope) { unwrittenHeld = [] }
            try await writeHeld()
        case .answer, .answerFromReceipt, .refuse, .fail, .rethrow: throw PushFailure.unexpectedEvent
        }
        return .done
    }

    /// Notes what the backend has, unless that is done.
    private mutating func writeHeld() async throws {
        guard !unwrittenHeld.isEmpty else { return }
        try await notes.writeHeld(unwrittenHeld)
        unwrittenHeld = []
    }

    mutating func end(_ action: PushAction, of machine: PushMachine) async throws -> PushAnswer? {
        let reply = PushAnswerMaker(scope, rejected: machine.rejected)
        switch action {
        case .answer:
            if !scope.isRetry { scope.trace(machine.taken) }
            try await removeQuarantined(machine.taken)
            await refusals.write(of: scope, from: pusher?.replica)
            // A retry is the operator's and shows nothing about the app.
            if !scope.isRetry { await PushedVersion(scope: scope, pusher: pusher).write() }
            return reply.answer(reply.receipt)
        case .answerFromReceipt:
            logger.info("a push came again and was answered as before")
            await PushedVersion(scope: scope, pusher: pusher).write()
            return reply.answer(receipts.found ?? reply.receipt)
        case .refuse(let refusal, let applied):
            if applied > 0 { logHalfApplied(applied) }
            await leave(machine, dropsNotes: true)
            count(refusal)
            throw PushAnswerMaker(scope, rejected: machine.rejected).refused(
                refusal, applied: applied, present: present)
        case .rethrow(let applied):
            await leave(machine, dropsNotes: true)
            if applied > 0 { logHalfApplied(applied) }
            throw failure ?? PushFailure.unknownOutcome
        case .fail(let failure, let applied): throw await failed(failure, applied: applied, machine)
        case .loadContext, .confirm, .findReceipt, .checkConflicts, .verifyCredential, .noteSeen, .beginJournal,
            .advance, .endJournal, .noteHeld, .scheduleRedelivery, .sendAll, .send, .findRoom, .quarantine, .readClock,
            .sleep, .saveReceipt:
            return nil
        }
    }

    /// Returns the event for an error: only those that a stream push may go on from have one.
    ///
    /// - Throws: Any other error, once what is known about the push is written.
    mutating func event(
        for error: any Error, of action: PushAction, of machine: PushMachine
    ) async throws -> PushEvent {
        if case .sendAll = action, let error = error as? BackendError, let event = postponed(by: error) {
            return event
        }
        if journal == nil { await notes.writeHeldAtLast(machine.taken) }
        await abandonJournal(machine, because: error)
        await leave(machine, dropsNotes: (error as? BackendError).map { !$0.isOutcomeUnknown } ?? false)
        throw error
    }
}

extension PushRunner {
    /// Removes the entries of records that the backend has taken, once: what gives the lease back may come between.
    mutating func removeQuarantined(_ taken: Set<Int>) async throws {
        for key in try await quarantine.remove(taken) { scope.quarantined[key] = nil }
    }
}

// Records and logs of a push that fails.
extension PushRunner {
    /// Writes what is known; the push's notes are dropped only if the backend is known to have applied nothing.
    private func leave(_ machine: PushMachine, dropsNotes: Bool) async {
        await quarantine.removeAfterFailure(machine.taken)
        if dropsNotes, machine.isUnapplied, let notedAfter { await notes.drop(after: notedAfter) }
        await refusals.write(of: scope, from: pusher?.replica)
    }

    /// Writes what is known about a failed push, and returns the error for its client.
    private mutating func failed(_ failure: PushFailure, applied: Int, _ machine: PushMachine) async -> any Error {
        if failure == .unknownOutcome || applied > 0 { logHalfApplied(applied) }
        if let unexpected = machine.unexpected {
            logger.error(
                "a push got an event that no action had asked for",
                metadata: [
                    "code": "\(failure.rawValue)", "state": "\(unexpected.state)", "event": "\(unexpected.event)",
                ])
            // The push may have ended before its journal did.
            if journal == nil { await notes.writeHeldAtLast(machine.taken) }
            await abandonJournal(machine, because: failure)
        }
        await leave(machine, dropsNotes: failure == .busy || failure == .tooManyRefusals)
        if refusals.isEmpty, let replica = pusher?.replica {
            // This is for the operator only; a failure does not change how the push ends.
            try? await scope.change {
                try ReplicaRules.touch(replica, result: "push failed: \(code(of: failure))", at: scope.now, in: &$0)
            }
        }
        let reply = PushAnswerMaker(scope, rejected: machine.rejected)
        switch failure {
        case .busy: return GatewayError(busy: applied, because: delay)
        case .tooManyRefusals:
            logger.error(
                "the backend refuses one record of a push after the other, so the push fails",
                metadata: [
                    "code": "\(failure.rawValue)", "records": "\(machine.rejected.count)",
                    "hint": "a backend names all lines that it refuses in one answer: see docs/BACKEND-PROTOCOL.md",
                ])
            return reply.tooManyRefusals(applied: applied)
        case .unknownOutcome, .unexpectedEvent: return failure
        }
    }

    /// Returns the code that the client gets.
    func code(of failure: PushFailure) -> String {
        failure == .busy ? GatewayError(busy: 0, because: delay).code : failure.rawValue
    }

    private func logHalfApplied(_ applied: Int) {
        let code = applied > 0 ? "push.half_applied" : PushFailure.unknownOutcome.rawValue
        logger.error(
            applied > 0 ? "a push failed half way" : "a push failed, and it is unknown whether it was applied",
            metadata: ["code": "\(code)", "applied": "\(applied)", "operations": "\(operations.count)"])
    }

    /// Counts conflicts, whether the stream or the backend has found them.
    private mutating func count(_ refusal: PushRefusal) {
        guard refusal.kind == .conflict else { return }
        for record in refusal.records { scope.figures.conflicts[record.table, default: 0] += 1 }
    }
}

extension PushAction {
    /// The stage whose time the action takes; nil for actions that measure themselves or take none.
    fileprivate var stage: SyncStage? {
        switch self {
        case .loadContext, .confirm, .findReceipt, .verifyCredential: .state
        case .noteSeen, .noteHeld, .beginJournal, .advance, .endJournal, .scheduleRedelivery, .quarantine,
            .saveReceipt:
            .commit
        case .sendAll, .send: .backend
        case .checkConflicts, .findRoom, .readClock, .sleep, .answer, .answerFromReceipt, .refuse, .fail, .rethrow: nil
        }
    }
}
