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

    @Test(.eachStore)
    func `mappings are a principal's own, come in their order, and change nothing when they come again`() async throws {
        func found(_ id: String, _ table: String) async throws -> [IDMapping] {
            try await store.read(alice) { try IDRules.mappings(with: id, in: table, of: &$0) }.map(\.mapping)
        }
        let first = [Self.mapping("X", "7"), Self.mapping("Y", "8"), Self.mapping("X", "7", table: "b")]
        for _ in 1...2 { #expect(try await store.save(first).isEmpty) }
        #expect(try await store.save([Self.mapping("X", "9")], of: bob).isEmpty)
        let stored = try await store.mappings()
        #expect(stored.map(\.mapping) == first && stored.map(\.sequence) == [1, 2, 3])
        #expect(stored.allSatisfy { $0.isPublic })
        #expect(try await store.mappings(after: 1, limit: 1) == [stored[1]])
        #expect(try await store.mappings(of: bob).map(\.mapping.backendID) == ["9"])
        #expect(try await store.context().idSequence == 3)
        #expect(try await found("8", "a") == [first[1]])
        #expect(try await found("X", "b") == [first[2]])
    }

    @Test(.eachStore)
    func `of two of a client's ids for one record the first that can be no id of the backend is public`() async throws {
        try await store.save([Self.mapping("X", "7")])
        let second = Self.mapping("Y", "7")
        for _ in 1...2 { #expect(try await store.save([second]) == [second]) }
        var late = Self.mapping("7", "12")
        late.mayBeBackends = true
        #expect(try await store.save([late]) == [late])
        #expect(try await store.save([Self.mapping("Z", "12")]).isEmpty)
        #expect(try await store.mappings().map(\.isPublic) == [true, false, false, true])
    }

    @Test(.eachStore) func `a record that was made once more has a new id and a new place`() async throws {
        try await store.save([Self.mapping("X", "7"), Self.mapping("Y", "8")])
        try await store.save([Self.mapping("X", "9")])
        let stored = try await store.mappings()
        #expect(stored.map(\.mapping) == [Self.mapping("Y", "8"), Self.mapping("X", "9")])
        #expect(stored.map(\.sequence) == [2, 3])
    }

    @Test(.eachStore) func `a pull that did not know all mappings is not committed`() async throws {
        try await store.begin(row(10))
        try await store.save([Self.mapping("X", "7")])
        await #expect(throws: StateError.idsChanged) { try await store.proceed(row(20, parent: 10)) }
        #expect(try await store.context(20).row == nil)
        var next = try row(30, parent: 10)
        next.ids = VisibleIDs(sequence: 1, kept: [.init(table: "a", id: "7"), .init(table: "a", id: "é:1,")])
        try await store.proceed(next)
        #expect(try await store.context(30).row?.ids == next.ids)
        #expect(try await store.context(10).row?.ids == VisibleIDs())
        // Nobody else's are looked at.
        try await store.begin(row(40, of: bob, replica: 2))
    }

    @Test(.eachStore)
    func `nobody who has mappings is forgotten, and ids that cannot be any are refused`() async throws {
        try await store.save([Self.mapping("X", "7")])
        try await store.collect(seenBefore: now + 9, undoBefore: now + 9)
        for (client, backend) in [("", "1"), ("1", ""), (String(repeating: "x", count: 256), "1")] {
            await #expect(throws: StateError.invalid("record id")) {
                try await store.save([Self.mapping(client, backend)])
            }
        }
        #expect(try await store.mappings().count == 1)
    }

    @Test(.eachStore) func `what was pushed and has no mapping yet is told from everything else`() async throws {
        let ids = [Self.mapping("X", "7"), Self.mapping("Y", "8"), Self.mapping("Z", "9")]
        try await store.write(["X", "Y"].map { PushNote(table: "a", id: $0, state: .seen) })
        try await store.save([ids[0]])
        #expect(try await store.read(alice) { try IDRules.unmapped(ids, of: &$0) } == [ids[1]])
        #expect(try await store.read(bob) { try IDRules.unmapped(ids, of: &$0) }.isEmpty)
    }
}
