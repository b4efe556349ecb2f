// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel
import Testing

/// The ids that a backend has given to what clients have made.
@Suite struct IDMapTests {
    private static func mapping(_ client: String, _ backend: String, table: String = "a") -> IDMapping {
        IDMapping(table: table, clientID: client, backendID: backend)
    }

    private static func all(_ store: any StateStore, of principal: Principal = alice) async throws -> [StoredIDMapping]
    {
        try await store.idMappings(of: principal, after: 0, limit: 100)
    }

    @Test(arguments: StateBacking.all)
    func `mappings are a principal's own, come in their order, and change nothing when they come again`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            let first = [Self.mapping("X", "7"), Self.mapping("Y", "8"), Self.mapping("X", "7", table: "b")]
            #expect(try await store.saveMappings(first, principal: alice, at: now).isEmpty)
            #expect(try await store.saveMappings(first, principal: alice, at: now).isEmpty)
            #expect(try await store.saveMappings([Self.mapping("X", "9")], principal: bob, at: now).isEmpty)
            let stored = try await Self.all(store)
            #expect(stored.map(\.mapping) == first && stored.map(\.sequence) == [1, 2, 3])
            #expect(stored.allSatisfy { $0.isPublic })
            #expect(try await store.idMappings(of: alice, after: 1, limit: 1).map(\.mapping) == [first[1]])
            #expect(try await Self.all(store, of: bob).map(\.mapping.backendID) == ["9"])
            #expect(try await store.context().idSequence == 3)
            #expect(try await store.idMappings(of: alice, table: "a", id: "8").map(\.mapping) == [first[1]])
            #expect(try await store.idMappings(of: alice, table: "b", id: "X").map(\.mapping) == [first[2]])
        }
    }

    @Test(arguments: StateBacking.all)
    func `of two of a client's ids for one record the first stays public`(backing: StateBacking) async throws {
        try await backing { store in
            _ = try await store.saveMappings([Self.mapping("X", "7")], principal: alice, at: now)
            let second = Self.mapping("Y", "7")
            #expect(try await store.saveMappings([second], principal: alice, at: now) == [second])
            #expect(try await store.saveMappings([second], principal: alice, at: now) == [second])
            #expect(try await Self.all(store).map(\.isPublic) == [true, false])
        }
    }

    @Test(arguments: StateBacking.all)
    func `an id that may have been the backend's own is never public`(backing: StateBacking) async throws {
        try await backing { store in
            var late = Self.mapping("7", "12")
            late.mayBeBackends = true
            #expect(try await store.saveMappings([late], principal: alice, at: now) == [late])
            #expect(try await store.saveMappings([Self.mapping("X", "12")], principal: alice, at: now).isEmpty)
            let stored = try await Self.all(store)
            #expect(stored.map(\.isPublic) == [false, true])
        }
    }

    @Test(arguments: StateBacking.all)
    func `a record that was made once more has a new id and a new place`(backing: StateBacking) async throws {
        try await backing { store in
            _ = try await store.saveMappings(
                [Self.mapping("X", "7"), Self.mapping("Y", "8")], principal: alice, at: now)
            _ = try await store.saveMappings([Self.mapping("X", "9")], principal: alice, at: now)
            #expect(try await Self.all(store).map(\.mapping) == [Self.mapping("Y", "8"), Self.mapping("X", "9")])
            #expect(try await Self.all(store).map(\.sequence) == [2, 3])
        }
    }

    @Test(arguments: StateBacking.all)
    func `a pull that did not know all mappings is not committed`(backing: StateBacking) async throws {
        try await backing { store in
            try await store.begin(row(10, replica: 1))
            _ = try await store.saveMappings([Self.mapping("X", "7")], principal: alice, at: now)
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
            _ = try await store.saveMappings([Self.mapping("X", "7")], principal: alice, at: now)
            _ = try await store.collect(Retention(now: now, seenBefore: now + 9, undoBefore: now + 9))
            #expect(try await Self.all(store).count == 1)
            for (client, backend) in [("", "1"), ("1", ""), (String(repeating: "x", count: 256), "1")] {
                await #expect(throws: StateError.invalid("record id")) {
                    _ = try await store.saveMappings([Self.mapping(client, backend)], principal: alice, at: now)
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
            try await store.note(notes, principal: alice, at: now)
            _ = try await store.saveMappings([ids[0]], principal: alice, at: now)
            #expect(try await store.unmappedPushes(ids, of: alice) == [ids[1]])
            #expect(try await store.unmappedPushes(ids, of: bob).isEmpty)
        }
    }
}
