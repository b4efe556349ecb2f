// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import GRDB
import SQLiteState
import StateStore
import SyncModel
import Testing

/// A crash leaves the database file and a prefix of its log: these tests take copies of both and open the copies.
@Suite struct SQLiteCrashTests {
    /// Opens a copy of a store as a crash would leave it, checks that it is sound, and passes it to the body.
    ///
    /// - Parameters:
    ///   - store: The store, which goes on.
    ///   - logBytes: How much of the log there is in the copy.
    ///   - body: What is done with the copy.
    /// - Returns: What the body returns.
    /// - Throws: What opening the copy or the body throws.
    @discardableResult
    private static func withCopy<R>(
        of store: Accounts, logBytes: Int = .max, _ body: (Accounts) async throws -> R
    ) async throws -> R {
        let copy = store.location + "-" + UUID().uuidString
        try contents(store.location).write(to: URL(filePath: copy))
        try contents(store.location + "-wal").prefix(logBytes).write(to: URL(filePath: copy + "-wal"))
        return try await withSQLite(copy) { copied in
            try await copied.check(thoroughly: true)
            return try await body(copied)
        }
    }

    private static func logLength(of store: Accounts) throws -> Int { try contents(store.location + "-wal").count }

    /// The cursors that a copy has, every one with its vector.
    private static func cursors(in store: Accounts) async throws -> [Int64] {
        var found: [Int64] = []
        for value: Int64 in 1...16 {
            guard let row = try await store.context(value).row else { continue }
            #expect(row.vector["AlbumV1"] == "\(value)")
            found.append(value)
        }
        #expect(try await store.newestCursor()?.rawValue == found.last)
        return found
    }

    private static func step(_ value: Int64, of store: Accounts) async throws {
        let row = try row(value, parent: value > 1 ? value - 1 : nil, vector: ["AlbumV1": "\(value)"])
        try await value == 1 ? store.begin(row) : store.proceed(row)
    }

    @Test func `whatever was committed when the power failed is there`() async throws {
        try await withSQLite { store in
            for value: Int64 in 1...15 {
                try await Self.step(value, of: store)
                let found = try await Self.withCopy(of: store) { try await Self.cursors(in: $0) }
                #expect(found == Array(1...value))
            }
        }
    }

    @Test func `a log that was cut anywhere gives a state as it once was`() async throws {
        try await withSQLite { store in
            try await store.pull(8)
            let length = try Self.logLength(of: store)
            var random = SeededGenerator(seed: 8)
            let cuts = (0..<60).map { _ in Int.random(in: 0...length, using: &random) }.sorted() + [length]
            var before: [Int64] = []
            for cut in cuts {
                let found = try await Self.withCopy(of: store, logBytes: cut) { try await Self.cursors(in: $0) }
                #expect(found == Array((1...9).prefix(found.count)))
                #expect(found.count >= before.count)
                before = found
            }
            #expect(before == Array(1...8))
        }
    }

    /// Commits 25 pulls of a principal.
    private static func write(_ store: Accounts, _ writer: Int64) async throws {
        let principal = Principal(rawValue: "writer\(writer)")
        for value: Int64 in 1...25 {
            let row = try row(
                value, of: principal, replica: writer, parent: value > 1 ? value - 1 : nil,
                vector: ["AlbumV1": "\(value)"])
            try await value == 1 ? store.begin(row) : store.proceed(row)
            try await store.confirm(value, of: principal)
        }
    }

