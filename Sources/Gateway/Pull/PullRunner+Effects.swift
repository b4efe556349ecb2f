// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Ledger
import StateStore
import SyncMachines
import SyncModel
import Telemetry

extension PullRunner: Effects {
    mutating func end(_ action: PullAction, of machine: PullMachine) async throws -> PullEnd? {
        switch action {
        case .answer(let plan): return .answer(try await answer(plan, machine.cachedAnswer))
        case .fail(let failure):
            scope.log(unexpected: machine.unexpected)
            throw failure
        case .refuse(let refusal): throw refusal
        case .startOver: return .startOver
        case .finishPushes:
            if let cached = stream.cached { scope.services.cachedAnswers.putBack(cached, at: scope.now) }
            return .heldUp(by: device.unfinished)
        case .loadContext, .compactLedger, .beginComparison, .dropComparison, .confirm, .stream, .diff, .sleep,
            .readClock, .awaitIDs, .commit:
            return nil
        }
    }

    mutating func perform(_ action: PullAction, of machine: PullMachine) async throws -> PullEvent {
        try Task.checkCancellation()
        let timing = SyncTrace.begin(action.stage)
        defer { timing.end() }
        switch action {
        case .loadContext:
            return .context(try await loadContext())
        case .compactLedger:
            try await stream.acceptance.obtain()
            try await device.compactLedger()
        case .beginComparison(let type): return .comparisonGranted(beginComparison(type))
        case .dropComparison(let type, let failures): try await dropComparison(type, failures: failures)
        case .diff(let plan): return .diffed(try await diff(plan))
        case .confirm(let cursor): try await stream.acceptance.confirm(cursor)
        case .stream(let action): return .stream(try await perform(action, of: machine))
        case .sleep(let milliseconds): try await scope.services.clock.sleep(milliseconds: milliseconds)
        case .readClock: return .clock(scope.now + scope.store.cursorLead)
        case .awaitIDs: return try await device.awaitIDs(after: stream.spooler)
        case .commit(let row, let isNewReplica):
            try await commit(row, isNewReplica: isNewReplica, without: machine.refusedTypes)
        case .answer, .fail, .refuse, .startOver, .finishPushes: throw PullFailure.unexpectedEvent
        }
        return .done
    }

    /// Returns the event for an error.
    mutating func event(
        for error: any Error, of action: PullAction, of machine: PullMachine
    ) async throws -> PullEvent {
        switch (action, error) {
        // Unreadable parts of a ledger do not stop the device for good.
        case (.compactLedger, let error as LedgerError), (.diff, let error as LedgerError):
            try await device.consulted.passOver(error, own: device.outline, scope)
            return .ledgerDamaged
        case (.commit, StateError.cursorTaken(let newest)): return .cursorTaken(newest: newest)
        case (.commit, StateError.idsChanged): return .idsChanged
        case (.stream(let action), _):
            do {
                return .stream(try stream.event(for: error, of: action, reading: machine.refusalReading))
            } catch {
                return try comparisonFailed(error, machine)
            }
        default: return try comparisonFailed(error, machine)
        }
    }

    /// Returns the event of a failed comparison, since it need not fail the pull.
    ///
    /// - Throws: The error, if it does.
    private mutating func comparisonFailed(_ error: any Error, _ machine: PullMachine) throws -> PullEvent {
        guard machine.isComparing, Self.isOfStream(error), !Task.isCancelled else { throw error }
        comparisonFailure = error
        return .comparisonFailed
    }
}

extension PullAction {
    /// The stage whose time the action takes; nil for actions that measure themselves or take none.
    fileprivate var stage: SyncStage? {
        switch self {
        case .loadContext, .compactLedger, .confirm, .dropComparison: .state
        case .diff: .diff
        case .commit: .commit
        case .awaitIDs: .queue
        case .stream(let action): action.stage
        case .beginComparison, .sleep, .readClock, .answer, .fail, .refuse, .startOver, .finishPushes: nil
        }
    }
}

extension StreamAction {
    /// The stage whose time the action takes; nil for actions that measure themselves or take none.
    fileprivate var stage: SyncStage? {
        switch self {
        case .storePosition, .raiseGeneration, .takeCached: .state
        case .listCheckpoints, .forget, .forgetAll, .acknowledge, .acknowledgeReset: .backend
        case .open, .sleep: nil
        }
    }
}
