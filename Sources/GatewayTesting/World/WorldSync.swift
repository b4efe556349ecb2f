// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import NIOConcurrencyHelpers
import StateStore
package import SyncMachines
package import SyncModel

/// Follows one request of a device through the gateway, and says what goes wrong on its way.
package final class WorldSync: Sendable {
    /// The fault of the next call to the backend, or of the next transaction.
    enum Fault {
        /// It never arrives.
        case lostRequest
        /// The call or transaction has its effect, and its answer is lost.
        case lostAnswer
    }

    /// The point at which a request stops until it may go on.
    private enum Stop {
        case nowhere
        case at(Set<WorldMoment>)
        case after(Int)

        mutating func isReached(_ moment: WorldMoment) -> Bool {
            switch self {
            case .nowhere: return false
            case .at(let moments): return moments.contains(moment)
            case .after(let count):
                self = .after(count - 1)
                return count <= 1
            }
        }
    }

    private struct State {
        var fault: Fault?
        var isCut = false
        var isAbandoned = false
        var result: Result<Void, any Error>?
        var looks: [Int] = []
        var overtaken: Set<SimulatedKey> = []
        var changed: Set<SimulatedKey> = []
        var streamedAnyway: Set<SimulatedKey> = []
        var stop = Stop.nowhere
        var reached: [WorldMoment] = []
        var held: CheckedContinuation<Void, Never>?
        var figures: SyncFigures?
        var answer: SimulatedAnswer?
        var rejected: Set<SimulatedKey> = []
    }

    /// The request that runs in the current task.
    @TaskLocal static var current: WorldSync?

    /// The number in traces.
    let number: Int
    let device: Int
    /// The cursor that the device has sent.
    package let presented: Cursor?
    /// The backend's count when it began.
    let began: Int
    /// The outcome of a push at the backend.
    let outcome: WorldPushOutcome
    /// The record whose call has that outcome, in a push by calls.
    let doubtful: SimulatedKey?
    /// The device's last received versions of the records that it pushes.
    let bases: [SimulatedKey: SimulatedRecord]
    /// The same at an older cursor, if the push carries one: a record that has come back to this version is no conflict.
    let olderBases: [SimulatedKey: SimulatedRecord]
    /// The records that were pushed before and have not come since: the gateway knows no content of theirs.
    let unheard: Set<SimulatedKey>
    private let state = NIOLockedValueBox(State())

    init(
        number: Int, device: Int, presented: Cursor?, began: Int, outcome: WorldPushOutcome = .answered,
        doubtful: SimulatedKey? = nil, bases: [SimulatedKey: SimulatedRecord] = [:],
        olderBases: [SimulatedKey: SimulatedRecord] = [:],
        unheard: Set<SimulatedKey> = []
    ) {
        self.number = number
        self.device = device
        self.presented = presented
        self.began = began
        self.outcome = outcome
        self.doubtful = doubtful
        self.bases = bases
        self.olderBases = olderBases
        self.unheard = unheard
    }

    /// True if the device no longer waits for its answer.
    var isAbandoned: Bool { state.withLockedValue(\.isAbandoned) }

    /// The backend's count when it last opened a stream whose lines count.
    var lookedAt: Int { state.withLockedValue { $0.looks.last ?? 0 } }
    func looks(at count: Int) { state.withLockedValue { $0.looks.append(count) } }

    /// Returns true if a record changed while the streams ran, and none of them had a line of it afterwards.
    func hasMissed(_ key: SimulatedKey) -> Bool { state.withLockedValue { $0.overtaken.contains(key) } }
    func note(overtaken keys: Set<SimulatedKey>) { state.withLockedValue { $0.overtaken.formUnion(keys) } }
    func noteSeen(_ key: SimulatedKey, isChange: Bool) {
        state.withLockedValue { state in
            state.overtaken.remove(key)
            if isChange { state.changed.insert(key) } else { state.streamedAnyway.insert(key) }
        }
    }

    /// Returns true if nothing tells whether a record has changed: its type had no checkpoint, so that its line came in
    /// any case, and what the device has is unknown.
    func isUndecided(_ key: SimulatedKey) -> Bool {
        unheard.contains(key)
            && state.withLockedValue { $0.streamedAnyway.contains(key) && !$0.changed.contains(key) }
    }

    /// Forgets all looks but the first, since the lines of a failed comparison are dropped.
    func dropLooks() { state.withLockedValue { $0.looks = Array($0.looks.prefix(1)) } }

    func end(_ result: Result<Void, any Error>) { state.withLockedValue { $0.result = result } }
    func note(_ figures: SyncFigures) { state.withLockedValue { $0.figures = figures } }
    func note(rejected: Set<SimulatedKey>) { state.withLockedValue { $0.rejected = rejected } }
    func note(_ answer: SimulatedAnswer) { state.withLockedValue { $0.answer = answer } }
    func abandon() { state.withLockedValue { $0.isAbandoned = true } }
    func fail(next fault: Fault) { state.withLockedValue { $0.fault = fault } }
    func cut() { state.withLockedValue { $0.isCut = true } }

    /// Takes the fault that comes next, if it is of this kind.
    func take(_ fault: Fault) -> Bool {
        state.withLockedValue { state in
            guard state.fault == fault else { return false }
            state.fault = nil
            return true
        }
    }

    /// Returns true if the stream breaks here.
    func takeCut() -> Bool {
        state.withLockedValue { state in
            defer { state.isCut = false }
            return state.isCut
        }
    }
}

