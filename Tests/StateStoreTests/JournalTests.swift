// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import SQLiteState
import StateStore
import SyncModel
import Testing

/// The journals of pushes by calls.
@Suite struct JournalTests {
    private static func operation(
        _ index: Int, _ id: String, makesID: Bool = false, key: String? = nil
    ) -> InFlightOperation {
        InFlightOperation(
            index: index, kind: .create, record: PushedRecordKey(table: "tasks", id: id), makesID: makesID,
            request: key.map {
                InFlightOperation.Request(method: "POST", target: "/tasks", body: Array(#"{"a":1}"#.utf8), key: $0)
            }, sought: makesID ? Array("{}".utf8) : nil)
    }

    private static let mapping = IDMapping(table: "tasks", clientID: "a", backendID: "17")

    private static func note(_ id: String, _ state: PushNote.State) -> PushNote {
        PushNote(table: "tasks", id: id, state: state)
    }

    private static func step(
        applied: [(Int, String)] = [], inFlight: [InFlightOperation] = [], mappings: [IDMapping] = []
    ) -> JournalStep {
        var step = JournalStep()
        step.applied = applied.map(\.0)
        step.notes = applied.map { note($0.1, .held) }
        step.inFlight = inFlight
        step.mappings = mappings
        return step
    }

    private static func begin(_ store: Accounts, _ ids: [String] = ["a", "b", "c"]) async throws -> Int64 {
        try await store.beginJournal(presented: 7, operations: ids.count, notes: ids.map { note($0, .seen) })
    }

    private static func states(_ store: Accounts) async throws -> [PushNote.State] {
        try await store.notes().sorted { $0.id < $1.id }.map(\.state)
    }

    @Test(.eachStore) func `a push that is applied leaves notes and its receipt, and no journal`() async throws {
        let id = try await Self.begin(store)
        #expect(try await Self.states(store) == [.seen, .seen, .seen])
        try await store.advance(id, inFlight: [Self.operation(0, "a"), Self.operation(1, "b")], at: now + 1)
        var open = try await store.openJournals()
        #expect(open.map(\.journal.id) == [id] && open[0].inFlight.map(\.record.id) == ["a", "b"])
        #expect(try await store.openJournals(of: bob).isEmpty)
        #expect(try await store.context(of: alice).unfinished.openJournals == [id])
        #expect(try await store.context(of: bob).unfinished == UnfinishedPushes())
        try await store.advance(
            id, Self.step(applied: [(0, "a"), (1, "b")], inFlight: [Self.operation(2, "c")]), at: now + 2)
        open = try await store.openJournals()
        #expect(open[0].inFlight.map(\.index) == [2] && open[0].journal.applied == 2)
        #expect(try await Self.states(store) == [.held, .held, .seen])
        let end = JournalEnd(step: Self.step(applied: [(2, "c")]), receipt: .taken.kept("d", until: now + 9))
        try await store.end(id, end, at: now + 3)
        #expect(try await store.openJournals().isEmpty)
        #expect(try await Self.states(store) == [.held, .held, .held])
        #expect(try await store.receipt(at: now + 4) == .taken)
        #expect(try await Self.begin(store) > id)
    }

    @Test func `what came to no good end is kept for the operator, and goes after a month`() async throws {
        try await withSQLite { store in
            let failure = PushJournal.Failure(
                code: "push.rejected", message: "no", record: PushedRecordKey(table: "tasks", id: "b"))
            // Of a push of which nothing was applied there is nothing to tell.
            let none = try await Self.begin(store)
            try await store.advance(none, inFlight: [Self.operation(0, "a")])
            try await store.end(none, JournalEnd(step: JournalStep(), failure: failure))
            #expect(try await store.inspection.journal(none) == nil)

            let id = try await Self.begin(store)
            try await store.advance(
                id, inFlight: [Self.operation(0, "a"), Self.operation(1, "b"), Self.operation(2, "c")])
            try await store.end(
                id, JournalEnd(step: Self.step(applied: [(0, "a")]), failure: failure, unknown: [2]), at: now + 5)
            let (journal, inFlight) = try #require(try await store.inspection.journal(id))
            #expect(journal.state == .failed && journal.failure == failure)
            #expect(journal.applied == 1 && journal.operations == 3)
            #expect(journal.presented == Cursor(rawValue: 7) && journal.principal == alice)
            #expect(journal.startedAt == now && journal.changedAt == now + 5)
            #expect(inFlight == [Self.operation(2, "c")])
            #expect(try await store.openJournals().isEmpty)
            #expect(try await store.listed(of: alice) == [id])
            #expect(try await store.listed(of: bob).isEmpty)
            #expect(try await store.listed(after: id).isEmpty)
            let month: Int64 = 30 * 86_400_000
            for (time, count) in [(now + month + 5, 0), (now + month + 6, 1)] {
                #expect(try await store.collect(at: time).journals == count)
            }
        }
    }

    @Test(.eachStore)
    func `a creation that may have got an id keeps its journal open until it is closed`() async throws {
        let id = try await Self.begin(store)
        let inFlight = [
            Self.operation(0, "a", makesID: true, key: "k-0"), Self.operation(1, "b", makesID: true),
        ]
        try await store.advance(id, inFlight: inFlight)
        let failure = PushJournal.Failure(code: "push.unknown_outcome")
        try await store.end(id, JournalEnd(step: JournalStep(), failure: failure, unknown: [0, 1]))
        let open = try await store.openJournals()
        #expect(open.first?.inFlight == inFlight && open.first?.journal.failure == failure)

        var closure = JournalClosure()
        closure.mappings = [Self.mapping]
        closure.notes = [Self.note("a", .held)]
        closure.lost = 1
        // A second time changes nothing, and whoever still runs the push hears of it.
        for _ in 1...2 {
            try await store.close(id, with: closure, at: now + 1)
            #expect(try await store.openJournals().isEmpty)
            #expect(try await Self.states(store) == [.held, .seen, .seen])
        }
        #expect(try await store.inspection.journal(id)?.inFlight.map(\.record.id) == ["b"])
        await #expect(throws: StateError.journalClosed) {
            try await store.advance(id, inFlight: [Self.operation(2, "c")], at: now + 3)
        }
        await #expect(throws: StateError.journalClosed) {
            try await store.end(id, JournalEnd(step: JournalStep()), at: now + 3)
        }
    }

