// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import StateStore

/// Commits changes in the order in which they come: those that come while others are committed wait and go together,
/// with one wait for the disk.
final class CommitQueue: Sendable {
    private enum Turn {
        /// Commit all that is waiting.
        case lead
        case end(Result<CommitOutcome, any Error>)
    }

    /// Hears of an outcome before anybody else does, in the order of the commits.
    typealias Observer = @Sendable (CommitOutcome) -> Void

    private typealias Waiter = (changes: RowChanges, observer: Observer, turn: CheckedContinuation<Turn, Never>)

    private struct State {
        var waiting: [Waiter] = []
        var isCommitting = false
    }

    private let store: any ByteStore
    private let state = NIOLockedValueBox(State())

    init(_ store: any ByteStore) { self.store = store }

    /// Commits changes; goes on even if the task is cancelled.
    func commit(_ changes: RowChanges, observer: @escaping Observer) async throws -> CommitOutcome {
        guard store.commitsInGroups else {
            let outcome = try await store.commit([changes])[0]
            observer(outcome)
            return outcome
        }
        let turn = await withCheckedContinuation { turn in
            let leads = state.withLockedValue { state in
                state.waiting.append((changes, observer, turn))
                defer { state.isCommitting = true }
                return !state.isCommitting
            }
            if leads { turn.resume(returning: .lead) }
        }
        switch turn {
        case .end(let result): return try result.get()
        case .lead: return try await lead()
        }
    }

    /// Commits what waits, the caller's own changes first, and passes the turn on.
    private func lead() async throws -> CommitOutcome {
        let group = state.withLockedValue { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        let outcomes: Result<[CommitOutcome], any Error>
        do { outcomes = .success(try await store.commit(group.map(\.changes))) } catch { outcomes = .failure(error) }
        for (index, waiter) in group.enumerated() {
            let outcome = outcomes.map { $0[index] }
            if case .success(let outcome) = outcome { waiter.observer(outcome) }
            if index > 0 { waiter.turn.resume(returning: .end(outcome)) }
        }
        let next = state.withLockedValue { state in
            state.isCommitting = !state.waiting.isEmpty
            return state.waiting.first
        }
        next?.turn.resume(returning: .lead)
        return try outcomes.get()[0]
    }
}