// What came of it.
extension WorldSync {
    /// True if the request is over.
    package var isOver: Bool { state.withLockedValue { $0.result != nil } }
    /// The reason why it failed; nil while it runs, and after success.
    package var failure: (any Error)? {
        state.withLockedValue { state in
            if case .failure(let error) = state.result { error } else { nil }
        }
    }
    /// The code that the client hears of its failure.
    package var code: String? { failure.map { GatewayError($0).code } }
    /// The gateway's figures of a pull, once it has an answer.
    var figures: SyncFigures? { state.withLockedValue(\.figures) }
    /// The reason why the whole stream came.
    package var restart: FullStreamReason? { figures?.restart.flatMap { FullStreamReason(rawValue: $0) } }
    /// The cursor of the answer.
    package var cursor: Cursor? { figures.flatMap { $0.cursor.flatMap(Cursor.init(rawValue:)) } }
    /// True if it is the device's first pull.
    package var isFirst: Bool { figures?.mode == "first" }
    /// The request type that was compared in full although nothing demanded it.
    package var comparison: String? { figures?.comparison }
    /// True if the answer has no changes.
    package var isIdle: Bool { figures?.mode == "idle" }
    /// True if it went on from the lines of an earlier pull.
    package var usesKeptLines: Bool { figures.map { $0.linesKept > 0 } ?? false }
    /// The records that a push's answer has named as rejected.
    var rejected: Set<SimulatedKey> { state.withLockedValue(\.rejected) }
    /// The client's answer; nil before the client has it.
    var answer: SimulatedAnswer? { state.withLockedValue(\.answer) }
    /// The ids in the answer; none before the client has it.
    package var ids: SimulatedAnswer.IDs { answer?.ids ?? SimulatedAnswer.IDs() }
}

// Moments.
extension WorldSync {
    /// True if it waits at the moment at which it was to stop.
    var isHeld: Bool { state.withLockedValue { $0.held != nil } }

    /// Lets anything else happen, before what the current request is about to do.
    static func reach(_ moment: WorldMoment) async {
        guard let sync = current else { return await Task.yield() }
        await sync.reach(moment)
    }

    private func reach(_ moment: WorldMoment) async {
        let isStop = state.withLockedValue { state in
            state.reached.append(moment)
            return state.held == nil && state.stop.isReached(moment)
        }
        guard isStop else { return await Task.yield() }
        await withCheckedContinuation { continuation in state.withLockedValue { $0.held = continuation } }
    }

    /// All that the request has done outside of its gateway so far, in its order.
    package var reached: [WorldMoment] { state.withLockedValue(\.reached) }

    /// Goes on, to the next of these moments or to the end.
    func goOn(to moments: Set<WorldMoment> = []) { goOn(moments.isEmpty ? .nowhere : .at(moments)) }

    /// Goes on without an end, once something else lets it; run it with ``World/run(_:until:)``.
    package func resume() { goOn() }

    /// Goes on for so many moments.
    func goOn(moments: Int) { goOn(.after(moments)) }

    private func goOn(_ stop: Stop) {
        let held = state.withLockedValue { state in
            state.stop = stop
            return state.held.take()
        }
        held?.resume()
    }
}