    @Test(.eachStore)
    func `a request that was given up is remembered, and what was tried in vain is counted`() async throws {
        let id = try await Self.begin(store)
        let inFlight = [("a", "k-0"), ("b", "k-1")].enumerated().map { index, operation in
            Self.operation(index, operation.0, makesID: true, key: operation.1)
        }
        try await store.advance(id, inFlight: inFlight)
        for (time, tries) in [(now + 1, 1), (now + 5, 2)] {
            let counted = try await store.change(alice) { try JournalRules.countTry(of: id, at: time, in: &$0) }
            #expect(counted == (tries, now + 1))
        }
        try await store.change(alice) { try JournalRules.giveUp(0, of: id, in: &$0) }
        let open = try await store.openJournals()
        #expect(open[0].inFlight.map { $0.request != nil } == [false, true])
        #expect(open[0].inFlight[0].sought == inFlight[0].sought)
        try await store.close(id, at: now + 6)
        for (record, wasGivenUp) in [("a", true), ("b", false)] {
            let key = PushedRecordKey(table: "tasks", id: record)
            #expect(try await store.look(alice) { try JournalRules.wasGivenUp(key, of: &$0) } == wasGivenUp)
            #expect(try await !store.look(bob) { try JournalRules.wasGivenUp(key, of: &$0) })
        }
    }

    @Test func `ids are written with the outcome of their creation, and a closed journal keeps no bodies`() async throws
    {
        try await withStateFile { path in
            try await withSQLite(path) { store in
                let id = try await Self.begin(store)
                try await store.advance(
                    id, inFlight: [Self.operation(0, "a", makesID: true, key: "k"), Self.operation(1, "b")])
                let next = Self.operation(2, "c", makesID: true, key: "l")
                try await store.advance(
                    id, Self.step(applied: [(0, "a")], inFlight: [next], mappings: [Self.mapping]))
                try await store.close(id)
                let (journal, inFlight) = try #require(try await store.inspection.journal(id))
                #expect(journal.state == .closed)
                #expect(inFlight.map(\.index) == [1, 2])
                #expect(inFlight.allSatisfy { $0.request == nil && $0.sought == nil })
            }
            let ids = try await withSQLite(path) { try await $0.mappings() }
            #expect(ids.map(\.mapping) == [Self.mapping])
        }
    }

