// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncMachines
import SyncModel
import Testing

/// Random events in random states of the machine of pushes: none of them ends the process.
///
/// Each course has a seed, which the runner names; `RIND_TEST_SEED=7` plays one again, and `RIND_TEST_EVENTS` says how
/// many events each has. An event is mostly one that the
/// last action asks for, so that every state is reached, and else any.
@Suite struct PushFuzzTests {
    static let seeds: [UInt64] =
        ProcessInfo.processInfo.environment["RIND_TEST_SEED"].flatMap { UInt64($0) }.map { [$0] } ?? Array(1...20)
    private static let pushEvents =
        ProcessInfo.processInfo.environment["RIND_TEST_EVENTS"].flatMap { Int($0) } ?? 45_000

    @Test(arguments: seeds) func `a push takes any event in any state, and says so once`(_ seed: UInt64) {
        var course = PushCourse(seed: seed)
        for _ in 0..<Self.pushEvents { course.step() }
        #expect(course.problem == nil, "seed \(seed): \(course.problem ?? "")")
        #expect(course.ends.count == 5 && course.unexpected > 100, "seed \(seed): \(course.ends)")
    }
}

/// Pushes one after the other, of all kinds, each with random events until it ends.
private struct PushCourse {
    private var generator: SeededGenerator
    private var machine: PushMachine
    private var query: PushMachine.Query
    private var action = PushAction.loadContext
    private var isReportedDone = false
    private var sinceUnexpected: Int?
    private(set) var ends: [String: Int] = [:]
    private(set) var unexpected = 0
    private(set) var problem: String?

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        query = PushMachine.Query(presented: nil, statesTime: false, operations: 0, style: .calls)
        machine = PushMachine(query: query)
        restart()
    }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
    private mutating func chance(_ times: Int) -> Bool { below(times) == 0 }
    private mutating func any<T>(_ values: [T]) -> T { values[below(values.count)] }

    private mutating func restart() {
        let operations = below(5) == 0 ? below(200) : below(5)
        let cut = below(operations + 1)
        query = PushMachine.Query(
            presented: Cursor(rawValue: 7), statesTime: chance(2), operations: operations,
            style: any([.stream, .calls]), notes: chance(2), checks: chance(2), attempts: below(3),
            backoff: Int64(below(50)), retryBudget: any([0, 100, 10_000, .max]),
            rejection: any([.fail, .report, .quarantine]), levels: any([nil, [0..<cut, cut..<operations]]),
            parallel: 1 + below(4), batch: below(4))
        machine = PushMachine(query: query)
        action = machine.begin()
        sinceUnexpected = nil
        isReportedDone = false
    }

    mutating func step() {
        guard !isEnd(action) || chance(3) else { return restart() }
        let event = chance(4) ? randomEvent() : fitting()
        if case .receipt(true) = event { isReportedDone = true }
        let wasUnexpected = machine.unexpected != nil
        action = machine.handle(event)
        if machine.unexpected != nil, !wasUnexpected {
            unexpected += 1
            sinceUnexpected = 0
        }
        check(event)
        guard isEnd(action) else { return }
        ends["\(action)".prefix { $0 != "(" }.description, default: 0] += 1
    }

    /// What must hold whatever came.
    private mutating func check(_ event: PushEvent) {
        let indices = machine.taken.union(machine.rejected)
        if indices.contains(where: { !(0..<query.operations).contains($0) }) {
            problem = "indices: \(indices.sorted())"
        }
        if action == .answer, !isReportedDone, indices.count < query.operations, machine.unexpected == nil {
            problem = "an answer with \(indices.count) of \(query.operations) resolved after \(event)"
        }
        guard let since = sinceUnexpected else { return }
        sinceUnexpected = since + 1
        switch action {
        case .answer, .answerFromReceipt: problem = "success after \(String(describing: machine.unexpected))"
        case .fail, .noteHeld, .endJournal, .scheduleRedelivery: break
        default: if since > 0 { problem = "\(action) after \(String(describing: machine.unexpected))" }
        }
    }

    private func isEnd(_ action: PushAction) -> Bool {
        switch action {
        case .answer, .answerFromReceipt, .refuse, .fail, .rethrow: true
        default: false
        }
    }

    private mutating func fitting() -> PushEvent {
        switch action {
        case .loadContext: return .context(chance(2) ? row() : nil)
        case .findReceipt: return .receipt(chance(9))
        case .checkConflicts: return chance(3) ? .refused(refusal()) : .checked
        case .findRoom: return .room(!chance(4))
        case .readClock: return .clock(Instant(milliseconds: Int64(below(70_000))))
        case .sendAll:
            return any([
                .applied, .applied, .refused(refusal()), .notNow(after: number(), isKnown: chance(2)), .unknownOutcome,
            ])
        case .send(let indices):
            var results: [Int: CallResult] = [:]
            for index in indices where !chance(8) { results[index] = result(of: index) }
            return .sent(results)
        default: return .done
        }
    }

    private mutating func randomEvent() -> PushEvent {
        switch below(11) {
        case 0: .done
        case 1: .context(chance(2) ? row() : nil)
        case 2: .receipt(chance(2))
        case 3: .checked
        case 4: .applied
        case 5: .sent([below(300) - 50: result(), any([Int.min, .max, 999]): result()])
        case 6: .refused(refusal())
        case 7: .room(chance(2))
        case 8: .clock(Instant(milliseconds: number() ?? 0))
        case 9: .unknownOutcome
        default: .notNow(after: number(), isKnown: chance(2))
        }
    }

    private mutating func number() -> Int64? { any([nil, 0, 1, 100, -1, .min, .max, .max - 1]) }

    private mutating func result(of index: Int? = nil) -> CallResult {
        switch below(10) {
        case 0: .refused(index.map { refusal(of: $0) } ?? refusal())
        case 1: .notNow(after: number(), isKnown: chance(2))
        case 2: chance(3) ? .unknown : .applied
        case 3: chance(3) ? .failed : .applied
        case 4: chance(3) ? .unrecorded : .recorded
        default: .applied
        }
    }

    private mutating func refusal() -> PushRefusal {
        let records = (0..<below(3)).map { _ in
            let index = chance(9) ? any([-1, .min, .max, 1_000]) : below(max(1, query.operations))
            return PushRefusal.Record(table: "t", id: "x", index: index)
        }
        return PushRefusal(kind: any([.rejected, .rejected, .conflict, .outdated]), records: records)
    }

    private mutating func refusal(of index: Int) -> PushRefusal {
        guard !chance(5) else { return refusal() }
        return PushRefusal(
            kind: any([.rejected, .rejected, .conflict]), records: [.init(table: "t", id: "x", index: index)])
    }

    private mutating func row() -> CursorRow? {
        guard let cursor = Cursor(rawValue: 7) else { return nil }
        return CursorRow(
            principal: Principal(rawValue: "p"), cursor: cursor, replica: ReplicaID(rawValue: 1), parent: nil,
            vector: CheckpointVector(["A": "A|1"]), schemaVersion: 1, session: Session(rawValue: "s"), generation: 0,
            isConfirmed: chance(2), mappingDigest: "m")
    }
}
