// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines
import SyncModel
import Testing

@Suite struct PushMachineTests {
    private static func row(_ cursor: Cursor, isConfirmed: Bool) -> CursorRow {
        CursorRow(
            principal: Principal(rawValue: "p"), cursor: cursor, replica: ReplicaID(rawValue: 1), parent: nil,
            vector: CheckpointVector(["A": "A|1"]), schemaVersion: 1, session: Session(rawValue: "s"), generation: 0,
            isConfirmed: isConfirmed, mappingDigest: "m")
    }

    private static func machine(
        _ presented: Cursor?, told: Bool = true, operations: Int = 2, style: PushMachine.Style = .stream,
        notes: Bool = false, budget: Int64 = 0, rejection: RejectedRecordRule = .fail
    ) -> PushMachine {
        PushMachine(
            query: .init(
                presented: presented, statesTime: told, operations: operations, style: style,
                notes: notes, attempts: 2, backoff: 10, retryBudget: budget, rejection: rejection)
        )
    }

    @Test func `a stream push confirms its cursor, applies once, and keeps a receipt before it answers`() throws {
        let cursor = try #require(Cursor(rawValue: 7))
        var machine = Self.machine(cursor)
        #expect(machine.begin() == .loadContext)
        #expect(machine.handle(.context(Self.row(cursor, isConfirmed: false))) == .confirm(cursor))
        #expect(machine.handle(.done) == .findReceipt)
        #expect(machine.handle(.receipt(false)) == .sendAll(base: CheckpointVector(["A": "A|1"])))
        #expect(machine.handle(.applied) == .saveReceipt)
        #expect(machine.handle(.done) == .answer)
    }

    @Test func `conflicts are looked for behind the receipt and before anything is noted`() throws {
        let cursor = try #require(Cursor(rawValue: 7))
        let query = PushMachine.Query(
            presented: cursor, statesTime: true, operations: 1, style: .stream, notes: true, checks: true)
        var machine = PushMachine(query: query)
        _ = machine.begin()
        #expect(machine.handle(.context(Self.row(cursor, isConfirmed: true))) == .findReceipt)
        var found = machine
        #expect(found.handle(.receipt(true)) == .answerFromReceipt)
        #expect(machine.handle(.receipt(false)) == .checkConflicts)
        var refused = machine
        let refusal = PushRefusal(kind: .conflict, records: [.init(table: "t", id: "x")])
        // What it names is pending before the client hears of it.
        #expect(refused.handle(.refused(refusal)) == .scheduleRedelivery(refusal.records))
        #expect(refused.handle(.done) == .refuse(refusal, applied: 0))
        let outdated = PushRefusal(kind: .outdated, records: [])
        var waiting = machine
        #expect(waiting.handle(.refused(outdated)) == .refuse(outdated, applied: 0))
        #expect(machine.handle(.checked) == .noteSeen)
        #expect(machine.handle(.done) == .sendAll(base: CheckpointVector(["A": "A|1"])))
    }

    @Test func `the very same push is answered from its receipt`() throws {
        let cursor = try #require(Cursor(rawValue: 7))
        var machine = Self.machine(cursor)
        _ = machine.begin()
        #expect(machine.handle(.context(Self.row(cursor, isConfirmed: true))) == .findReceipt)
        #expect(machine.handle(.receipt(true)) == .answerFromReceipt)
    }

    @Test func `a push without a time has no receipt (finding 18)`() {
        var machine = Self.machine(nil, told: false)
        _ = machine.begin()
        #expect(machine.handle(.context(nil)) == .sendAll(base: nil))
        #expect(machine.handle(.applied) == .answer)
    }

    @Test func `a stream push whose outcome is unknown is asked for again, then fails`() {
        var machine = Self.machine(nil, told: false)
        _ = machine.begin()
        _ = machine.handle(.context(nil))
        #expect(machine.handle(.unknownOutcome) == .sleep(10))
        #expect(machine.handle(.done) == .sendAll(base: nil))
        #expect(machine.handle(.unknownOutcome) == .sleep(20))
        #expect(machine.handle(.done) == .sendAll(base: nil))
        #expect(machine.handle(.unknownOutcome) == .fail(.unknownOutcome, applied: 0))
    }

    @Test func `a push of nothing only asks whether the caller is known`() {
        var machine = Self.machine(nil, told: false, operations: 0)
        _ = machine.begin()
        #expect(machine.handle(.context(nil)) == .verifyCredential)
        #expect(machine.handle(.done) == .answer)
    }

    @Test func `ids are noted as seen before the first backend call and as held before the answer (finding 14)`() {
        var machine = Self.machine(nil, told: false, notes: true)
        _ = machine.begin()
        #expect(machine.handle(.context(nil)) == .noteSeen)
        #expect(machine.handle(.done) == .sendAll(base: nil))
        #expect(machine.handle(.applied) == .noteHeld(Set(0..<2)))
        #expect(machine.handle(.done) == .answer)
    }

