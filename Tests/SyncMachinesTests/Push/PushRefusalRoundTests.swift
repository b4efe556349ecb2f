// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines
import SyncModel
import Testing

/// A stream push to a backend that names one refused line at a time.
@Suite struct PushRefusalRoundTests {
    private static func sent(_ rejection: RejectedRecordRule = .report, batch: Int = 0) -> PushMachine {
        var machine = PushMachine(
            query: .init(
                presented: nil, statesTime: false, operations: 10_000, style: .stream, notes: true,
                rejection: rejection, batch: batch))
        _ = machine.begin()
        _ = machine.handle(.context(nil))
        _ = machine.handle(.done)
        return machine
    }

    private static func refusal(_ index: Int) -> PushEvent {
        .refused(PushRefusal(kind: .rejected, records: [.init(table: "t", id: "\(index)", index: index)]))
    }

    @Test(arguments: [RejectedRecordRule.report, .quarantine])
    func `it is sent again a limited number of times`(_ rejection: RejectedRecordRule) {
        var machine = Self.sent(rejection)
        var rounds = 0
        var action = PushAction.sendAll(base: nil)
        while rounds < 10_000 {
            switch action {
            case .sendAll:
                action = machine.handle(Self.refusal(rounds))
                rounds += 1
            case .findRoom: action = machine.handle(.room(true))
            case .readClock: action = machine.handle(.clock(0))
            default:
                #expect(action == .fail(.tooManyRefusals, applied: 0))
                #expect(rounds == PushMachine.maximumRounds + 1 && machine.rejected.count == rounds)
                return
            }
        }
        Issue.record("it goes on without end")
    }

    @Test(arguments: [0, 1_700_000_000_000, Instant.latest - 100_000] as [Instant]) func `and for a limited time`(
        _ start: Instant
    ) {
        var machine = Self.sent()
        _ = machine.handle(Self.refusal(0))
        #expect(machine.handle(.clock(start)) == .sendAll(base: nil, without: [0]))
        _ = machine.handle(Self.refusal(1))
        let last = start + PushMachine.maximumRoundTime
        #expect(machine.handle(.clock(last)) == .sendAll(base: nil, without: [0, 1]))
        _ = machine.handle(Self.refusal(2))
        #expect(machine.handle(.clock(last + 1)) == .fail(.tooManyRefusals, applied: 0))
    }

    @Test func `what batches before have taken is noted, and counts`() {
        var machine = Self.sent(batch: 100)
        #expect(machine.handle(.applied) == .sendAll(base: nil, batch: 100..<200))
        _ = machine.handle(Self.refusal(100))
        _ = machine.handle(.clock(0))
        _ = machine.handle(Self.refusal(101))
        #expect(
            machine.handle(.clock(Instant(milliseconds: PushMachine.maximumRoundTime + 1)))
                == .noteHeld(Set(0..<100)))
        #expect(machine.handle(.done) == .fail(.tooManyRefusals, applied: 100))
    }

    @Test func `batches that are slow or have a refused line each are no refusals one after the other`() {
        var machine = Self.sent(batch: 1)
        for batch in 0..<PushMachine.maximumRounds + 10 {
            var next = machine.handle(Self.refusal(batch))
            if next == .readClock {
                next = machine.handle(.clock(Instant(milliseconds: Int64(batch) * PushMachine.maximumRoundTime)))
            }
            guard case .sendAll = next else {
                Issue.record("\(next) after \(batch) batches")
                return
            }
        }
    }
}
