// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

/// Users who are erased from a state.
@Suite struct EraseTests {
    @Test(.eachStore) func `everything of a user and all scopes goes, and nothing of anybody else`() async throws {
        let scoped = Principal(rawValue: "scoped", origin: .init(user: alice.rawValue, scope: "north"))
        for (place, owner) in [alice, scoped, bob].enumerated() { try await Self.fill(owner, place: Int64(place + 1)) }
        let erased = try await store.commands.erase(alice)
        let expected: [String: Int] = [
            "principal": 2, "session": 2, "replica": 2, "cursor": 2, "note": 4, "receipt": 2,
            "journal": 2, "line": 2,
        ]
        for (table, count) in expected { #expect(erased[table] == count, "\(table)") }
        #expect(try await store.inspection.principals(beginningWith: "a", limit: 9).isEmpty)
        #expect(try await store.replicas().map(\.principal) == [bob])
        #expect(try await store.inspection.quarantinedLines(of: nil, after: 0, limit: 9).map(\.principal) == [bob])
        #expect(try await store.inspection.journals(of: nil, after: 0, limit: 9).map(\.principal) == [bob])
        #expect(try await store.context(200).newest == nil)
        #expect(try await store.context(300, of: bob).row != nil)
        // No cursor is handed out twice, whoever had it.
        #expect(try await store.newestCursor()?.rawValue == 300)
        #expect(try await store.commands.erase(alice) == [:])
        _ = try await store.commands.erase(bob)
        #expect(try await store.newestCursor()?.rawValue == 300)
        try await store.begin(row(1_000))
        #expect(try await store.context(1_000).row != nil)
        try await store.check(thoroughly: true)
    }

    /// Writes something into most tables.
    private static func fill(_ owner: Principal, place: Int64) async throws {
        let line = QuarantinedLine(reason: .notAnObject, type: "X\(place)", bytes: Array("[\(place)]".utf8))
        try await store.begin(row(place * 100, of: owner, replica: place), quarantined: [line])
        let notes = ["1", "2"].map { PushNote(table: "a", id: $0, state: .held) }
        try await store.beginJournal(notes: notes, of: owner)
        try await store.save(.taken, expiresAt: now + 1, of: owner)
    }
}
