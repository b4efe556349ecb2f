// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import GRDB
import SQLiteState
import StateStore
import SyncModel
import Testing

/// The journals of pushes by calls.
@Suite struct JournalTests {
    private static func operationInFlight(
        _ index: Int, _ id: String, makesID: Bool = false, key: String? = nil
    ) -> InFlightOperation {
        InFlightOperation(
            index: index, kind: .create, record: PushedRecordKey(table: "tasks", id: id), makesID: makesID,
            request: key.map {
                InFlightOperation.Request(method: "POST", target: "/tasks", body: Array(#"{"a":1}"#.utf8), key: $0)
            }, sought: makesID ? Array("{}".utf8) : nil)
    }

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
        try await store.change(alice) {
            try JournalRules.begin(
                JournalOpening(presented: try cursor(7), operations: ids.count, notes: ids.map { note($0, .seen) }),
                at: now, in: &$0)
        }
    }

    private static func states(_ store: Accounts) async throws -> [PushNote.State] {
        try await store.read(alice) { try NoteRules.notes(after: 0, limit: 9, of: &$0) }.sorted { $0.id < $1.id }.map(
            \.state)
    }

    @Test(arguments: StateBacking.all)
    func `a push that is applied leaves notes and its receipt, and no journal`(backing: StateBacking) async throws {
        try await backing { store in
            let id = try await Self.begin(store)
            #expect(try await Self.states(store) == [.seen, .seen, .seen])
            try await store.change(alice) {
                try JournalRules.advance(
                    Self.step(inFlight: [Self.operationInFlight(0, "a"), Self.operationInFlight(1, "b")]), of: id,
                    at: now + 1, in: &$0)
            }
            var open = try await store.read(alice) { try JournalRules.openJournals(of: &$0) }
            #expect(open.map(\.journal.id) == [id] && open[0].inFlight.map(\.record.id) == ["a", "b"])
            #expect(try await store.read(bob) { try JournalRules.openJournals(of: &$0) }.isEmpty)
            #expect(try await store.context(of: alice).unfinished.openJournals == open.map(\.journal.id))
            #expect(try await store.context(of: bob).unfinished == UnfinishedPushes())
            try await store.change(alice) {
                try JournalRules.advance(
                    Self.step(applied: [(0, "a"), (1, "b")], inFlight: [Self.operationInFlight(2, "c")]), of: id,
                    at: now + 2, in: &$0)
            }
            open = try await store.read(alice) { try JournalRules.openJournals(of: &$0) }
            #expect(open[0].inFlight.map(\.index) == [2] && open[0].journal.applied == 2)
            #expect(try await Self.states(store) == [.held, .held, .seen])
            let receipt = Receipt(status: 200, contentType: "a/b", body: [1])
            try await store.change(alice) {
                try JournalRules.end(
                    JournalEnd(
                        step: Self.step(applied: [(2, "c")]),
                        receipt: JournalEnd.KeptReceipt(receipt: receipt, digest: "d", expiresAt: now + 9)), of: id,
                    at: now + 3, in: &$0)
            }
            #expect(try await store.read(alice) { try JournalRules.openJournals(of: &$0) }.isEmpty)
            #expect(try await Self.states(store) == [.held, .held, .held])
            #expect(try await store.read(alice) { try ReceiptRules.receipt("d", at: now + 4, of: &$0) } == receipt)
            let next = try await Self.begin(store)
            #expect(next > id)
        }
    }

    @Test func `what came to no good end is kept for the operator, and goes after a month`() async throws {
        try await withTemporaryDirectory { directory in
            try await withSQLite(directory + "/state.db") { store in
                let failure = PushJournal.Failure(
                    code: "push.rejected", message: "no", record: PushedRecordKey(table: "tasks", id: "b"))
                // Of a push of which nothing was applied there is nothing to tell.
                let none = try await Self.begin(store)
                try await store.change(alice) {
                    try JournalRules.advance(
                        Self.step(inFlight: [Self.operationInFlight(0, "a")]), of: none, at: now, in: &$0)
                }
                try await store.change(alice) {
                    try JournalRules.end(JournalEnd(step: JournalStep(), failure: failure), of: none, at: now, in: &$0)
                }
                #expect(try await store.inspection.journal(none) == nil)

                let id = try await Self.begin(store)
                try await store.change(alice) {
                    try JournalRules.advance(
                        Self.step(inFlight: [
                            Self.operationInFlight(0, "a"), Self.operationInFlight(1, "b"),
                            Self.operationInFlight(2, "c"),
                        ]), of: id, at: now, in: &$0)
                }
                try await store.change(alice) {
                    try JournalRules.end(
                        JournalEnd(step: Self.step(applied: [(0, "a")]), failure: failure, unknown: [2]), of: id,
                        at: now + 5, in: &$0)
                }
                let found = try #require(try await store.inspection.journal(id))
                #expect(found.journal.state == .failed && found.journal.failure == failure)
                #expect(found.journal.applied == 1 && found.journal.operations == 3)
                #expect(found.journal.presented == Cursor(rawValue: 7) && found.journal.principal == alice)
                #expect(found.journal.startedAt == now && found.journal.changedAt == now + 5)
                #expect(found.inFlight == [Self.operationInFlight(2, "c")])
                #expect(try await store.read(alice) { try JournalRules.openJournals(of: &$0) }.isEmpty)
                #expect(try await store.inspection.journals(of: alice, after: 0, limit: 9).map(\.id) == [id])
                #expect(try await store.inspection.journals(of: bob, after: 0, limit: 9).isEmpty)
                #expect(try await store.inspection.journals(of: nil, after: id, limit: 9).isEmpty)
                let month: Int64 = 30 * 86_400_000
                for (time, count) in [(now + month + 5, 0), (now + month + 6, 1)] {
                    #expect(try await store.collect(Retention(now: time, seenBefore: 0)).journals == count)
                }
            }
        }
    }

    @Test(arguments: StateBacking.all)
    func `a creation that may have got an id keeps its journal open until it is closed`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            let id = try await Self.begin(store)
            let inFlight = [
                Self.operationInFlight(0, "a", makesID: true, key: "k-0"),
                Self.operationInFlight(1, "b", makesID: true),
            ]
            try await store.change(alice) {
                try JournalRules.advance(Self.step(inFlight: inFlight), of: id, at: now, in: &$0)
            }
            let failure = PushJournal.Failure(code: "push.unknown_outcome")
            try await store.change(alice) {
                try JournalRules.end(
                    JournalEnd(step: JournalStep(), failure: failure, unknown: [0, 1]), of: id, at: now, in: &$0)
            }
            let open = try await store.read(alice) { try JournalRules.openJournals(of: &$0) }
            #expect(open.first?.inFlight == inFlight && open.first?.journal.failure == failure)

            var closure = JournalClosure()
            closure.mappings = [IDMapping(table: "tasks", clientID: "a", backendID: "17")]
            closure.notes = [Self.note("a", .held)]
            closure.lost = 1
            try await store.change(alice) { try JournalRules.close(id, with: closure, at: now + 1, in: &$0) }
            #expect(try await store.read(alice) { try JournalRules.openJournals(of: &$0) }.isEmpty)
            #expect(try await Self.states(store) == [.held, .seen, .seen])
            // A second time changes nothing, and whoever still runs the push hears of it.
            try await store.change(alice) { try JournalRules.close(id, with: closure, at: now + 2, in: &$0) }
            await #expect(throws: StateError.journalClosed) {
                try await store.change(alice) {
                    try JournalRules.advance(
                        Self.step(inFlight: [Self.operationInFlight(2, "c")]), of: id, at: now + 3, in: &$0)
                }
            }
            await #expect(throws: StateError.journalClosed) {
                try await store.change(alice) {
                    try JournalRules.end(JournalEnd(step: JournalStep()), of: id, at: now + 3, in: &$0)
                }
            }
        }
    }

    @Test(arguments: StateBacking.all)
    func `a request that was given up is remembered, and what was tried in vain is counted`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            let id = try await Self.begin(store)
            let inFlight = [
                Self.operationInFlight(0, "a", makesID: true, key: "k-0"),
                Self.operationInFlight(1, "b", makesID: true, key: "k-1"),
            ]
            try await store.change(alice) {
                try JournalRules.advance(Self.step(inFlight: inFlight), of: id, at: now, in: &$0)
            }
            #expect(
                try await store.change(alice) { try JournalRules.countTry(of: id, at: now + 1, in: &$0) } == (
                    1, now + 1
                ))
            #expect(
                try await store.change(alice) { try JournalRules.countTry(of: id, at: now + 5, in: &$0) } == (
                    2, now + 1
                ))
            try await store.change(alice) { try JournalRules.giveUp(0, of: id, in: &$0) }
            let open = try await store.read(alice) { try JournalRules.openJournals(of: &$0) }
            #expect(open[0].inFlight.map { $0.request != nil } == [false, true])
            #expect(open[0].inFlight[0].sought == inFlight[0].sought)
            try await store.change(alice) { try JournalRules.close(id, with: JournalClosure(), at: now + 6, in: &$0) }
            for (record, wasGivenUp) in [("a", true), ("b", false)] {
                let key = PushedRecordKey(table: "tasks", id: record)
                #expect(try await store.look(alice) { try JournalRules.wasGivenUp(key, of: &$0) } == wasGivenUp)
                #expect(try await !store.look(bob) { try JournalRules.wasGivenUp(key, of: &$0) })
            }
        }
    }

    @Test func `ids are written with the outcome of their creation, and a closed journal keeps no bodies`() async throws
    {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { store in
                let id = try await Self.begin(store)
                try await store.change(alice) {
                    try JournalRules.advance(
                        Self.step(inFlight: [
                            Self.operationInFlight(0, "a", makesID: true, key: "k"), Self.operationInFlight(1, "b"),
                        ]), of: id, at: now, in: &$0)
                }
                try await store.change(alice) {
                    try JournalRules.advance(
                        Self.step(
                            applied: [(0, "a")], inFlight: [Self.operationInFlight(2, "c", makesID: true, key: "l")],
                            mappings: [IDMapping(table: "tasks", clientID: "a", backendID: "17")]), of: id, at: now,
                        in: &$0)
                }
                try await store.change(alice) { try JournalRules.close(id, with: JournalClosure(), at: now, in: &$0) }
                let found = try #require(try await store.inspection.journal(id))
                #expect(found.journal.state == .closed)
                #expect(found.inFlight.map(\.index) == [1, 2])
                #expect(found.inFlight.allSatisfy { $0.request == nil && $0.sought == nil })
            }
            let ids = try await withSQLite(path) {
                try await $0.read(alice) { try IDRules.mappings(after: 0, limit: 9, of: &$0) }
            }
            #expect(ids.map(\.mapping) == [IDMapping(table: "tasks", clientID: "a", backendID: "17")])
        }
    }

    @Test func `an open journal is kept for as long as its device may stay away`() async throws {
        try await withTemporaryDirectory { directory in
            try await withSQLite(directory + "/state.db") { store in
                let id = try await Self.begin(store)
                let later = now + 90 * 86_400_000
                #expect(try await store.collect(Retention(now: later, seenBefore: now)).journals == 0)
                #expect(try await store.inspection.journal(id) != nil)
                #expect(try await store.collect(Retention(now: later, seenBefore: now + 1)).journals == 1)
            }
        }
    }

    @Test func `only the newest failed pushes of a principal are kept`() async throws {
        try await withTemporaryDirectory { directory in
            var options = SQLiteStateStore.Options()
            options.limits.journalsPerPrincipal = 2
            try await withSQLite(directory + "/state.db", options: options) { store in
                var ids: [Int64] = []
                for _ in 0..<4 {
                    let id = try await Self.begin(store)
                    let failure = PushJournal.Failure(code: "push.rejected")
                    try await store.change(alice) {
                        try JournalRules.end(
                            JournalEnd(step: Self.step(applied: [(0, "a")]), failure: failure), of: id, at: now, in: &$0
                        )
                    }
                    ids.append(id)
                }
                let open = try await Self.begin(store)
                #expect(
                    try await store.inspection.journals(of: nil, after: 0, limit: 9).map(\.id) == ids.suffix(2) + [open]
                )
            }
        }
    }

    /// What is in the file after each transaction of a push, when the gateway is gone right behind it.
    @Test(arguments: 0..<4) func `a push that is cut off goes on being known at each of its steps`(
        _ steps: Int
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { store in
                let id = try await Self.begin(store, ["a", "b"])
                let course: [JournalStep] = [
                    Self.step(inFlight: [Self.operationInFlight(0, "a", makesID: true, key: "k")]),
                    Self.step(
                        applied: [(0, "a")], inFlight: [Self.operationInFlight(1, "b")],
                        mappings: [IDMapping(table: "tasks", clientID: "a", backendID: "17")]),
                ]
                for step in course.prefix(steps) {
                    try await store.change(alice) { try JournalRules.advance(step, of: id, at: now, in: &$0) }
                }
                if steps == 3 {
                    try await store.change(alice) {
                        try JournalRules.end(JournalEnd(step: Self.step(applied: [(1, "b")])), of: id, at: now, in: &$0)
                    }
                }
            }
            try await withSQLite(path) { store in
                let open = try await store.read(alice) { try JournalRules.openJournals(of: &$0) }
                let inFlight = open.flatMap(\.inFlight).map(\.record.id)
                switch steps {
                case 0: #expect(open.count == 1 && inFlight == [])
                case 1: #expect(open.count == 1 && inFlight == ["a"])
                case 2: #expect(open.count == 1 && inFlight == ["b"])
                default: #expect(open.isEmpty)
                }
                #expect(
                    try await Self.states(store)
                        == [[.seen, .seen], [.seen, .seen], [.held, .seen], [.held, .held]][steps])
                try await store.check(thoroughly: true)
            }
        }
    }
}
