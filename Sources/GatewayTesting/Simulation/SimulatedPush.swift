// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine
import SyncModel

/// One push in the simulated gateway: runs the actions of a real machine, one step at a time.
package final class SimulatedPush {
    /// What becomes of it.
    package enum Outcome: String, CaseIterable, Hashable, Sendable {
        case answered
        /// The client never hears that it went well.
        case answerLost
        /// The backend wants none of it, or, operation by operation, not the last one.
        case refused
        /// The backend takes it, and the gateway does not hear of it.
        case doubtful
        /// The backend does not take it, and the gateway does not know.
        case lost
        /// The backend takes it later, when the gateway has given up.
        case late
    }

    let device: Int
    /// What the device sends, in the order of the operations.
    let sent: [(key: SimulatedKey, local: SimulatedDevice.Local)]
    private let outcome: Outcome
    private let presented: Cursor?
    private let simulation: Simulation
    private var machine: PushMachine
    /// What comes next.
    private(set) var action: PushAction
    /// Whether it is over.
    package private(set) var isOver = false
    private var isApplied = false
    /// The notes of records that no earlier push has noted.
    private var fresh: [PushNote] = []

    init(device: Int, outcome: Outcome, presented: Cursor?, simulation: Simulation) {
        self.device = device
        self.outcome = outcome
        self.presented = presented
        self.simulation = simulation
        let pending = simulation.devices[device].pending.sorted { $0.key < $1.key }
        sent =
            (pending.filter { $0.value.status != .deleted } + pending.filter { $0.value.status == .deleted }.reversed())
            .map { ($0.key, $0.value) }
        simulation.unmade.formUnion(sent.filter { $0.local.status == .deleted }.map(\.key))
        machine = PushMachine(
            query: PushMachine.Query(
                presented: presented, hasToldTime: presented != nil, operations: sent.count,
                style: simulation.setup.pushStyle, notes: simulation.settings.comparisons != nil, attempts: 1,
                levels: Self.levels(sent), parallel: 2))
        action = machine.begin()
    }

    /// Records of one table do not depend on each other.
    private static func levels(_ sent: [(key: SimulatedKey, local: SimulatedDevice.Local)]) -> [Range<Int>] {
        var levels: [Range<Int>] = []
        for (place, operation) in sent.enumerated() {
            guard let last = levels.last, sent[last.lowerBound].key.table == operation.key.table,
                (sent[last.lowerBound].local.status == .deleted) == (operation.local.status == .deleted)
            else {
                levels.append(place..<place + 1)
                continue
            }
            levels[levels.count - 1] = last.lowerBound..<place + 1
        }
        return levels
    }

    /// Does the next action.
    package func step() {
        guard !isOver else { return }
        guard let event = perform() else { return }
        action = machine.handle(event)
        simulation.note("   push of \(simulation.devices[device].name): → \(action)")
    }

    private func perform() -> PushEvent? {
        switch action {
        case .loadContext: return loadContext()
        case .confirm(let cursor): simulation.state.confirm(cursor, now: simulation.now)
        case .findReceipt: return .receipt(simulation.state.receipts.contains(digest))
        case .saveReceipt: simulation.state.receipts.insert(digest)
        case .noteSeen: note(Array(sent.indices)) { _ in .seen }
        case .noteHeld: noteHeld(Array(sent.indices))
        case .beginJournal: if simulation.settings.comparisons != nil { note(Array(sent.indices)) { _ in .seen } }
        case .advance(let applied, _): noteHeld(applied)
        case .endJournal(let end):
            noteHeld(end.applied)
            if end.outcome == .answered(keepsReceipt: true) { simulation.state.receipts.insert(digest) }
        case .sendAll: return sendAll()
        case .send(let places): return .sent(Dictionary(uniqueKeysWithValues: places.map { ($0, send($0)) }))
        case .verifyCredential, .sleep, .setAside, .scheduleRedelivery: break
        case .findRoom: return .room(false)
        case .readClock: return .clock(simulation.now)
        case .checkConflicts: return .checked
        case .answer, .answerFromReceipt: return end(isDone: outcome != .answerLost)
        case .refuse, .fail, .rethrow:
            if machine.isUnapplied { for note in fresh { simulation.state.drop(note) } }
            return end(isDone: false)
        }
        return .done
    }

    private func loadContext() -> PushEvent {
        if let presented { simulation.state.learn(named, from: presented) }
        return .context(presented.flatMap { simulation.state.rows[$0.rawValue] })
    }

    /// The least schema version that has all tables and columns which the push names.
    ///
    /// The library names every table that the app has, and of each record all columns; some apps leave empty tables
    /// out.
    private var named: Int {
        let version = simulation.devices[device].version
        let isNamed = sent.contains { key, local in
            key.table == .notes || key.table == .tasks && local.status != .deleted
        }
        return isNamed || simulation.setup.namesAllTables ? version : 1
    }

    private var digest: String {
        "\(presented?.rawValue ?? 0) " + sent.map { "\($0.key) \($0.local.status) \($0.local.record)" }.joined()
    }

    private func noteHeld(_ places: [Int]) {
        guard !places.isEmpty, simulation.settings.comparisons != nil else { return }
        note(places) { $0.status == .deleted ? .gone : .held }
    }

    private func note(_ places: [Int], _ state: (SimulatedDevice.Local) -> PushNote.State) {
        let isSeen = action == .noteSeen || action == .beginJournal
        let unknown = sent.map(\.key).filter { isSeen && simulation.state.notes[$0] == nil }
        simulation.state.note(
            places.map { place in
                let (key, local) = sent[place]
                let isDeleted = local.status == .deleted
                return (key, state(local), isDeleted ? [] : local.record.links(in: key.table))
            }, now: simulation.now)
        fresh += unknown.compactMap { simulation.state.notes[$0] }
        for place in places { simulation.expectEcho(of: sent[place].key, isSeen: isSeen) }
    }

    private func apply(_ operation: Int) {
        let (key, local) = sent[operation]
        simulation.backend.push(key, local)
    }

    private func sendAll() -> PushEvent {
        switch outcome {
        case .answered, .answerLost:
            for operation in sent.indices { apply(operation) }
            return .applied
        case .refused: return .refused(PushRefusal(kind: .rejected, records: []))
        case .doubtful:
            // The second try has the same idempotency key.
            if !isApplied { for operation in sent.indices { apply(operation) } }
            isApplied = true
            return .unknownOutcome
        case .lost: return .unknownOutcome
        case .late:
            if !isApplied { simulation.latePushes.append(contentsOf: sent.map { ($0.key, $0.local) }) }
            isApplied = true
            return .unknownOutcome
        }
    }

    private func send(_ operation: Int) -> CallResult {
        guard operation == sent.count - 1 else {
            apply(operation)
            return .applied
        }
        switch outcome {
        case .answered, .answerLost:
            apply(operation)
            return .applied
        case .refused: return .refused(PushRefusal(kind: .rejected, records: []))
        case .doubtful:
            apply(operation)
            return .unknown
        case .lost: return .unknown
        case .late:
            simulation.latePushes.append((sent[operation].key, sent[operation].local))
            return .unknown
        }
    }

    private func end(isDone: Bool) -> PushEvent? {
        isOver = true
        simulation.ended(self, isDone: isDone)
        return nil
    }
}
