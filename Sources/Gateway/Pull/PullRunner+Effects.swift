// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncEngine
import SyncModel

extension PullRunner: Effects {
    mutating func end(_ action: PullAction, of machine: PullMachine) async throws -> PullAnswer? {
        switch action {
        case .answer(let plan): return try await answer(plan, machine.cachedAnswer)
        case .fail(let failure):
            tell(unexpected: machine.unexpected)
            throw failure
        case .refuse(let refusal): throw refusal
        case .loadContext, .compactLedger, .beginComparison, .dropComparison, .confirm, .stream, .diff, .sleep,
            .readClock, .commit:
            return nil
        }
    }

    mutating func perform(_ action: PullAction, of machine: PullMachine) async throws -> PullEvent {
        try Task.checkCancellation()
        switch action {
        case .loadContext:
            var context = try await loadContext()
            redeliveries = try await pendingRedeliveries(to: context.row)
            context.redeliveries = redeliveries
            return .context(context)
        case .compactLedger:
            try await admit()
            return try await readingLedger {
                try await $0.compactLedger()
                return .done
            }
        case .beginComparison(let type): return .comparisonGranted(beginComparison(type))
        case .dropComparison(let type, let failures): try await dropComparison(type, failures: failures)
        case .diff(let plan): return try await readingLedger { .diffed(try await $0.diff(plan)) }
        case .confirm(let cursor):
            unconfirmed = cursor
            if isAccepted { try await confirm() }
        case .stream(let action):
            if case .open = action { begin(machine.negotiation, without: machine.refusedTypes) }
            return .stream(try await perform(action, isComparing: machine.isComparing))
        case .sleep(let milliseconds): try await services.clock.sleep(milliseconds: milliseconds)
        case .readClock: return .clock(services.clock.now + services.store.cursorLead)
        case .commit(let row, let isNewReplica): return try await commit(row, isNewReplica: isNewReplica)
        case .answer, .fail, .refuse: throw PullFailure.unexpectedEvent
        }
        return .done
    }

    /// What fails of a comparison need not fail the pull.
    mutating func event(
        for error: any Error, of action: PullAction, of machine: PullMachine
    ) async throws -> PullEvent {
        guard machine.isComparing, Self.isOfStream(error), !Task.isCancelled else { throw error }
        comparisonFailure = error
        return .comparisonFailed
    }
}
