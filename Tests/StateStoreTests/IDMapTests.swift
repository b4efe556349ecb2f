// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

/// The ids that a backend has given to what clients have made.
@Suite struct IDMapTests {
    private static func mapping(_ client: String, _ backend: String, table: String = "a") -> IDMapping {
        IDMapping(table: table, clientID: client, backendID: backend)
    }

    private static func all(_ store: Accounts, of principal: Principal = alice) async throws -> [StoredIDMapping] {
        try await store.read(principal) { try IDRules.mappings(after: 0, limit: 100, of: &$0) }
    }

    @Test(arguments: StateBacking.all)
    func `mappings are a principal's own, come in their order, and change nothing when they come again`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            let first = [Self.mapping("X", "7"), Self.mapping("Y", "8"), Self.mapping("X", "7", table: "b")]
            #expect(try await store.change(alice) { try IDRules.save(first, at: now, in: &$0) }.isEmpty)
            #expect(try await store.change(alice) { try IDRules.save(first, at: now, in: &$0) }.isEmpty)
            #expect(
                try await store.change(bob) { try IDRules.save([Self.mapping("X", "9")], at: now, in: &$0) }.isEmpty)
            let stored = try await Self.all(store)
            #expect(stored.map(\.mapping) == first && stored.map(\.sequence) == [1, 2, 3])
            #expect(stored.allSatisfy { $0.isPublic })
            #expect(
                try await store.read(alice) { try IDRules.mappings(after: 1, limit: 1, of: &$0) }.map(\.mapping) == [
                    first[1]
                ])
            #expect(try await Self.all(store, of: bob).map(\.mapping.backendID) == ["9"])
            #expect(try await store.context().idSequence == 3)
            #expect(
                try await store.read(alice) { try IDRules.mappings(with: "8", in: "a", of: &$0) }.map(\.mapping) == [
                    first[1]
                ])
            #expect(
                try await store.read(alice) { try IDRules.mappings(with: "X", in: "b", of: &$0) }.map(\.mapping) == [
                    first[2]
                ])
        }
    }

    @Test(arguments: StateBacking.all)
    func `of two of a client's ids for one record the first stays public`(backing: StateBacking) async throws {
        try await backing { store in
            _ = try await store.change(alice) { try IDRules.save([Self.mapping("X", "7")], at: now, in: &$0) }
            let second = Self.mapping("Y", "7")
            #expect(try await store.change(alice) { try IDRules.save([second], at: now, in: &$0) } == [second])
            #expect(try await store.change(alice) { try IDRules.save([second], at: now, in: &$0) } == [second])
            #expect(try await Self.all(store).map(\.isPublic) == [true, false])
        }
    }

    @Test(arguments: StateBacking.all)
    func `an id that may have been the backend's own is never public`(backing: StateBacking) async throws {
        try await backing { store in
            var late = Self.mapping("7", "12")
            late.mayBeBackends = true
            #expect(try await store.change(alice) { try IDRules.save([late], at: now, in: &$0) } == [late])
            #expect(
                try await store.change(alice) { try IDRules.save([Self.mapping("X", "12")], at: now, in: &$0) }.isEmpty)
            let stored = try await Self.all(store)
            #expect(stored.map(\.isPublic) == [false, true])
        }
    }

    @Test(arguments: StateBacking.all)
    func `a record that was made once more has a new id and a new place`(backing: StateBacking) async throws {
        try await backing { store in
            _ = try await store.change(alice) {
                try IDRules.save([Self.mapping("X", "7"), Self.mapping("Y", "8")], at: now, in: &$0)
            }
            _ = try await store.change(alice) { try IDRules.save([Self.mapping("X", "9")], at: now, in: &$0) }
            #expect(try await Self.all(store).map(\.mapping) == [Self.mapping("Y", "8"), Self.mapping("X", "9")])
            #expect(try await Self.all(store).map(\.sequence) == [2, 3])
        }
    }

    @Test(arguments: StateBacking.all)
    func `a pull that did not know all mappings is not committed`(backing: StateBacking) async throws {
        try await backing { store in
            try await store.begin(row(10, replica: 1))
            _ = try await store.change(alice) { try IDRules.save([Self.mapping("X", "7")], at: now, in: &$0) }
            await #expect(throws: StateError.idsChanged) { try await store.proceed(row(20, replica: 1, parent: 10)) }
            #expect(try await store.context(20).row == nil)
            var next = try row(30, replica: 1, parent: 10)
            next.ids = VisibleIDs(sequence: 1, kept: [.init(table: "a", id: "7"), .init(table: "a", id: "é:1,")])
            try await store.proceed(next)
            let context = try await store.context(30)
            #expect(context.row?.ids == next.ids)
            #expect(try await store.context(10).row?.ids == VisibleIDs())
            // Nobody else's are looked at.
            try await store.begin(row(40, of: bob, replica: 2))
        }
    }

    @Test(arguments: StateBacking.all)
    func `nobody who has mappings is forgotten, and ids that cannot be any are refused`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            _ = try await store.change(alice) { try IDRules.save([Self.mapping("X", "7")], at: now, in: &$0) }
            _ = try await store.collect(Retention(now: now, seenBefore: now + 9, undoBefore: now + 9))
            #expect(try await Self.all(store).count == 1)
            for (client, backend) in [("", "1"), ("1", ""), (String(repeating: "x", count: 256), "1")] {
                await #expect(throws: StateError.invalid("record id")) {
                    _ = try await store.change(alice) {
                        try IDRules.save([Self.mapping(client, backend)], at: now, in: &$0)
                    }
                }
            }
            #expect(try await Self.all(store).count == 1)
        }
    }

    @Test(arguments: StateBacking.all)
    func `what was pushed and has no mapping yet is told from everything else`(backing: StateBacking) async throws {
        try await backing { store in
            let ids = [Self.mapping("X", "7"), Self.mapping("Y", "8"), Self.mapping("Z", "9")]
            let notes = ["X", "Y"].map { PushNote(table: "a", id: $0, state: .seen) }
            try await store.change(alice) { try NoteRules.write(notes, at: now, in: &$0) }
            _ = try await store.change(alice) { try IDRules.save([ids[0]], at: now, in: &$0) }
            #expect(try await store.read(alice) { try IDRules.unmapped(ids, of: &$0) } == [ids[1]])
            #expect(try await store.read(bob) { try IDRules.unmapped(ids, of: &$0) }.isEmpty)
        }
    }
}
