// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel

/// Keeps the time of a world in which nothing sleeps: it passes when no job is ready.
package final class VirtualTime: Sendable {
    private struct Sleeper {
        let id: UInt64
        let wakesAt: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Instant
        /// The milliseconds that have passed, although the clock may have been set back.
        var uptime: Int64 = 0
        var sleepers: [Sleeper] = []
        var nextID: UInt64 = 0
        var cancelled: Set<UInt64> = []
    }

    private let state: NIOLockedValueBox<State>

    init(now: Instant) { state = NIOLockedValueBox(State(now: now)) }

    /// Milliseconds since 1970.
    var now: Instant { state.withLockedValue(\.now) }

    /// The milliseconds that have passed.
    var uptime: Int64 { state.withLockedValue(\.uptime) }

    /// Lets time pass, and wakes whoever has slept long enough.
    func pass(milliseconds: Int64) {
        let woken = state.withLockedValue { state in
            state.now += milliseconds
            state.uptime += max(0, milliseconds)
            return Self.takeWoken(&state)
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Leaps to the time at which the next sleeper wakes.
    ///
    /// - Returns: Whether anybody sleeps.
    func leap() -> Bool {
        let woken = state.withLockedValue { state -> [Sleeper] in
            guard let next = state.sleepers.map(\.wakesAt).min() else { return [] }
            let passed = max(0, next.milliseconds(since: state.now))
            state.now += passed
            state.uptime += passed
            return Self.takeWoken(&state)
        }
        for sleeper in woken { sleeper.continuation.resume() }
        return !woken.isEmpty
    }

    func sleep(milliseconds: Int64) async throws {
        let id = state.withLockedValue { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLockedValue { state in
                    guard state.cancelled.remove(id) == nil, !Task.isCancelled else { return true }
                    let wakesAt = state.now + max(0, milliseconds)
                    state.sleepers.append(Sleeper(id: id, wakesAt: wakesAt, continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLockedValue { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private static func takeWoken(_ state: inout State) -> [Sleeper] {
        let woken = state.sleepers.filter { $0.wakesAt <= state.now }
        state.sleepers.removeAll { $0.wakesAt <= state.now }
        return woken.sorted { ($0.wakesAt, $0.id) < ($1.wakesAt, $1.id) }
    }
}

/// Tells a gateway of a world the time, until it dies.
struct WorldClock: WallClock {
    let time: VirtualTime
    let life: GatewayLife

    var now: Instant { time.now }
    var uptime: Int64 { time.uptime }

    func sleep(milliseconds: Int64) async throws {
        try life.check()
        try await time.sleep(milliseconds: milliseconds)
        await life.wait()
        try life.check()
    }
}
