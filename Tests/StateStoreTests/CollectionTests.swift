// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import GRDB
import MemoryState
import NIOConcurrencyHelpers
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct CollectionTests {
    private static let day: Int64 = 86_400_000

    @Test(.eachStore)
    func `the newest cursors of a replica that is still seen stay however old they are`() async throws {
        try await store.pull(4)
        #expect(try await store.collect(supersededBefore: now - Self.day).cursors == 2)
        #expect(try await store.context(1).row == nil)
        #expect(try await store.context(2).row == nil)
        // 3 is what the device has, 4 what it may have got.
        #expect(try await store.context(3).row?.vector["AlbumV1"] == "3")
        let newest = try await store.context(4)
        #expect(newest.row?.vector["AlbumV1"] == "4" && newest.newest?.rawValue == 4)
        #expect(try await store.collect(seenBefore: now - Self.day).isEmpty)
    }

    @Test(.eachStore)
    func `who was not seen for long goes with everything and the newest integer stays taken`() async throws {
        let before = now - 9 * Self.day
        try await store.begin(row(500), at: before)
        try await store.setPosition(.at(CheckpointVector(["x": "y"])), of: tablet, at: before)
        try await store.save(.taken, expiresAt: before + Self.day, at: before)
        try await store.begin(row(400, of: bob, replica: 2))
        let collected = try await store.collect(seenBefore: now - Self.day)
        #expect(collected.replicas == 1 && collected.sessions == 2)
        #expect(collected.receipts == 1 && collected.principals == 1)
        #expect(try await store.context(500) == StoredPullContext())
        #expect(try await store.context(400, of: bob).row != nil)
        #expect(try await store.newestCursor()?.rawValue == 500)
    }

    @Test(.eachStore(.with { $0.collectBatch = 3 }))
    func `a collection in small transactions takes as much as one in a large one`() async throws {
        try await store.pull(10)
        try await store.confirm(10)
        #expect(try await store.collect(supersededBefore: now).cursors == 9)
        #expect(try await store.context(10).row != nil)
    }

    @Test(.eachStore(.with { $0.collectPrincipals = 1 }))
    func `of a large state each collection looks through a share, and goes on behind the last one`() async throws {
        for value in stride(from: Int64(1), through: 291, by: 10) {
            let principal = Principal(rawValue: "a\(1_000 + value)")
            try await store.begin(row(value, of: principal, replica: value))
            try await store.proceed(row(value + 1, of: principal, replica: value, parent: value))
            try await store.change(principal) { try ReplicaRules.confirm(cursor(value + 1), at: now, in: &$0) }
        }
        var counts: [Int] = []
        for _ in 0..<16 { counts.append(try await store.collect(supersededBefore: now).cursors) }
        // Of thirty principals a share is two.
        #expect(counts.reduce(0, +) == 30 && counts.allSatisfy { $0 <= 2 })
    }

    @Test func `a collection of many principals pauses after each hundred of them, and ends`() async throws {
        let store = Accounts()
        for value in Int64(1)...250 {
            try await store.begin(row(value, of: Principal(rawValue: "a\(1_000 + value)"), replica: value))
        }
        let pauses = NIOLockedValueBox(0)
        for round in 1...2 {
            _ = try await store.collect(Retention(now: now, seenBefore: 0)) { pauses.withLockedValue { $0 += 1 } }
            #expect(pauses.withLockedValue { $0 } == 2 * round)
        }
    }

    @Test func `one damaged row keeps its principal from being collected, and no other`() async throws {
        try await withStateFile { path in
            try await withSQLite(path) { store in
                for (owner, value) in [(alice, Int64(1)), (bob, 11)] {
                    try await store.begin(row(value, of: owner, replica: value))
                    try await store.proceed(row(value + 1, of: owner, replica: value, parent: value))
                    try await store.change(owner) { try ReplicaRules.confirm(cursor(value + 1), at: now, in: &$0) }
                }
            }
            try sqlite(path) { db in
                try db.execute(
                    sql: "UPDATE entry SET data = x'0102' WHERE kind = ? AND owner = ?",
                    arguments: [RowKind.session.rawValue, alice.owner])
                try db.execute(
                    sql: "INSERT INTO entry VALUES (?, ?, x'01', 1, 1, 1, x'0102')",
                    arguments: [alice.owner, RowKind.journal.rawValue])
            }
            try await withSQLite(path) { store in
                let collected = try await store.collect(supersededBefore: now)
                #expect(collected.cursors == 1 && collected.damaged == 1)
                #expect(collected.firstDamage?.contains(alice.description) == true)
                #expect(try await store.context(11, of: bob).row == nil)
            }
        }
    }

    @Test func `an erased user takes damaged heads along`() async throws {
        try await withStateFile { path in
            try await withSQLite(path) { store in
                try await store.begin(row(1))
                try await store.begin(row(2, replica: 2))
            }
            try sqlite(path) { try $0.execute(sql: "UPDATE replica SET data = x'0102' WHERE number = 1") }
            try await withSQLite(path) { store in
                let erased = try await store.commands.erase(alice)
                #expect(erased["replica"] == 2)
                let left = try await store.store.load([.row(MetaKey.replicas.row), .all(.replica, of: alice.owner)])
                #expect(left[0].first?.number == 0 && left[1].isEmpty)
            }
        }
    }

    @Test(.eachStore, arguments: [true, false])
    func `a user with a damaged head is found and erased with all scopes`(isOfScope: Bool) async throws {
        let user = Principal(rawValue: "0123456789abcdef\(String(repeating: "7", count: 48))")
        let digits = "fedcba9876543210\(String(repeating: "8", count: 48))"
        let scoped = Principal(rawValue: digits, origin: .init(user: user.rawValue, scope: "north"))
        for (number, principal) in zip(Int64(1)..., [user, scoped]) {
            try await store.begin(row(number * 10, of: principal, replica: number * 2))
            try await store.begin(row(number * 10 + 1, of: principal, replica: number * 2 + 1))
        }
        let (damaged, prefix) = isOfScope ? (scoped, "fedcba98") : (user, "01234567")
        var changes = RowChanges()
        changes.rows[RowKey(.principal, of: damaged.owner)] = ByteRow(
            key: RowKey(.principal, of: damaged.owner), version: 99, bytes: [1, 2])
        try await store.commit(changes)
        let other = Accounts(store.store)
        await #expect(throws: StateError.self) { try await other.read(damaged) { try $0.head() } }
        let found = try await other.inspection.principals(beginningWith: prefix, limit: 2)
        #expect(found.map(\.owner) == [damaged.owner])
        let erased = try await other.commands.erase(user)
        #expect(erased["principal"] == 2 && erased["replica"] == 4)
        let left = try await other.store.load(
            [MetaKey.replicas.row, MetaKey.principals.row].map(Lookup.row)
                + [user, scoped].flatMap { [.all(.replica, of: $0.owner), .row(RowKey(.principal, of: $0.owner))] })
        #expect(left.prefix(2).map { $0.first?.number } == [0, 0] && left.dropFirst(2).joined().isEmpty)
        #expect(try await other.newestCursor()?.rawValue == 21)
        #expect(try await other.commands.erase(user) == [:])
    }

    @Test func `a user with a damaged head cannot sync until the last row is erased`() async throws {
        let user = Principal(rawValue: String(repeating: "ab", count: 32))
        let commits = NIOLockedValueBox(Int.max)
        let bytes = MemoryBytes { moment in
            guard moment == .beforeWriting else { return }
            let isLast = commits.withLockedValue { left in
                left -= 1
                return left < 0
            }
            if isLast { throw StateError.full }
        }
        let key = RowKey(.principal, of: user.owner)
        let store = Accounts(bytes, limits: .with { $0.collectBatch = 1 })
        try await store.begin(row(1, of: user))
        try await store.begin(row(2, of: user, replica: 2))
        var changes = RowChanges()
        changes.rows[key] = ByteRow(key: key, version: 99, bytes: [1, 2])
        try await store.commit(changes)
        var interruptions = 0
        while interruptions < 20 {
            commits.withLockedValue { $0 = 1 }
            let erased = try? await Accounts(bytes, limits: .with { $0.collectBatch = 1 }).commands.erase(user)
            commits.withLockedValue { $0 = .max }
            guard erased == nil else { break }
            interruptions += 1
            let error = await #expect(throws: StateError.self) {
                try await Accounts(bytes).begin(row(3, of: user, replica: 3))
            }
            #expect(error?.code == Coder.damage.code)
            let found = try await store.inspection.principals(beginningWith: user.rawValue, limit: 2)
            #expect(found.map(\.owner) == [user.owner])
        }
        #expect(interruptions > 1)
        try await Accounts(bytes).begin(row(3, of: user, replica: 3))
    }

    @Test func `a damaged head is forgotten in its turn, and does not keep the others`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { store in
                try await store.begin(row(1), at: now - 9 * Self.day)
                try await store.begin(row(2, of: bob, replica: 2), at: now - 8 * Self.day)
            }
            try sqlite(path) { try $0.execute(sql: "UPDATE replica SET data = x'0102' WHERE number = 1") }
            try await withSQLite(path) { store in
                for hour: Int64 in 0...1 {
                    let time = now + hour * 3_600_001
                    let collected = try await store.collect(Retention(now: time, seenBefore: now - Self.day))
                    #expect(collected.replicas == 1)
                }
                #expect(try await store.inspection.replicas(of: nil, after: nil, limit: 9).isEmpty)
            }
            let left = try sqlite(path) { try Int.fetchOne($0, sql: "SELECT count(*) FROM replica") }
            #expect(left == 0)
        }
    }

    @Test func `replicas that cannot be forgotten do not keep the others`() async throws {
        try await withStateFile { path in
            try await withSQLite(path) { store in
                try await store.begin(row(1), at: now - 9 * Self.day)
                try await store.begin(row(2, of: bob, replica: 2), at: now - 8 * Self.day)
            }
            try sqlite(path) {
                try $0.execute(sql: "UPDATE principal SET data = x'0102' WHERE owner = ?", arguments: [alice.owner])
            }
            try await withSQLite(path, options: .with { $0.limits.collectBatch = 1 }) { store in
                let collected = try await store.collect(seenBefore: now - Self.day)
                let left = try await store.replicas(of: bob)
                #expect(collected.replicas == 1 && left.isEmpty)
            }
        }
    }

    @Test(arguments: [RowKind.loose, .staged])
    func `damaged rows of chunks do not keep younger ones`(kind: RowKind) async throws {
        try await withSQLite { store in
            try sqlite(store.location) { db in
                for index in 0..<120 {
                    try db.execute(
                        sql: "INSERT INTO entry VALUES (0, ?, ?, 1, ?, 0, x'0102')",
                        arguments: [kind.rawValue, Data([UInt8(index)]), index])
                }
            }
            var changes = RowChanges()
            changes.chunks[7] = [1, 2, 3]
            let key = RowKey(kind, of: 0, number: 9)
            let chunk = ChunkHead(table: "t", first: .first, entries: 1, number: 7, size: 3)
            let bytes = kind == .loose ? try [Int64(7)].encoded() : try StagedChunks([chunk]).encoded()
            changes.rows[key] = ByteRow(key: key, version: kind == .loose ? 0 : 1, number: 1_000, bytes: bytes)
            try await store.commit(changes)
            try await store.collect()
            let left = try await store.store.chunks([7])
            #expect(left == [nil])
        }
    }
}
