// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct PushNoteTests {
    private static func note(_ id: String, _ state: PushNote.State = .held, table: String = "a") -> PushNote {
        PushNote(table: table, id: id, state: state)
    }

    @Test(.eachStore) func `notes are numbered for their principal and each record has its last one`() async throws {
        #expect(try await store.notes().isEmpty)
        #expect(try await store.context().sequence == 0)
        var first = [Self.note("1", .seen), Self.note("1", .seen, table: "b")]
        (first[0].sequence, first[0].shape) = (99, .max)
        first[0].links = [.max, 0, 0x0102_0304_0506_0708]
        try await store.write(first)
        try await store.write([Self.note("2", .gone)], of: bob)
        (first[0].sequence, first[1].sequence) = (1, 2)
        #expect(try await store.notes() == first)
        try await store.write([Self.note("1", .held, table: "b"), Self.note("1", .gone)])
        let last = try await store.notes()
        #expect(last.map(\.state) == [.held, .gone] && last.map(\.sequence) == [3, 4])
        // A deletion names no links: those that were known still tell what its record went with.
        #expect(last.map(\.links) == [[], first[0].links] && last.map(\.shape) == [0, .max])
        for (after, limit, count) in [(3, 100, 1), (0, 1, 1), (3, 2, 1), (0, 3, 2), (0, -1, 0), (4, 100, 0)] {
            #expect(try await store.notes(after: Int64(after), limit: limit) == last.suffix(count))
        }
        #expect(try await store.context().sequence == 4)
        #expect(try await store.context(of: bob).sequence == 1)
        let new = Principal(rawValue: "new")
        try await store.write([], of: new)
        #expect(try await store.context(of: new) == StoredPullContext())
    }

    @Test(.eachStore)
    func `a record that was refused is held for cursors that have not seen an accepted push of it`() async throws {
        func note(_ states: PushNote.State...) async throws {
            for state in states { try await store.write([Self.note("1", state)]) }
        }
        func state(after sequence: Int64) async throws -> PushNote.State? {
            try await store.notes(after: sequence).first?.state
        }
        try await note(.seen, .refused)
        #expect(try await state(after: 0) == .refused)
        // Another push is under way: who knows what comes of it.
        try await note(.seen)
        #expect(try await state(after: 0) == .seen)
        try await note(.held, .seen, .refused)
        #expect(try await state(after: 3) == .held)
        #expect(try await state(after: 4) == .refused)
        try await note(.seen)
        #expect(try await state(after: 6) == .held)
    }

    @Test(.eachStore) func `of notes of which one cannot be kept none is`() async throws {
        let ids = ["\u{0}", "", "a b", String(repeating: "x", count: 256)]
        for bad in ids.map({ Self.note($0) }) + [Self.note("1", table: "")] {
            await #expect(throws: StateError.self) { try await store.write([Self.note("1"), bad]) }
        }
        let context = try await store.context()
        #expect(context == StoredPullContext())
    }

    @Test(.eachStore) func `numbers go on after notes were collected`() async throws {
        try await store.write([Self.note("1")], at: 5)
        var first = try row(100)
        first.noted = 1
        try await store.begin(first)
        #expect(try await store.collect(seenBefore: 6).notes == 1)
        try await store.write([Self.note("2")])
        #expect(try await store.notes().map(\.sequence) == [2])
    }

    @Test(.eachStore) func `what is known of a record is not forgotten because it is sent again`() async throws {
        func note(_ state: PushNote.State, _ links: [UInt64] = [], shape: UInt32 = 0) async throws -> PushNote? {
            try await store.write([PushNote(table: "a", id: "1", state: state, links: links, shape: shape)])
            return try await store.notes().last
        }
        #expect(try await note(.seen, [1], shape: 5)?.state == .seen)
        #expect(try await note(.held, [2], shape: 5)?.state == .held)
        #expect(try await note(.seen, [3], shape: 6)?.state == .held)
        #expect(try await note(.gone)?.state == .gone)
        let last = try await note(.seen)
        #expect(last?.state == .gone && last?.sequence == 5)
        #expect(last?.links == [3] && last?.shape == 6)
        #expect(try await note(.held, [0], shape: 7)?.links == [0])
    }

    @Test(.eachStore)
    func `a refused push takes its notes along, but for those of records that were noted before`() async throws {
        func note(_ ids: ClosedRange<Int>, _ state: PushNote.State) async throws {
            try await store.write(ids.map { Self.note("\($0)", state) })
        }
        func notes() async throws -> [String] { try await store.notes().map { "\($0.id) \($0.state)" }.sorted() }
        #expect(try await store.beginNotes(of: alice) == 0)
        // Of an earlier push: one whose outcome is unknown, one that was taken, one that was refused and quarantined.
        try await note(1...3, .seen)
        try await note(2...2, .held)
        try await note(3...3, .refused)
        let sequence = try await store.beginNotes(of: alice)
        #expect(sequence == 5)
        try await note(1...5_000, .seen)
        try await note(4...4, .held)
        try await note(5...5, .gone)
        try await note(6...6, .refused)
        try await store.dropNotes(of: alice, after: sequence)
        #expect(try await notes() == ["1 seen", "2 held", "3 seen", "4 held", "5 gone", "6 refused"])
        // What a push has noted that was never ended stays: what became of it is unknown.
        try await store.dropNotes(of: alice, after: store.beginNotes(of: alice))
        #expect(try await notes().count == 6)
        try await store.dropNotes(of: bob, after: 0)
    }

    @Test func `of a principal's notes only the newest stay when the next push begins`() async throws {
        try await withSQLite(options: .with { $0.limits.notesPerPrincipal = 100 }) { store in
            for owner in [alice, bob] { try await store.write((0..<3_000).map { Self.note("\($0)") }, of: owner) }
            #expect(try await store.beginNotes(of: alice) == 3_000)
            #expect(try await store.notes().map(\.sequence) == Array(2_901...3_000))
            #expect(try await store.notes(of: bob).count == 3_000)
            // A push that runs is not disturbed, however large.
            try await store.write((0..<300).map { Self.note("\($0)", .seen, table: "b") })
            #expect(try await store.notes().count == 400)
        }
    }

    @Test func `more notes stay than are laid over a ledger, so that none of them is missed`() {
        // DeviceState.maximumNotes and what is read for pushes.
        #expect(StateLimits().notesPerPrincipal > 50_000)
    }
}
