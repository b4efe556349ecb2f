// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import StateStore
import SyncMachines
import SyncModel

extension PullRunner: Effects {
    mutating func end(_ action: PullAction, of machine: PullMachine) async throws -> PullEnd? {
        switch action {
        case .answer(let plan): return .answer(try await answer(plan, machine.cachedAnswer))
        case .fail(let failure):
            scope.log(unexpected: machine.unexpected)
            throw failure
        case .refuse(let refusal): throw refusal
        case .startOver: return .startOver
        case .loadContext, .compactLedger, .beginComparison, .dropComparison, .confirm, .stream, .diff, .sleep,
            .readClock, .awaitIDs, .commit:
            return nil
        }
    }

    mutating func perform(_ action: PullAction, of machine: PullMachine) async throws -> PullEvent {
        try Task.checkCancellation()
        switch action {
        case .loadContext:
            return .context(try await loadContext())
        case .compactLedger:
            try await stream.acceptance.obtain()
            return try await readingLedger { runner in
                try await runner.device.compactLedger()
                return .done
            }
        case .beginComparison(let type): return .comparisonGranted(beginComparison(type))
        case .dropComparison(let type, let failures): try await dropComparison(type, failures: failures)
        case .diff(let plan): return try await readingLedger { .diffed(try await $0.diff(plan)) }
        case .confirm(let cursor): try await stream.acceptance.confirm(cursor)
        case .stream(let action): return .stream(try await perform(action, of: machine))
        case .sleep(let milliseconds): try await scope.services.clock.sleep(milliseconds: milliseconds)
        case .readClock: return .clock(scope.now + scope.store.cursorLead)
        case .awaitIDs: return try await device.awaitIDs(after: stream.spooler)
        case .commit(let row, let isNewReplica): return try await commit(row, isNewReplica: isNewReplica)
        case .answer, .fail, .refuse, .startOver: throw PullFailure.unexpectedEvent
        }
        return .done
    }

    /// Turns a failure of a comparison into an event, since it need not fail the pull.
    mutating func event(
        for error: any Error, of action: PullAction, of machine: PullMachine
    ) async throws -> PullEvent {
        guard machine.isComparing, Self.isOfStream(error), !Task.isCancelled else { throw error }
        comparisonFailure = error
        return .comparisonFailed
    }

    /// Runs work on the ledger.
    ///
    /// Its unreadable parts do not stop the device for good.
    private mutating func readingLedger(
        _ body: (inout PullRunner) async throws -> PullEvent
    ) async throws -> PullEvent {
        do {
            return try await body(&self)
        } catch let error as LedgerError {
            try await device.passOver(error)
            return .ledgerDamaged
        }
    }
}
