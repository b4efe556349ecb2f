// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines
import SyncModel
import Testing

@Suite struct PushPreparationTests {
    typealias Machine = PushPreparationMachine

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var query: Machine.Query
        var events: [Machine.Event] = []
        var actions: [Machine.Action]
    }

    @Test(arguments: [
        Row(
            testDescription: "no time", query: .init(saysEnough: false), actions: [.fail(.withoutTime)]),
        Row(testDescription: "an unfit id", query: .init(unfitID: 3), actions: [.fail(.unfitID(index: 3))]),
        Row(
            testDescription: "deletions of their own", query: .init(), events: [.done],
            actions: [.loadQuarantine, .goOn(isUnknown: false)]),
        Row(
            testDescription: "descendants", query: .init(deletions: .cascading),
            events: [.done, .ledger(true), .found, .current(true)],
            actions: [.loadQuarantine, .loadLedger, .findDescendants, .checkLedger, .follow]),
        Row(
            testDescription: "an order", query: .init(deletions: .ordered),
            events: [.done, .ledger(true), .found, .current(true)],
            actions: [.loadQuarantine, .loadLedger, .findDescendants, .checkLedger, .follow]),
        Row(
            testDescription: "unknown descendants", query: .init(deletions: .cascading),
            events: [.done, .ledger(false)], actions: [.loadQuarantine, .loadLedger, .goOn(isUnknown: true)]),
        Row(
            testDescription: "an unknown order", query: .init(deletions: .ordered),
            events: [.done, .ledger(false)], actions: [.loadQuarantine, .loadLedger, .goOn(isUnknown: false)]),
        Row(
            testDescription: "a ledger that changes once", query: .init(deletions: .cascading),
            events: [.done, .ledger(true), .damaged, .current(false), .ledger(true), .found, .current(true)],
            actions: [
                .loadQuarantine, .loadLedger, .findDescendants, .checkLedger, .loadLedger, .findDescendants,
                .checkLedger,
                .follow,
            ]),
        Row(
            testDescription: "a ledger that does not stand still", query: .init(deletions: .ordered),
            events: [.done] + (0..<Machine.attempts).flatMap { _ in [.ledger(true), .found, .current(false)] },
            actions: [.loadQuarantine]
                + (0..<Machine.attempts).flatMap { _ in [.loadLedger, .findDescendants, .checkLedger] }
                + [.fail(.ledgerChanged)]),
        Row(
            testDescription: "a damaged ledger", query: .init(deletions: .cascading),
            events: [.done, .ledger(true), .damaged, .current(true), .done],
            actions: [
                .loadQuarantine, .loadLedger, .findDescendants, .checkLedger, .verifyCredential, .fail(.outdated),
            ]),
        Row(
            testDescription: "too many descendants", query: .init(deletions: .cascading),
            events: [.done, .ledger(true), .tooMany, .done],
            actions: [.loadQuarantine, .loadLedger, .findDescendants, .verifyCredential, .fail(.tooManyDescendants)]),
    ])
    func `a push is prepared step by step`(row: Row) {
        var machine = Machine(query: row.query)
        #expect([machine.begin()] + row.events.map { machine.handle($0) } == row.actions)
        #expect(machine.unexpected == nil)
    }

    @Test(arguments: PushFuzzTests.seeds) func `the preparation takes any event in any state`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let events: [Machine.Event] = [
            .done, .ledger(true), .ledger(false), .found, .damaged, .tooMany, .current(true), .current(false),
        ]
        var unexpected = 0
        for _ in 0..<1_000 {
            let deletions = Machine.Deletions.allCases.randomElement(using: &generator) ?? .alone
            var machine = Machine(query: .init(deletions: deletions))
            var action = machine.begin()
            for _ in 0..<8 {
                let event = events.randomElement(using: &generator) ?? .done
                action = machine.handle(event)
                guard machine.unexpected != nil else { continue }
                #expect(action == .fail(.unexpectedEvent), "seed \(seed)")
                unexpected += 1
            }
        }
        #expect(unexpected > 1_000, "seed \(seed)")
    }
}