    @Test func `copies that are taken while others write are sound`() async throws {
        try await withSQLite { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer: Int64 in 1...4 { group.addTask { try await Self.write(store, writer) } }
                for index in 0..<10 {
                    // What a backup tool does: one read transaction, however much is written meanwhile.
                    let copy = store.location + ".\(index)"
                    try sqlite(store.location) { try $0.execute(sql: "VACUUM INTO ?", arguments: [copy]) }
                    try await withSQLite(copy) { copied in
                        try await copied.check(thoroughly: true)
                        for replica in try await copied.replicas() {
                            let newest = try #require(replica.newest)
                            let context = try await copied.context(newest.rawValue, of: replica.principal)
                            #expect(context.newest == newest)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.newestCursor()?.rawValue == 25)
        }
    }

    @Test func `a compaction that a crash has cut anywhere leaves a ledger that is read as before`() async throws {
        try await withSQLite { store in
            try await store.line(ones(1...40), [1: 2, 17: 2, 40: 2, 41: 2], [17: 3, 30: 3])
            func views(_ store: Accounts) async throws -> [Entries] {
                [try await store.view(100), try await store.view(200), try await store.view(300)]
            }
            let expected = try await views(store)
            let start = try Self.logLength(of: store)
            try await store.compact(store.outline(300), [300, 200], finished: 300)
            let length = try Self.logLength(of: store)
            var random = SeededGenerator(seed: 5)
            for cut in (0..<25).map({ _ in Int.random(in: start...length, using: &random) }) + [start, length] {
                try await Self.withCopy(of: store, logBytes: cut) { copied in
                    let cutOff = try await views(copied)
                    #expect(cutOff == expected)
                    let outline = try await copied.outline(300)
                    try await copied.compact(outline, outline.deltas.isEmpty ? [] : [300, 200], finished: 300)
                    let finished = try await views(copied)
                    #expect(finished == expected)
                    #expect(try await copied.outline(300).layers.count == 1)
                }
            }
        }
    }

    @Test func `a layer whose staging the log has lost cannot be named`() async throws {
        try await withSQLite { store in
            try await store.begin(row(1))
            let start = try Self.logLength(of: store)
            let layer = try await store.stageLayer(at: now)
            let entries = ones(1...200)
            try await store.stage(TestLedger.chunks(entries), in: layer)
            let staged = LedgerCommit.staged(layer, counts: TestLedger.count(entries))
            try await store.commit(PullCommit(row: row(2, replica: 2), replica: .new, now: now, ledger: staged))
            let length = try Self.logLength(of: store)
            for cut in stride(from: start, through: length, by: (length - start) / 12) {
                try await Self.withCopy(of: store, logBytes: cut) { copied in
                    // The cursor is there with all of its ledger, or not at all.
                    guard try await copied.context(2).row != nil else { return }
                    #expect(try await copied.view(2) == entries)
                }
            }
            let view = try await Self.withCopy(of: store) { try await $0.view(2) }
            #expect(view == entries)
        }
    }

    @Test(arguments: ["principal", "replica", "cursor"])
    func `a statement that fails in the middle leaves nothing of its transaction`(table: String) async throws {
        try await withSQLite { store in
            try sqlite(store.location) { db in
                try db.execute(
                    sql: "CREATE TRIGGER broken BEFORE INSERT ON \(table) BEGIN SELECT RAISE(ABORT, 'broken'); END")
            }
            let first = try row(1)
            await #expect(throws: StateError.self) { try await store.begin(first) }
            try sqlite(store.location) { db in
                for table in ["principal", "replica", "cursor", "entry"] {
                    let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)")
                    #expect(count == 0, "\(table)")
                }
                try db.execute(sql: "DROP TRIGGER broken")
            }
            try await store.begin(first)
        }
    }

    @Test func `an older state that was put back knows no later cursor and trusts no position`() async throws {
        try await withStateFile { path in
            try await withSQLite(path) { store in
                try await store.pull(2)
                try await store.setPosition(.at(row(2).vector))
                try sqlite(path) { try $0.execute(sql: "VACUUM INTO ?", arguments: [path + ".backup"]) }
                try await Self.step(3, of: store)
            }
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            try FileManager.default.moveItem(atPath: path + ".backup", toPath: path)
            // What docs/STATE.md tells the operator to do.
            try await withSQLite(path) { store in
                _ = try await store.commands.distrust(because: .state, of: nil, at: now)
                let lost = try await store.context(3)
                #expect(lost.row == nil)
                // The caller hands out nothing until its clock has passed this one; then 3 cannot come again.
                #expect(try await store.newestCursor()?.rawValue == 2)
                #expect(lost.session == SessionRow(generation: 1))
                let kept = try await store.context(2)
                #expect(kept.row?.generation == 0 && !kept.isFork)
            }
        }
    }
}
