// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DequeModule
import NIOConcurrencyHelpers
package import SyncModel
import Telemetry

/// The reasons for which a lock was not acquired.
package enum LockError: Error, Hashable, Sendable {
    /// The queue has reached `[limits] queue`.
    case queueFull
    /// The wait took longer than `[limits] queue_wait`.
    case timedOut
    /// Another gateway has held the principal's lease for longer than `[limits] queue_wait`.
    case heldElsewhere
}

/// Lets one holder at a time have each key, first come, first served, with a bounded queue.
package final class LockTable: Sendable {
    private struct Waiter {
        let id: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        /// The waiters by key; a key in this dictionary is held.
        var lanes: [String: Deque<Waiter>] = [:]
        var nextID: UInt64 = 0
    }

    private let state = NIOLockedValueBox(State())
    private let maximumWaiting: Int
    private let timeout: Duration
    private let clock: any WallClock

    /// Creates a table in which at most `maximumWaiting` wait for one key, each no longer than `timeout`.
    package init(maximumWaiting: Int, timeout: Duration, clock: any WallClock) {
        self.maximumWaiting = maximumWaiting
        self.timeout = timeout
        self.clock = clock
    }

    /// The numbers of holders and waiters, for the metrics.
    package var occupancy: (held: Int, waiting: Int) {
        state.withLockedValue { state in (state.lanes.count, state.lanes.values.reduce(0) { $0 + $1.count }) }
    }

    /// Runs `body` while no other task holds `key`.
    ///
    /// - Throws: ``LockError`` if the lock was not acquired, `CancellationError` if the task was cancelled while it
    ///   waited, otherwise the errors of `body`.
    package func withLock<R>(_ key: String, _ body: () async throws -> R) async throws -> R {
        if !tryAcquire(key) {
            let timing = SyncTrace.begin(.queue)
            defer { timing.end() }
            try await acquireInTime(key)
        }
        defer { release(key) }
        return try await body()
    }

    private func tryAcquire(_ key: String) -> Bool {
        state.withLockedValue { state in
            guard state.lanes[key] == nil else { return false }
            state.lanes[key] = []
            return true
        }
    }

    private func acquireInTime(_ key: String) async throws {
        let gotIt = NIOLockedValueBox(false)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await self.acquire(key)
                    gotIt.withLockedValue { $0 = true }
                }
                group.addTask { [timeout, clock] in
                    try await clock.wait(milliseconds: timeout.milliseconds)
                    throw LockError.timedOut
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch {
            // The timer and the lock may have come at the same moment: a lock that was acquired is released.
            if gotIt.withLockedValue({ $0 }) { release(key) }
            throw error
        }
    }

    private func acquire(_ key: String) async throws {
        let id = state.withLockedValue { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enqueue(Waiter(id: id, continuation: continuation), for: key)
                // A cancellation before this moment found no waiter in the queue.
                if Task.isCancelled { abandon(id, key) }
            }
        } onCancel: {
            abandon(id, key)
        }
    }

    private func enqueue(_ waiter: Waiter, for key: String) {
        let result: Result<Void, any Error>? = state.withLockedValue { state in
            guard let lane = state.lanes[key] else {
                state.lanes[key] = []
                return .success(())
            }
            guard lane.count < maximumWaiting else { return .failure(LockError.queueFull) }
            state.lanes[key]?.append(waiter)
            return nil
        }
        if let result { waiter.continuation.resume(with: result) }
    }

    private func abandon(_ id: UInt64, _ key: String) {
        let waiter: Waiter? = state.withLockedValue { state in
            guard let index = state.lanes[key]?.firstIndex(where: { $0.id == id }) else { return nil }
            return state.lanes[key]?.remove(at: index)
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }

    private func release(_ key: String) {
        let next: Waiter? = state.withLockedValue { state in
            if let waiter = state.lanes[key]?.popFirst() { return waiter }
            state.lanes[key] = nil
            return nil
        }
        next?.continuation.resume()
    }
}
