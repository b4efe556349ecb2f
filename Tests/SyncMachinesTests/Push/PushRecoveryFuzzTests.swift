// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines
import SyncModel
import Testing

/// Random events in random states of the machine of push recovery: none of them ends the process.
///
/// Each course has a seed, as in ``PushFuzzTests``.
@Suite struct PushRecoveryFuzzTests {
    private static let recoveryEvents = 5_000

    @Test(arguments: PushFuzzTests.seeds) func `push recovery takes any event in any state`(_ seed: UInt64) {
        var course = RecoveryCourse(seed: seed)
        for _ in 0..<Self.recoveryEvents { course.step() }
        #expect(course.problem == nil, "seed \(seed): \(course.problem ?? "")")
        #expect(course.unexpected > 100 && course.closed > 100 && course.kept > 100, "seed \(seed)")
    }
}

/// Recoveries one after the other, each with random events until some time after its end.
private struct RecoveryCourse {
    private var generator: SeededGenerator
    private var machine = PushRecoveryMachine(PushRecoveryMachine.Query([]))
    private var action = PushRecoveryAction.close(found: [:], lost: [])
    private var creations = 0
    private(set) var unexpected = 0
    /// The recoveries that were closed, and those whose journals stay open.
    private(set) var closed = 0
    private(set) var kept = 0
    private(set) var problem: String?

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        restart()
    }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
    private mutating func chance(_ times: Int) -> Bool { below(times) == 0 }
    private mutating func any<T>(_ values: [T]) -> T { values[below(values.count)] }

    private mutating func restart() {
        creations = below(6)
        let list = (0..<creations).map { index in
            PushRecoveryMachine.Creation(
                index: index, table: "t", id: "x\(index)", hasRequest: chance(2), canSearch: chance(2))
        }
        machine = PushRecoveryMachine(
            PushRecoveryMachine.Query(list, interrupted: chance(2) ? Cursor(rawValue: 7) : nil))
        action = machine.begin()
    }

    mutating func step() {
        guard !isEnd || chance(3) else { return restart() }
        let (before, wasEnded) = (machine.found, isEnd)
        action = machine.handle(chance(6) ? randomEvent() : fitting())
        switch action {
        case .fail(.unexpected):
            unexpected += 1
            if machine.found != before { problem = "\(before) became \(machine.found)" }
        case .close(let found, let lost):
            closed += 1
            let indices = Set(found.keys).union(lost)
            if indices.count != found.count + lost.count { problem = "\(found) and \(lost)" }
            if indices.contains(where: { !(0..<creations).contains($0) }) { problem = "indices: \(indices)" }
            if found != machine.found { problem = "\(found) is not \(machine.found)" }
        case .fail: kept += 1
        case .repeatRequest, .askBackend, .countTry, .giveUp, .search: break
        }
        if wasEnded, !isUnexpected { problem = "\(action) after the end" }
    }

    private var isUnexpected: Bool { if case .fail(.unexpected) = action { true } else { false } }

    private var isEnd: Bool {
        switch action {
        case .close, .fail: true
        case .repeatRequest, .askBackend, .countTry, .giveUp, .search: false
        }
    }

    private mutating func fitting() -> PushRecoveryEvent {
        switch action {
        case .repeatRequest: .answered(answer())
        case .askBackend: .backendAnswers(chance(2))
        case .countTry: chance(3) ? .givenUpBefore : tried()
        case .search: chance(4) ? .outOfReach : found()
        case .giveUp, .close, .fail: .done
        }
    }

    private mutating func randomEvent() -> PushRecoveryEvent {
        switch below(7) {
        case 0: .done
        case 1: .answered(answer())
        case 2: .backendAnswers(chance(2))
        case 3: tried()
        case 4: .givenUpBefore
        case 5: .outOfReach
        default: found()
        }
    }

    private mutating func tried() -> PushRecoveryEvent {
        .tried(any([.min, 0, 3, 4, .max]), over: any([.min, 0, 300_000, .max]))
    }

    private mutating func found() -> PushRecoveryEvent {
        .found(chance(3) ? [:] : [below(18) - 9: "8", .max: "9"], refused: chance(2) ? [] : [below(6), .min])
    }

    private mutating func answer() -> PushRecoveryAnswer {
        switch below(5) {
        case 0: .refused(status: any([.min, 400, 401, 404, 500]))
        case 1: .failed
        case 2: .failedHere
        case 3: .other
        default:
            .meant(
                any([.ok, .exists, .missing, .conflict, .rejected]), id: any([nil, "", "7"]), status: any([200, 409]),
                isConfigured: chance(2))
        }
    }
}
