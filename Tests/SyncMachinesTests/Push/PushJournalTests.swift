// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines
import SyncModel
import Testing

/// What a push by calls knows of its journal.
@Suite struct PushJournalTests {
    /// A machine that has noted its operations as in flight and sends them.
    private static func sending(_ operations: Int, rejection: RejectedRecordRule = .fail) -> PushMachine {
        var machine = PushMachine(
            query: .init(
                presented: nil, statesTime: false, operations: operations, style: .calls, backoff: 10,
                retryBudget: 1_000, rejection: rejection, levels: [0..<operations], parallel: operations))
        _ = machine.begin()
        #expect(machine.handle(.context(nil)) == .beginJournal)
        #expect(machine.handle(.done) == .advance(applied: [], inFlight: Array(0..<operations)))
        #expect(machine.handle(.done) == .send(Array(0..<operations)))
        return machine
    }

    private static func refusal(_ index: Int, _ kind: PushRefusal.Kind = .rejected) -> PushRefusal {
        PushRefusal(kind: kind, records: [.init(table: "t", id: "\(index)", index: index)])
    }

    @Test func `what the journal has already is not written again`() {
        var machine = Self.sending(3)
        let end = PushEnd(.answered(keepsReceipt: false), applied: [1])
        #expect(machine.handle(.sent([0: .recorded, 1: .applied, 2: .recorded])) == .endJournal(end))
        #expect(machine.taken == [0, 1, 2])
    }

    @Test func `a record whose id could not be written counts as unknown, as it does in the journal`() {
        var machine = Self.sending(2)
        let end = PushEnd(.failed(.unknownOutcome), applied: [1], unknown: [0])
        #expect(machine.handle(.sent([0: .unrecorded, 1: .applied])) == .endJournal(end))
        #expect(machine.taken == [1] && machine.unknown == [0] && !machine.isUnapplied)
        #expect(machine.handle(.done) == .fail(.unknownOutcome, applied: 1))
    }

    @Test func `a push that is cut short tells its journal what is not durable yet`() {
        var machine = Self.sending(4, rejection: .report)
        let results: [Int: CallResult] = [
            0: .applied, 1: .refused(Self.refusal(1)), 2: .notNow(after: nil, isKnown: false), 3: .recorded,
        ]
        #expect(machine.handle(.sent(results)) == .advance(applied: [0], rejected: [1], inFlight: []))
        // The transaction may have failed.
        #expect(machine.interruption == PushEnd(.error, applied: [0], rejected: [1], unknown: [2]))
        #expect(machine.handle(.done) == .sleep(10))
        #expect(machine.interruption == PushEnd(.error, unknown: [2]))
    }

    @Test(
        arguments: [
            (.applied, true, true), (.recorded, true, true), (.refused(refusal(0)), false, true),
            (.refused(refusal(0, .conflict)), false, false), (.notNow(after: 1, isKnown: true), false, false),
            (.unknown, false, false), (.unrecorded, false, false), (.failed, false, false),
        ] as [(CallResult, Bool, Bool)])
    func `further calls begin only while the push goes on`(
        _ row: (result: CallResult, goesOn: Bool, reports: Bool)
    ) {
        #expect(Self.sending(1).goesOn(after: row.result) == row.goesOn)
        #expect(Self.sending(1, rejection: .report).goesOn(after: row.result) == row.reports)
        #expect(Self.sending(1, rejection: .quarantine).goesOn(after: row.result) == row.reports)
    }
}
