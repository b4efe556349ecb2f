// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct PushNoteTests {
    @Test(arguments: StateBacking.all)
    func `notes are numbered for their principal and each record has its last one`(backing: StateBacking) async throws {
        try await backing { store in
            #expect(try await store.read(alice) { try NoteRules.notes(after: 0, limit: 100, of: &$0) }.isEmpty)
            #expect(try await store.context().sequence == 0)
            let first = [
                PushNote(
                    table: "a", id: "1", state: .seen, sequence: 99, links: [.max, 0, 0x0102_0304_0506_0708],
                    shape: .max),
                PushNote(table: "b", id: "1", state: .seen),
            ]
            try await store.change(alice) { try NoteRules.write(first, at: now, in: &$0) }
            try await store.change(bob) {
                try NoteRules.write([PushNote(table: "a", id: "2", state: .gone)], at: now, in: &$0)
            }
            var expected = first
            expected[0].sequence = 1
            expected[1].sequence = 2
            #expect(try await store.read(alice) { try NoteRules.notes(after: 0, limit: 100, of: &$0) } == expected)
            try await store.change(alice) {
                try NoteRules.write(
                    [PushNote(table: "b", id: "1", state: .held), PushNote(table: "a", id: "1", state: .gone)], at: now,
                    in: &$0)
            }
            let last = try await store.read(alice) { try NoteRules.notes(after: 0, limit: 100, of: &$0) }
            #expect(last.map(\.state) == [.held, .gone])
            #expect(last.map(\.sequence) == [3, 4])
            // A deletion names no links: those that were known still tell what its record went with.
            #expect(last.map(\.links) == [[], first[0].links])
            #expect(last.map(\.shape) == [0, .max])
            #expect(try await store.read(alice) { try NoteRules.notes(after: 3, limit: 100, of: &$0) } == [last[1]])
            #expect(try await store.read(alice) { try NoteRules.notes(after: 0, limit: 1, of: &$0) } == [last[1]])
            #expect(try await store.read(alice) { try NoteRules.notes(after: 0, limit: -1, of: &$0) }.isEmpty)
            for (sequence, limit, hasMore) in [(0, 2, false), (0, 1, true), (3, 1, false), (3, 0, true), (4, 0, false)]
            {
                #expect(
                    try await store.read(alice) {
                        try NoteRules.notes(after: Int64(sequence), limit: limit + 1, of: &$0).count > limit
                    } == hasMore)
            }
            #expect(try await store.read(alice) { try NoteRules.notes(after: 4, limit: 100, of: &$0) }.isEmpty)
            #expect(try await store.context().sequence == 4)
            #expect(try await store.context(of: bob).sequence == 1)
            try await store.change(Principal(rawValue: "new")) { try NoteRules.write([], at: now, in: &$0) }
            #expect(try await store.context(of: Principal(rawValue: "new")) == StoredPullContext())
        }
    }

    @Test(arguments: StateBacking.all)
    func `a record that was refused is held for cursors that have not seen an accepted push of it`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            func note(_ state: PushNote.State) async throws {
                try await store.change(alice) {
                    try NoteRules.write([PushNote(table: "a", id: "1", state: state)], at: now, in: &$0)
                }
            }
            func state(after sequence: Int64) async throws -> PushNote.State? {
                try await store.read(alice) { try NoteRules.notes(after: sequence, limit: 9, of: &$0) }.first?.state
            }
            for state: PushNote.State in [.seen, .refused] { try await note(state) }
            #expect(try await state(after: 0) == .refused)
            // Another push is under way: who knows what comes of it.
            try await note(.seen)
            #expect(try await state(after: 0) == .seen)
            try await note(.held)
            for state: PushNote.State in [.seen, .refused] { try await note(state) }
            #expect(try await state(after: 3) == .held)
            #expect(try await state(after: 4) == .refused)
            try await note(.seen)
            #expect(try await state(after: 6) == .held)
        }
    }

    @Test(arguments: StateBacking.all)
    func `of notes of which one cannot be kept none is`(backing: StateBacking) async throws {
        try await backing { store in
            let ids = ["\u{0}", "", "a b", String(repeating: "x", count: 256)]
            let bad = ids.map { PushNote(table: "a", id: $0, state: .held) }
            for bad in bad + [PushNote(table: "", id: "1", state: .held)] {
                let notes = [PushNote(table: "a", id: "1", state: .held), bad]
                await #expect(throws: StateError.self) {
                    try await store.change(alice) { try NoteRules.write(notes, at: now, in: &$0) }
                }
            }
            let context = try await store.context()
            #expect(context == StoredPullContext())
        }
    }

    @Test(arguments: StateBacking.all)
    func `numbers go on after notes were collected`(backing: StateBacking) async throws {
        try await backing { store in
            try await store.change(alice) {
                try NoteRules.write([PushNote(table: "a", id: "1", state: .held)], at: 5, in: &$0)
            }
            try await store.begin(row(100), at: now)
            #expect(try await store.collect(Retention(now: now, seenBefore: 6)).notes == 1)
            try await store.change(alice) {
                try NoteRules.write([PushNote(table: "a", id: "2", state: .held)], at: now, in: &$0)
            }
            #expect(
                try await store.read(alice) { try NoteRules.notes(after: 0, limit: 100, of: &$0) }.map(\.sequence) == [
                    2
                ])
        }
    }

    @Test(arguments: StateBacking.all)
    func `what is known of a record is not forgotten because it is sent again`(backing: StateBacking) async throws {
        try await backing { store in
            func note(_ state: PushNote.State, _ links: [UInt64] = [], shape: UInt32 = 0) async throws -> PushNote? {
                let note = PushNote(table: "a", id: "1", state: state, links: links, shape: shape)
                try await store.change(alice) { try NoteRules.write([note], at: now, in: &$0) }
                return try await store.read(alice) { try NoteRules.notes(after: 0, limit: 100, of: &$0) }.last
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
    }

    @Test(arguments: StateBacking.all)
    func `a refused push takes its notes along, but for those of records that were noted before`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            func note(_ ids: [Int], _ state: PushNote.State) async throws {
                try await store.change(alice) {
                    try NoteRules.write(ids.map { PushNote(table: "a", id: "\($0)", state: state) }, at: now, in: &$0)
                }
            }
            func notes() async throws -> [String] {
                try await store.read(alice) { try NoteRules.notes(after: 0, limit: 9_999, of: &$0) }.map {
                    "\($0.id) \($0.state)"
                }.sorted()
            }
            #expect(try await store.beginNotes(of: alice) == 0)
            // Of an earlier push: one whose outcome is unknown, one that was taken, one that was refused and quarantined.
            try await note([1, 2, 3], .seen)
            try await note([2], .held)
            try await note([3], .refused)
            let sequence = try await store.beginNotes(of: alice)
            #expect(sequence == 5)
            try await note(Array(1...5_000), .seen)
            try await note([4], .held)
            try await note([5], .gone)
            try await note([6], .refused)
            try await store.dropNotes(of: alice, after: sequence)
            #expect(try await notes() == ["1 seen", "2 held", "3 seen", "4 held", "5 gone", "6 refused"])
            // What a push has noted that was never ended stays: what became of it is unknown.
            try await store.dropNotes(of: alice, after: store.beginNotes(of: alice))
            #expect(try await notes().count == 6)
            try await store.dropNotes(of: bob, after: 0)
        }
    }

    @Test func `of a principal's notes only the newest stay when the next push begins`() async throws {
        try await withTemporaryDirectory { directory in
            try await withSQLite("\(directory)/state.db", options: .with { $0.limits.notesPerPrincipal = 100 }) {
                store in
                for owner in [alice, bob] {
                    let notes = (0..<3_000).map { PushNote(table: "a", id: "\($0)", state: .held) }
                    try await store.change(owner) { try NoteRules.write(notes, at: now, in: &$0) }
                }
                #expect(try await store.beginNotes(of: alice) == 3_000)
                let kept = try await store.read(alice) { try NoteRules.notes(after: 0, limit: 9_999, of: &$0) }
                #expect(kept.map(\.sequence) == Array(2_901...3_000))
                #expect(
                    try await store.read(bob) { try NoteRules.notes(after: 0, limit: 9_999, of: &$0) }.count == 3_000)
                // A push that runs is not disturbed, however large.
                try await store.change(alice) {
                    try NoteRules.write(
                        (0..<300).map { PushNote(table: "b", id: "\($0)", state: .seen) }, at: now, in: &$0)
                }
                #expect(
                    try await store.read(alice) { try NoteRules.notes(after: 0, limit: 9_999, of: &$0) }.count == 400)
            }
        }
    }

    @Test func `more notes stay than are laid over a ledger, so that none of them is missed`() {
        // DeviceState.maximumNotes and what is read for pushes.
        #expect(StateLimits().notesPerPrincipal > 50_000)
    }
}