    @Test func `an open journal is kept for as long as its device may stay away`() async throws {
        try await withSQLite { store in
            let id = try await Self.begin(store)
            let later = now + 90 * 86_400_000
            #expect(try await store.collect(at: later, seenBefore: now).journals == 0)
            #expect(try await store.inspection.journal(id) != nil)
            #expect(try await store.collect(at: later, seenBefore: now + 1).journals == 1)
        }
    }

    @Test func `only the newest failed pushes of a principal are kept`() async throws {
        try await withSQLite(options: .with { $0.limits.journalsPerPrincipal = 2 }) { store in
            var ids: [Int64] = []
            for _ in 0..<4 {
                ids.append(try await Self.begin(store))
                let failure = PushJournal.Failure(code: "push.rejected")
                try await store.end(
                    ids[ids.count - 1], JournalEnd(step: Self.step(applied: [(0, "a")]), failure: failure))
            }
            ids.append(try await Self.begin(store))
            #expect(try await store.listed() == ids.suffix(3))
        }
    }

    private typealias Cut = (steps: Int, inFlight: [String]?, states: [PushNote.State])

    /// What is in the file after each transaction of a push, when the gateway is gone right behind it.
    @Test(
        arguments: [
            (0, [], [.seen, .seen]), (1, ["a"], [.seen, .seen]), (2, ["b"], [.held, .seen]), (3, nil, [.held, .held]),
        ] as [Cut])
    func `a push that is cut off goes on being known at each of its steps`(
        steps: Int, inFlight: [String]?, states: [PushNote.State]
    ) async throws {
        try await withStateFile { path in
            try await withSQLite(path) { store in
                let id = try await Self.begin(store, ["a", "b"])
                let course = [
                    Self.step(inFlight: [Self.operation(0, "a", makesID: true, key: "k")]),
                    Self.step(applied: [(0, "a")], inFlight: [Self.operation(1, "b")], mappings: [Self.mapping]),
                ]
                for step in course.prefix(steps) { try await store.advance(id, step) }
                if steps == 3 { try await store.end(id, JournalEnd(step: Self.step(applied: [(1, "b")]))) }
            }
            try await withSQLite(path) { store in
                let open = try await store.openJournals()
                #expect(open.count == (inFlight == nil ? 0 : 1))
                #expect(open.flatMap(\.inFlight).map(\.record.id) == inFlight ?? [])
                #expect(try await Self.states(store) == states)
                try await store.check(thoroughly: true)
            }
        }
    }
}

extension Accounts {
    fileprivate func advance(_ id: Int64, _ step: JournalStep, at time: Instant = now) async throws {
        try await change(alice) { try JournalRules.advance(step, of: id, at: time, in: &$0) }
    }

    /// Notes that calls are under way.
    fileprivate func advance(_ id: Int64, inFlight: [InFlightOperation], at time: Instant = now) async throws {
        var step = JournalStep()
        step.inFlight = inFlight
        try await advance(id, step, at: time)
    }

    fileprivate func end(_ id: Int64, _ end: JournalEnd, at time: Instant = now) async throws {
        try await change(alice) { try JournalRules.end(end, of: id, at: time, in: &$0) }
    }

    fileprivate func close(
        _ id: Int64, with closure: JournalClosure = JournalClosure(), at time: Instant = now
    ) async throws {
        try await change(alice) { try JournalRules.close(id, with: closure, at: time, in: &$0) }
    }

    fileprivate func openJournals(
        of principal: Principal = alice
    ) async throws -> [(journal: PushJournal, inFlight: [InFlightOperation])] {
        try await read(principal) { try JournalRules.openJournals(of: &$0) }
    }

    /// The journals that the operator sees.
    fileprivate func listed(of principal: Principal? = nil, after: Int64 = 0) async throws -> [Int64] {
        try await inspection.journals(of: principal, after: after, limit: 9).map(\.id)
    }
}
