// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines
import SyncModel
import Testing

/// The machine of a push by calls: batches of calls, and what its journal is told.
@Suite struct PushCallTests {
    private static let cursor = Cursor(rawValue: 7)
    private static let row = cursor.map { cursor in
        CursorRow(
            principal: Principal(rawValue: "p"), cursor: cursor, replica: ReplicaID(rawValue: 1), parent: nil,
            vector: CheckpointVector(["A": "A|1"]), schemaVersion: 1, session: Session(rawValue: "s"), generation: 0,
            isConfirmed: true, mappingDigest: "m")
    }

    /// A machine whose journal is begun, and what it does then.
    private static func begun(
        told: Bool = false, operations: Int = 3, levels: [Range<Int>]? = nil, parallel: Int = 1, budget: Int64 = 0,
        rejection: RejectedRecordRule = .fail
    ) -> (machine: PushMachine, action: PushAction) {
        var machine = PushMachine(
            query: .init(
                presented: told ? cursor : nil, statesTime: told, operations: operations, style: .calls, notes: true,
                backoff: 10, retryBudget: budget, rejection: rejection, levels: levels, parallel: parallel))
        _ = machine.begin()
        let first = machine.handle(.context(told ? row : nil))
        let journal = told ? machine.handle(.receipt(false)) : first
        #expect(journal == .beginJournal)
        let action = machine.handle(.done)
        return (machine, action)
    }

    private static func refusal(_ index: Int, _ kind: PushRefusal.Kind = .rejected) -> PushRefusal {
        PushRefusal(kind: kind, records: [.init(table: "t", id: "\(index)", index: index)])
    }

    private static func allApplied(_ indices: [Int]) -> PushEvent {
        .sent(Dictionary(uniqueKeysWithValues: indices.map { ($0, .applied) }))
    }

    @Test func `with one call at a time each is written down before it is made, with what came of the one before`() {
        var (machine, action) = Self.begun(told: true)
        #expect(action == .advance(applied: [], inFlight: [0]))
        #expect(machine.handle(.done) == .send([0]))
        #expect(machine.handle(.sent([0: .applied])) == .advance(applied: [0], inFlight: [1]))
        #expect(machine.handle(.done) == .send([1]))
        #expect(machine.handle(.sent([1: .applied])) == .advance(applied: [1], inFlight: [2]))
        #expect(machine.handle(.done) == .send([2]))
        // The last outcome and the receipt are one transaction.
        action = machine.handle(.sent([2: .applied]))
        #expect(action == .endJournal(PushEnd(.answered(keepsReceipt: true), applied: [2])))
        #expect(machine.handle(.done) == .answer)
        #expect(machine.taken == [0, 1, 2])
    }

    @Test(arguments: [
        (2, [0..<2, 2..<66, 66..<130, 130..<177, 177..<180]), (8, [0..<2, 2..<130, 130..<177, 177..<180]),
    ])
    func `a batch of calls has operations of one level, sixteen for each call at a time and at least 64`(
        parallel: Int, callBatches: [Range<Int>]
    ) {
        let levels = [0..<2, 2..<2, 2..<177, 177..<180]
        var (machine, action) = Self.begun(operations: 180, levels: levels, parallel: parallel)
        for callBatch in callBatches {
            guard case .advance(_, _, let inFlight) = action else {
                Issue.record("\(action)")
                return
            }
            #expect(inFlight == Array(callBatch))
            #expect(machine.handle(.done) == .send(inFlight))
            action = machine.handle(Self.allApplied(inFlight))
        }
        #expect(action == .endJournal(PushEnd(.answered(keepsReceipt: false), applied: [177, 178, 179])))
    }

