// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines
import SyncModel
import Testing

/// `[push] batch`: a stream push as several requests.
@Suite struct PushBatchTests {
    /// A push of five operations in batches of two, whose ids are noted.
    private static func begun(_ rejection: RejectedRecordRule = .fail) -> PushMachine {
        var machine = PushMachine(
            query: .init(
                presented: nil, statesTime: false, operations: 5, style: .stream, notes: true, attempts: 2,
                backoff: 10,
                rejection: rejection, batch: 2))
        _ = machine.begin()
        #expect(machine.handle(.context(nil)) == .noteSeen)
        return machine
    }

    private static func refusal(_ kind: PushRefusal.Kind, _ indices: Int...) -> PushRefusal {
        PushRefusal(kind: kind, records: indices.map { .init(table: "t", id: "\($0)", index: $0) })
    }

    @Test func `batches are sent one after the other, and only after the last one it is noted what the backend has`() {
        var machine = Self.begun()
        #expect(machine.handle(.done) == .sendAll(base: nil, batch: 0..<2))
        #expect(machine.handle(.applied) == .sendAll(base: nil, batch: 2..<4))
        #expect(machine.handle(.applied) == .sendAll(base: nil, batch: 4..<5))
        #expect(machine.handle(.applied) == .noteHeld(Set(0..<5)))
        #expect(machine.handle(.done) == .answer)
    }

    @Test(arguments: [PushRefusal.Kind.conflict, .rejected])
    func `a batch that is refused ends the push, and those before it stay applied`(_ kind: PushRefusal.Kind) {
        let refusal = Self.refusal(kind, 3)
        var machine = Self.begun()
        _ = machine.handle(.done)
        _ = machine.handle(.applied)
        #expect(machine.handle(.refused(refusal)) == .noteHeld(Set(0..<2)))
        #expect(machine.handle(.done) == .refuse(refusal, applied: 2))
    }

    @Test func `each batch has its own attempts while its outcome is unknown`() {
        var machine = Self.begun()
        _ = machine.handle(.done)
        for batch in [0..<2, 2..<4] {
            for pause in [Int64(10), 20] {
                #expect(machine.handle(.unknownOutcome) == .sleep(pause))
                #expect(machine.handle(.done) == .sendAll(base: nil, batch: batch))
            }
            #expect(machine.handle(.applied) != .answer)
        }
        for _ in 0..<2 {
            _ = machine.handle(.unknownOutcome)
            _ = machine.handle(.done)
        }
        #expect(machine.handle(.unknownOutcome) == .noteHeld(Set(0..<4)))
        #expect(machine.handle(.done) == .fail(.unknownOutcome, applied: 4))
    }

    @Test func `with 'report' a batch goes on without what was rejected, and one without anything else is passed over`()
    {
        var machine = Self.begun(.report)
        _ = machine.handle(.done)
        #expect(machine.handle(.refused(Self.refusal(.rejected, 1))) == .readClock)
        #expect(machine.handle(.clock(0)) == .sendAll(base: nil, without: [1], batch: 0..<2))
        #expect(machine.handle(.applied) == .sendAll(base: nil, without: [1], batch: 2..<4))
        #expect(
            machine.handle(.refused(Self.refusal(.rejected, 2, 3)))
                == .sendAll(base: nil, without: [1, 2, 3], batch: 4..<5))
        #expect(machine.handle(.applied) == .noteHeld([0, 4]))
        #expect(machine.applied == 2 && machine.rejected == [1, 2, 3])
    }
}
