// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import StateStore
import SyncEngine
import SyncModel

// What the client and the operator hear of a push that comes to a bad end.
extension PushRunner {
    /// Writes down what a failed push leaves, and says what its client hears.
    mutating func failed(_ failure: PushFailure, applied: Int, _ machine: PushMachine) async -> any Error {
        if failure == .unknownOutcome || applied > 0 { tellHalf(applied) }
        if let unexpected = machine.unexpected {
            logger.error(
                "a push got what it had not asked for",
                metadata: [
                    "code": "\(failure.rawValue)", "state": "\(unexpected.state)", "event": "\(unexpected.event)",
                ])
            // It may have ended before its journal did.
            if journal == nil { await noteApplied(machine.taken) }
            await abandonJournal(machine, because: failure)
        }
        await removeTakenAtLast()
        await noteRefusals()
        if refusals.isEmpty, let replica = pusher?.replica {
            // For the operator; the push ends as it does.
            try? await services.store.touch(
                replica: replica, result: "push failed: \(failure.rawValue)", at: services.clock.now)
        }
        switch failure {
        case .busy:
            await dropNotes(machine)
            return busy(applied: applied)
        case .tooManyRefusals:
            await dropNotes(machine)
            return tooManyRefusals(applied: applied)
        case .unknownOutcome, .unexpectedEvent: return failure
        }
    }

    func tellHalf(_ applied: Int) {
        logger.error(
            "a push failed half way",
            metadata: ["code": "push.half_applied", "applied": "\(applied)", "operations": "\(plan.operations.count)"])
    }

    private func tooManyRefusals(applied: Int) -> GatewayError {
        logger.error(
            "the backend refuses one record of a push after the other, so the push fails",
            metadata: [
                "code": "\(PushFailure.tooManyRefusals.rawValue)", "records": "\(rejected.count)",
                "hint": "a backend names all lines that it refuses in one answer: see docs/BACKEND-PROTOCOL.md",
            ])
        return GatewayError(
            status: 422, code: PushFailure.tooManyRefusals.rawValue,
            message: applied > 0
                ? "The server did not accept all of your changes." : "The server did not accept your changes.",
            details: recordLists(rejected.sorted().map { record(plan.operations[$0], nil, place: $0) }),
            cause: "the backend refuses one record after the other", figures: figures)
    }
}