    @Test func `what a batch of calls has put off is sent again before anything else, with growing pauses in a budget`()
    {
        var (machine, _) = Self.begun(operations: 4, levels: [0..<3, 3..<4], parallel: 2, budget: 100)
        #expect(machine.handle(.done) == .send([0, 1, 2]))
        let putOff = CallResult.notNow(after: nil, isKnown: true)
        // What was applied is written down before the pause; what is in flight is in the journal already.
        #expect(
            machine.handle(.sent([0: .applied, 1: putOff, 2: .notNow(after: 30, isKnown: false)]))
                == .advance(applied: [0], inFlight: []))
        #expect(machine.unknown == [2])
        #expect(machine.handle(.done) == .sleep(30))
        #expect(machine.handle(.done) == .send([1, 2]))
        #expect(machine.handle(.sent([1: putOff, 2: putOff])) == .sleep(20))
        #expect(machine.handle(.done) == .send([1, 2]))
        #expect(machine.handle(.sent([2: .applied])) == .advance(applied: [2], inFlight: []))
        #expect(machine.unknown == [])
        #expect(machine.handle(.done) == .send([1]))
        #expect(machine.handle(.sent([1: putOff])) == .sleep(10))
        #expect(machine.handle(.done) == .send([1]))
        let end = PushEnd(.failed(.busy), applied: [], unknown: [])
        #expect(machine.handle(.sent([1: .notNow(after: 60, isKnown: true)])) == .endJournal(end))
        #expect(machine.handle(.done) == .fail(.busy, applied: 2))
    }

    @Test func `what may have been applied once stays so while later attempts are put off or fail`() {
        for last in [CallResult.notNow(after: 60, isKnown: true), .failed] {
            var (machine, _) = Self.begun(operations: 1, budget: 30)
            #expect(machine.handle(.done) == .send([0]))
            // The first request may still be carried out, long after the backend has put off the second one.
            #expect(machine.handle(.sent([0: .notNow(after: nil, isKnown: false)])) == .sleep(10))
            #expect(machine.handle(.done) == .send([0]))
            #expect(machine.handle(.sent([0: .notNow(after: 5, isKnown: true)])) == .sleep(20))
            #expect(machine.unknown == [0])
            #expect(machine.handle(.done) == .send([0]))
            let outcome: PushEnd.Outcome = last == .failed ? .error : .failed(.unknownOutcome)
            #expect(machine.handle(.sent([0: last])) == .endJournal(PushEnd(outcome, unknown: [0])))
        }
    }

    @Test(arguments: [true, false])
    func `where the budget does not hold a pause, nobody says 'busy' of what may have been applied`(_ isKnown: Bool) {
        var (machine, _) = Self.begun(operations: 1)
        _ = machine.handle(.done)
        let failure: PushFailure = isKnown ? .busy : .unknownOutcome
        let end = PushEnd(.failed(failure), unknown: isKnown ? [] : [0])
        #expect(machine.handle(.sent([0: .notNow(after: nil, isKnown: isKnown)])) == .endJournal(end))
        #expect(machine.handle(.done) == .fail(failure, applied: 0))
    }

    @Test func `what was rejected beside a call that the budget gives up is in the journal`() {
        var (machine, _) = Self.begun(operations: 2, levels: [0..<2], parallel: 2, rejection: .report)
        #expect(machine.handle(.done) == .send([0, 1]))
        let results: [Int: CallResult] = [0: .refused(Self.refusal(0)), 1: .notNow(after: nil, isKnown: true)]
        #expect(machine.handle(.sent(results)) == .endJournal(PushEnd(.failed(.busy), rejected: [0])))
    }

    @Test func `a refusal ends the push after its batch of calls, and what was applied beside it counts`() {
        var (machine, _) = Self.begun(operations: 4, levels: [0..<4], parallel: 4)
        _ = machine.handle(.done)
        let end = PushEnd(.refused(Self.refusal(1)), applied: [0, 2])
        #expect(machine.handle(.sent([0: .applied, 1: .refused(Self.refusal(1)), 2: .applied])) == .endJournal(end))
        #expect(machine.handle(.done) == .refuse(Self.refusal(1), applied: 2))
        #expect(machine.taken == [0, 2])
    }

    @Test func `a conflict that the backend finds has what it names delivered again, and what was applied is noted`() {
        var (machine, _) = Self.begun(told: true, operations: 2, levels: [0..<2], parallel: 2)
        _ = machine.handle(.done)
        let refusal = Self.refusal(1, .conflict)
        #expect(machine.handle(.sent([0: .applied, 1: .refused(refusal)])) == .scheduleRedelivery(refusal.records))
        #expect(machine.handle(.done) == .endJournal(PushEnd(.refused(refusal), applied: [0])))
        #expect(machine.handle(.done) == .refuse(refusal, applied: 1))
    }

    @Test func `a call whose outcome is unknown is not repeated, and the journal keeps it`() {
        var (machine, _) = Self.begun(operations: 3, levels: [0..<3], parallel: 2)
        _ = machine.handle(.done)
        let end = PushEnd(.failed(.unknownOutcome), applied: [0], unknown: [1])
        #expect(machine.handle(.sent([0: .applied, 1: .unknown])) == .endJournal(end))
        #expect(machine.handle(.done) == .fail(.unknownOutcome, applied: 1))
    }

    @Test func `an error ends the push once the journal has what was applied beside it`() {
        var (machine, _) = Self.begun(operations: 3, levels: [0..<3], parallel: 2)
        _ = machine.handle(.done)
        #expect(machine.handle(.sent([0: .applied, 1: .failed])) == .endJournal(PushEnd(.error, applied: [0])))
        #expect(machine.handle(.done) == .rethrow(applied: 1))
    }

    @Test func `with 'report' the other calls go on, also those that were not begun`() {
        var (machine, _) = Self.begun(operations: 4, levels: [0..<3, 3..<4], parallel: 2, rejection: .report)
        _ = machine.handle(.done)
        let results: [Int: CallResult] = [0: .refused(Self.refusal(0)), 1: .applied]
        #expect(machine.handle(.sent(results)) == .advance(applied: [1], rejected: [0], inFlight: []))
        #expect(machine.handle(.done) == .send([2]))
        let step = PushAction.advance(applied: [], rejected: [2], inFlight: [3])
        #expect(machine.handle(.sent([2: .refused(Self.refusal(2))])) == step)
        #expect(machine.handle(.done) == .send([3]))
        let end = PushEnd(.answered(keepsReceipt: false), applied: [3])
        #expect(machine.handle(.sent([3: .applied])) == .endJournal(end))
        #expect(machine.rejected == [0, 2] && machine.taken == [1, 3])
    }

    @Test func `with 'report' a conflict still ends the push`() {
        var (machine, _) = Self.begun(operations: 2, levels: [0..<2], parallel: 2, rejection: .report)
        _ = machine.handle(.done)
        let conflict = Self.refusal(1, .conflict)
        let results: [Int: CallResult] = [0: .refused(Self.refusal(0)), 1: .refused(conflict)]
        #expect(machine.handle(.sent(results)) == .endJournal(PushEnd(.refused(conflict))))
    }

    @Test func `with 'quarantine' what was rejected is quarantined before the journal ends`() {
        var (machine, _) = Self.begun(told: true, levels: [0..<3], parallel: 2, rejection: .quarantine)
        _ = machine.handle(.done)
        let results: [Int: CallResult] = [
            0: .applied, 1: .refused(Self.refusal(1)), 2: .refused(Self.refusal(2)),
        ]
        #expect(machine.handle(.sent(results)) == .findRoom([1, 2]))
        var full = machine
        let both = PushRefusal(kind: .rejected, records: [1, 2].flatMap { Self.refusal($0).records })
        #expect(full.handle(.room(false)) == .endJournal(PushEnd(.refused(both), applied: [0])))
        #expect(full.handle(.done) == .refuse(both, applied: 1))
        #expect(machine.handle(.room(true)) == .quarantine([1, 2]))
        let end = PushEnd(.answered(keepsReceipt: true), applied: [0], rejected: [1, 2])
        #expect(machine.handle(.done) == .endJournal(end))
        #expect(machine.handle(.done) == .answer)
    }

    @Test func `with 'quarantine' a push that fails later quarantines nothing`() {
        var (machine, _) = Self.begun(operations: 2, rejection: .quarantine)
        _ = machine.handle(.done)
        _ = machine.handle(.sent([0: .refused(Self.refusal(0))]))
        #expect(machine.handle(.room(true)) == .advance(applied: [], rejected: [0], inFlight: [1]))
        #expect(machine.handle(.done) == .send([1]))
        let end = PushEnd(.failed(.unknownOutcome), unknown: [1])
        #expect(machine.handle(.sent([1: .unknown])) == .endJournal(end))
    }
}
