// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import MemoryState
import StateStore
import SyncModel
import Testing

@Suite struct QuarantineTests {
    private static func line(_ id: String?, _ bytes: String = "", _ namespace: String? = "AlbumV1") -> QuarantinedLine {
        QuarantinedLine(
            reason: id == nil ? .invalidJSON : .unsafeID, type: "AlbumV1", namespace: namespace, table: "albums",
            id: id, bytes: Array(bytes.utf8))
    }

    @Test(.eachStore) func `a line is kept as it is and the same one again only counts`() async throws {
        let bare = QuarantinedLine(reason: .invalidUTF8, bytes: [0xFF, 0, 0x41])
        try await store.begin(row(100), quarantined: [Self.line("a/b", "one"), bare])
        try await store.begin(
            row(101, of: bob, replica: 2), at: now + 5, quarantined: [Self.line("a/b", "two"), Self.line("c/d")])
        // A refused pull quarantines nothing.
        await #expect(throws: StateError.self) {
            try await store.begin(row(102, replica: 3, generation: 5), quarantined: [Self.line("e/f")])
        }
        let entries = try await store.inspection.quarantined(limit: 10)
        #expect(entries.map(\.line.id) == ["c/d", "a/b", nil] && entries.map(\.count) == [1, 2, 1])
        #expect(entries.map(\.firstSeen) == [now + 5, now, now])
        #expect(entries.map(\.lastSeen) == [now + 5, now + 5, now])
        #expect(entries.map(\.principal) == [bob, bob, alice])
        #expect(entries.last?.line == bare)
        // The newest contents, for a line that is known by its id.
        #expect(entries[1].line == Self.line("a/b", "two"))
        #expect(try await store.inspection.quarantined(limit: 1).count == 1)
        let counts = try await store.inspection.quarantineCounts()
        #expect(counts == QuarantineCounts(entries: 3, byReason: [.unsafeID: 2, .invalidUTF8: 1]))
    }

    @Test(.eachStore) func `lines differ by reason, place, id, and without an id by their bytes`() async throws {
        let lines = [
            Self.line(nil, "x"), Self.line(nil, "y"), Self.line(nil, "x", nil), Self.line(nil, "x", ""),
            Self.line(""), Self.line("a"), Self.line("a", "", "AlbumV1a"),
        ]
        try await store.begin(row(100), quarantined: lines + lines)
        let entries = try await store.inspection.quarantined(limit: 100)
        #expect(Set(entries.map(\.line)) == Set(lines))
        #expect(entries.map(\.count) == Array(repeating: 2, count: lines.count))
    }

    @Test(.eachStore(.with { ($0.quarantineEntries, $0.quarantineBytes) = (3, 4) }))
    func `the quarantine is bounded and counts what it had no room for`() async throws {
        for index: Int64 in 1...5 {
            try await store.begin(
                row(index, replica: index), at: now + index, quarantined: [Self.line("\(index)/", "123456")])
        }
        let entries = try await store.inspection.quarantined(limit: 9)
        #expect(entries.map(\.line.id) == ["5/", "4/", "3/"] && entries.map(\.line.bytes.count) == [4, 4, 4])
        #expect(try await store.inspection.quarantineCounts().dropped == 2)
        let many = (0..<100).map { Self.line("many/\($0)") }
        try await store.begin(row(9, replica: 9), at: now + 9, quarantined: many)
        let counts = try await store.inspection.quarantineCounts()
        #expect(counts.entries == 3 && counts.dropped == 2 + 97 + 3)
    }

    @Test func `lines that others have left beyond the bound go, and a line that comes again stays`() async throws {
        let bytes = MemoryBytes()
        func store(_ entries: Int) -> Accounts { Accounts(bytes, limits: .with { $0.quarantineEntries = entries }) }
        try await store(6).begin(row(1), quarantined: (1...6).map { Self.line("\($0)/") })
        try await store(3).begin(row(2, replica: 2), at: now + 1, quarantined: ["1/", "7/"].map { Self.line($0) })
        let entries = try await store(3).inspection.quarantined(limit: 9)
        #expect(entries.count == 3)
        #expect(Set(entries.prefix(2).map(\.line.id)) == ["1/", "7/"])
        #expect(entries.first { $0.line.id == "1/" }?.count == 2)
        #expect(try await store(3).inspection.quarantineCounts().dropped == 4)
    }

    @Test(.eachStore) func `texts of any length and content can be quarantined`() async throws {
        let long = String(repeating: "é", count: 5_000)
        try await store.begin(row(100), quarantined: [Self.line(long + "1"), Self.line("a\u{0}b", "", long)])
        let entries = try await store.inspection.quarantined(limit: 9)
        #expect(entries.first { $0.line.namespace != "AlbumV1" }?.line.id == "a\u{FFFD}b")
        #expect(entries.allSatisfy { ($0.line.id?.utf8.count ?? 0) <= 1_030 })
    }

    @Test func `lines of streams are listed by their numbers, and dropped`() async throws {
        try await withSQLite { store in
            func listed(of principal: Principal? = nil) async throws -> [QuarantineEntry] {
                try await store.inspection.quarantinedLines(of: principal, after: 0, limit: 9)
            }
            let lines = ["a/", "b/"].map { QuarantinedLine(reason: .unsafeID, table: "t", id: $0, bytes: [1]) }
            try await store.begin(row(100), quarantined: lines)
            let entries = try await listed()
            #expect(entries.map(\.line) == lines)
            #expect(try await listed(of: bob).isEmpty)
            #expect(try await store.inspection.quarantinedLine(entries[1].id) == entries[1])
            #expect(try await store.commands.dropLines([entries[0].id, 99]) == [entries[0].id])
            #expect(try await listed(of: alice) == [entries[1]])
        }
    }
}
