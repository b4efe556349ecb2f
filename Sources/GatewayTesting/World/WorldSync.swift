// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import StateStore

/// Follows one request of a device through the gateway, and says what goes wrong on its way.
package final class WorldSync: Sendable {
    /// What may happen to the next thing that leaves the gateway: a call to the backend, or a transaction.
    enum Fault {
        /// It never arrives.
        case lostRequest
        /// It has its effect, and nobody hears of it.
        case lostAnswer
    }

    private struct State {
        var fault: Fault?
        var isCut = false
        var isAbandoned = false
        var result: Result<Void, any Error>?
        var lookedAt = 0
    }

    /// The request that runs in the current task.
    @TaskLocal static var current: WorldSync?

    /// For traces.
    let number: Int
    let device: Int
    /// What becomes of a push at the backend.
    let outcome: SimulatedPush.Outcome
    /// The record whose call has that outcome, in a push by calls.
    let doubtful: SimulatedKey?
    private let state = NIOLockedValueBox(State())

    init(number: Int, device: Int, outcome: SimulatedPush.Outcome, doubtful: SimulatedKey?) {
        self.doubtful = doubtful
        self.number = number
        self.device = device
        self.outcome = outcome
    }

    /// Why it failed; nil while it runs, and where it went well.
    package var failure: (any Error)? {
        state.withLockedValue { state in
            if case .failure(let error) = state.result { error } else { nil }
        }
    }

    /// Whether it is over.
    package var isOver: Bool { state.withLockedValue { $0.result != nil } }
    /// Whether the device does not wait for its answer any more.
    var isAbandoned: Bool { state.withLockedValue(\.isAbandoned) }

    /// The backend's count when it last opened a stream.
    var lookedAt: Int { state.withLockedValue(\.lookedAt) }
    func looks(at count: Int) { state.withLockedValue { $0.lookedAt = count } }

    func end(_ result: Result<Void, any Error>) { state.withLockedValue { $0.result = result } }
    func abandon() { state.withLockedValue { $0.isAbandoned = true } }
    func fail(next fault: Fault) { state.withLockedValue { $0.fault = fault } }
    func cut() { state.withLockedValue { $0.isCut = true } }

    /// Takes the fault that comes next, where it is of this kind.
    func take(_ fault: Fault) -> Bool {
        state.withLockedValue { state in
            guard state.fault == fault else { return false }
            state.fault = nil
            return true
        }
    }

    /// Whether the stream breaks here.
    func takeCut() -> Bool {
        state.withLockedValue { state in
            defer { state.isCut = false }
            return state.isCut
        }
    }
}
