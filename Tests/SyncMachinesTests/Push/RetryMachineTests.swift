// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines
import SyncModel
import Testing

/// How the entries of the quarantine are sent again that the operator has marked.
@Suite struct RetryMachineTests {
    private typealias Machine = RetryMachine

    /// Retries of these entries, whose first one is under way.
    private static func begun(_ entries: [RetryMachine.Entry], hasKeys: Bool = false) -> RetryMachine {
        var retries = RetryMachine(query: RetryMachine.Query(entries, hasKeys: hasKeys))
        #expect(retries.begin() == .verifyCredential)
        #expect(retries.handle(.done) == .readClock)
        #expect(retries.handle(.clock(0)) == .attempt(entries.first { !$0.isPushed }?.id ?? -1))
        return retries
    }

    private static func entries(_ ids: Int64...) -> [RetryMachine.Entry] { ids.map { RetryMachine.Entry(id: $0) } }

    @Test func `without entries nobody is asked for anything`() {
        var retries = Machine(query: Machine.Query([], hasKeys: true))
        #expect(retries.begin() == .stop)
    }

    @Test func `what the client is about to push itself is not retried`() {
        let pushed = Machine.Entry(id: 1, isPushed: true)
        var retries = Machine(query: Machine.Query([pushed], hasKeys: true))
        #expect(retries.begin() == .stop)
        retries = Self.begun([pushed, Machine.Entry(id: 2)])
        #expect(retries.handle(.attempted(.taken)) == .stop)
    }

    @Test func `an entry that is refused goes back and does not stop the others`() {
        var retries = Self.begun(Self.entries(7, 8, 9))
        // Its device holds what the backend does not have: no comparison may revert it there.
        #expect(retries.handle(.attempted(.refused)) == .noteRefused(7))
        #expect(retries.handle(.done) == .quarantineAgain(7, isRefused: true))
        #expect(retries.handle(.done) == .readClock)
        #expect(retries.handle(.clock(1)) == .attempt(8))
        // Of a push that failed otherwise that much is unknown.
        #expect(retries.handle(.attempted(.failed)) == .quarantineAgain(8, isRefused: true))
        #expect(retries.handle(.done) == .readClock)
        #expect(retries.handle(.clock(2)) == .attempt(9))
        #expect(retries.handle(.attempted(.taken)) == .stop)
    }

    @Test func `a backend that takes nothing at the moment is not asked for the rest`() {
        var retries = Self.begun(Self.entries(7, 8))
        #expect(retries.handle(.attempted(.putOff)) == .stop)
    }

    @Test(arguments: [(0, true), (9_999, true), (10_000, false), (.max, false), (-1, true)] as [(Int64, Bool)])
    func `a request is not delayed by more than some seconds, and an entry that was begun is finished`(
        _ row: (time: Int64, goesOn: Bool)
    ) {
        var retries = Self.begun(Self.entries(7, 8))
        #expect(retries.handle(.attempted(.taken)) == .readClock)
        #expect(retries.handle(.clock(Instant(milliseconds: row.time))) == (row.goesOn ? .attempt(8) : .stop))
    }

    @Test(arguments: [(1, false), (4, false), (5, true), (.max, true), (.min, false)] as [(Int, Bool)])
    func `an entry whose outcome is unknown stays marked for some attempts`(_ row: (tries: Int, isLast: Bool)) {
        var retries = Self.begun(Self.entries(7, 8))
        #expect(retries.handle(.attempted(.unknown)) == .countTry(7))
        #expect(retries.handle(.tried(row.tries)) == (row.isLast ? .quarantineAgain(7, isRefused: false) : .readClock))
        guard row.isLast else { return }
        #expect(retries.handle(.done) == .readClock)
    }

    @Test func `a creation that may be there under another id is not sent twice`() {
        let entry = Machine.Entry(id: 7, makesID: true)
        var retries = Self.begun([entry])
        #expect(retries.handle(.attempted(.unknown)) == .quarantineAgain(7, isRefused: true))
        // With a key push recovery finds its id first, unless it has given that up.
        retries = Self.begun([entry], hasKeys: true)
        #expect(retries.handle(.attempted(.unknown)) == .lookUp(7))
        #expect(retries.handle(.givenUp(true)) == .quarantineAgain(7, isRefused: true))
        retries = Self.begun([entry], hasKeys: true)
        #expect(retries.handle(.attempted(.unknown)) == .lookUp(7))
        #expect(retries.handle(.givenUp(false)) == .countTry(7))
    }

    @Test(arguments: PushFuzzTests.seeds) func `retries take any event in any state`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var (retries, action) = (Machine(query: Machine.Query([], hasKeys: true)), Machine.Action.stop)
        var (unexpected, stopped, attempted) = (0, 0, Set<Int64>())
        for _ in 0..<5_000 {
            if Self.isEnd(action), Bool.random(using: &generator) {
                let entries = (0..<4).map { Machine.Entry(id: $0, makesID: $0 % 2 == 0) }
                retries = Machine(query: Machine.Query(entries, hasKeys: Bool.random(using: &generator)))
                (action, attempted) = (retries.begin(), [])
            }
            let wasEnd = Self.isEnd(action)
            let isFitting = Int.random(in: 0..<8, using: &generator) > 0
            let events = isFitting ? Self.events(for: action) : Self.allEvents
            action = retries.handle(events.randomElement(using: &generator) ?? .done)
            if case .attempt(let id) = action { #expect(attempted.insert(id).inserted, "seed \(seed)") }
            if case .fail = action { unexpected += 1 } else { #expect(!wasEnd, "seed \(seed)") }
            if action == .stop { stopped += 1 }
        }
        #expect(unexpected > 100 && stopped > 100, "seed \(seed)")
    }

    private static func isEnd(_ action: RetryMachine.Action) -> Bool {
        switch action {
        case .stop, .fail: true
        case .verifyCredential, .readClock, .attempt, .lookUp, .countTry, .noteRefused, .quarantineAgain: false
        }
    }

    private static func events(for action: RetryMachine.Action) -> [RetryMachine.Event] {
        switch action {
        case .verifyCredential, .noteRefused, .quarantineAgain, .stop, .fail: [.done]
        case .readClock: [.clock(0), .clock(1), .clock(2), .clock(.earliest), .clock(.latest)]
        case .attempt: Machine.Outcome.allCases.map { .attempted($0) }
        case .lookUp: [.givenUp(true), .givenUp(false)]
        case .countTry: [.tried(.min), .tried(4), .tried(.max)]
        }
    }

    private static let allEvents: [RetryMachine.Event] =
        [.verifyCredential, .readClock, .attempt(0), .lookUp(0), .countTry(0)].flatMap { events(for: $0) }
}