    @Test func `held comes before the receipt`() throws {
        let cursor = try #require(Cursor(rawValue: 7))
        var machine = Self.machine(cursor, operations: 1, notes: true)
        _ = machine.begin()
        _ = machine.handle(.context(Self.row(cursor, isConfirmed: true)))
        #expect(machine.handle(.receipt(false)) == .noteSeen)
        _ = machine.handle(.done)
        #expect(machine.handle(.applied) == .noteHeld(Set(0..<1)))
        #expect(machine.handle(.done) == .saveReceipt)
        #expect(machine.handle(.done) == .answer)
    }

    @Test func `a pause that the backend asks for and the budget does not hold ends the push`() {
        for (isKnown, failure) in [(true, PushFailure.busy), (false, .unknownOutcome)] {
            var machine = Self.machine(nil, told: false, budget: 5_000)
            _ = machine.begin()
            _ = machine.handle(.context(nil))
            #expect(machine.handle(.notNow(after: 5_001, isKnown: isKnown)) == .fail(failure, applied: 0))
        }
    }

    @Test func `with 'report' a stream push is sent again without what was rejected`() {
        func refusal(_ indices: Int...) -> PushRefusal {
            PushRefusal(kind: .rejected, records: indices.map { .init(table: "t", id: "\($0)", index: $0) })
        }
        var machine = Self.machine(nil, told: false, operations: 3, notes: true, rejection: .report)
        _ = machine.begin()
        _ = machine.handle(.context(nil))
        #expect(machine.handle(.done) == .sendAll(base: nil))
        #expect(machine.handle(.refused(refusal(1))) == .readClock)
        #expect(machine.handle(.clock(0)) == .sendAll(base: nil, without: [1]))
        #expect(machine.handle(.refused(refusal(2))) == .readClock)
        #expect(machine.handle(.clock(1)) == .sendAll(base: nil, without: [1, 2]))
        #expect(machine.handle(.applied) == .noteHeld([0]))
        #expect(machine.rejected == [1, 2])

        var all = Self.machine(nil, told: false, operations: 2, notes: true, rejection: .report)
        _ = all.begin()
        _ = all.handle(.context(nil))
        _ = all.handle(.done)
        #expect(all.handle(.refused(refusal(0, 1))) == .answer)
        #expect(all.rejected == [0, 1])
    }

    @Test func `with 'report' a refusal that names nothing new ends the push`() {
        let refusal = PushRefusal(kind: .rejected, records: [.init(table: "t", id: "x", index: 1)])
        var machine = Self.machine(nil, told: false, operations: 3, rejection: .report)
        _ = machine.begin()
        _ = machine.handle(.context(nil))
        _ = machine.handle(.refused(refusal))
        _ = machine.handle(.clock(0))
        #expect(machine.handle(.refused(refusal)) == .refuse(refusal, applied: 0))
    }

    @Test func `with 'quarantine' a stream push asks for room for all that was rejected so far`() {
        func refusal(_ indices: Int...) -> PushRefusal {
            PushRefusal(kind: .rejected, records: indices.map { .init(table: "t", id: "\($0)", index: $0) })
        }
        var machine = Self.machine(nil, told: false, operations: 3, rejection: .quarantine)
        _ = machine.begin()
        _ = machine.handle(.context(nil))
        #expect(machine.handle(.refused(refusal(1))) == .findRoom([1]))
        #expect(machine.handle(.room(true)) == .readClock)
        #expect(machine.handle(.clock(0)) == .sendAll(base: nil, without: [1]))
        #expect(machine.handle(.refused(refusal(0, 2))) == .findRoom([0, 1, 2]))
        // All of it: nothing is left to be sent.
        #expect(machine.handle(.room(true)) == .quarantine([0, 1, 2]))
        #expect(machine.handle(.done) == .answer)
    }

    @Test func `with 'quarantine' and no room a rejected record ends the push`() {
        let refusal = PushRefusal(kind: .rejected, records: [.init(table: "t", id: "x", index: 0)])
        var machine = Self.machine(nil, told: false, operations: 2, rejection: .quarantine)
        _ = machine.begin()
        _ = machine.handle(.context(nil))
        #expect(machine.handle(.refused(refusal)) == .findRoom([0]))
        #expect(machine.handle(.room(false)) == .refuse(refusal, applied: 0))
    }

    @Test func `what the backend may have applied once is never called unapplied again`() {
        let refusal = PushRefusal(kind: .rejected, records: [])
        var machine = Self.machine(nil, told: false, notes: true, budget: 5_000)
        _ = machine.begin()
        _ = machine.handle(.context(nil))
        _ = machine.handle(.done)
        _ = machine.handle(.notNow(after: nil, isKnown: true))
        _ = machine.handle(.done)
        var refused = machine
        #expect(refused.handle(.refused(refusal)) == .refuse(refusal, applied: 0))
        #expect(refused.isUnapplied)
        for event in [PushEvent.unknownOutcome, .notNow(after: nil, isKnown: false)] {
            var doubtful = machine
            _ = doubtful.handle(event)
            _ = doubtful.handle(.done)
            #expect(doubtful.handle(.refused(refusal)) == .refuse(refusal, applied: 0))
            #expect(!doubtful.isUnapplied)
        }
        var applied = machine
        _ = applied.handle(.applied)
        #expect(!applied.isUnapplied)
    }
}
