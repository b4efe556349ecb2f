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
    private static func copy(_ path: String, to directory: String, logBytes: Int? = nil) throws -> String {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let copy = directory + "/state.db"
        try contents(path).write(to: URL(filePath: copy))
        if let log = try? contents(path + "-wal") {
            try log.prefix(logBytes ?? log.count).write(to: URL(filePath: copy + "-wal"))
        }
        return copy
    }

    /// The cursors that a copy has; every one with its vector, and sound as a whole.
    private static func cursors(in path: String, upTo last: Int64) async throws -> [Int64] {
        try await withSQLite(path) { store in
            try await store.check(thoroughly: true)
            var found: [Int64] = []
            for value in 1...last {
                guard let row = try await store.context(value).row else { continue }
                #expect(row.vector["AlbumV1"] == "\(value)")
                found.append(value)
            }
            #expect(try await store.newestCursor()?.rawValue == found.last)
            return found
        }
    }

    private static func step(_ value: Int64, of store: Accounts) async throws {
        let row = try row(value, parent: value > 1 ? value - 1 : nil, vector: ["AlbumV1": "\(value)"])
        try await value == 1 ? store.begin(row) : store.proceed(row)
    }

    @Test func `whatever was committed when the power failed is there`() async throws {
        try await withTemporaryDirectory { directory in
            try await withSQLite(directory + "/state.db") { store in
                for value: Int64 in 1...15 {
                    try await Self.step(value, of: store)
                    let copy = try Self.copy(store.location, to: directory + "/\(value)")
                    #expect(try await Self.cursors(in: copy, upTo: 16) == Array(1...value))
                }
            }
        }
    }

    @Test func `a log that was cut anywhere gives a state as it once was`() async throws {
        try await withTemporaryDirectory { directory in
            try await withSQLite(directory + "/state.db") { store in
                for value: Int64 in 1...8 { try await Self.step(value, of: store) }
                let length = try contents(store.location + "-wal").count
                var random = SeededGenerator(seed: 8)
                let cuts = (0..<60).map { _ in Int.random(in: 0...length, using: &random) }.sorted() + [length]
                var before: [Int64] = []
                for (index, cut) in cuts.enumerated() {
                    let copy = try Self.copy(store.location, to: directory + "/\(index)", logBytes: cut)
                    let found = try await Self.cursors(in: copy, upTo: 9)
                    #expect(found == Array(1...9).prefix(found.count).map(Int64.init))
                    #expect(found.count >= before.count)
                    before = found
                }
                #expect(before == Array(1...8))
            }
        }
    }

    @Test func `copies that are taken while others write are sound`() async throws {
        try await withTemporaryDirectory { directory in
            try await withSQLite(directory + "/state.db") { store in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for writer: Int64 in 1...4 {
                        group.addTask {
                            let principal = Principal(rawValue: "writer\(writer)")
                            for value: Int64 in 1...25 {
                                let row = try row(
                                    value, of: principal, replica: writer, parent: value > 1 ? value - 1 : nil,
                                    vector: ["AlbumV1": "\(value)"])
                                try await value == 1 ? store.begin(row) : store.proceed(row)
                                try await store.change(principal) {
                                    try ReplicaRules.confirm(cursor(value), at: now, in: &$0)
                                }
                            }
                        }
                    }
                    for index in 0..<10 {
                        // What a backup tool does: one read transaction, however much is written meanwhile.
                        let copy = directory + "/copy\(index).db"
                        try sqlite(store.location) { try $0.execute(sql: "VACUUM INTO ?", arguments: [copy]) }
                        try await withSQLite(copy) { copied in
                            try await copied.check(thoroughly: true)
                            for replica in try await copied.inspection.replicas(of: nil, after: nil, limit: 9) {
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
    }

    @Test func `a compaction that a crash has cut anywhere leaves a ledger that is read as before`() async throws {
        try await withTemporaryDirectory { directory in
            try await withSQLite(directory + "/state.db") { store in
                try await store.begin(row(100), Entries(uniqueKeysWithValues: (1...40).map { ($0, 1) }))
                try await store.proceed(row(200, parent: 100), [1: 2, 17: 2, 40: 2, 41: 2])
                try await store.proceed(row(300, parent: 200), [17: 3, 30: 3])
                try await store.change(alice) { try ReplicaRules.confirm(cursor(300), at: now, in: &$0) }
                var views: [Int64: Entries] = [:]
                for value: Int64 in [100, 200, 300] { views[value] = try await store.view(value) }
                let expected = views
                let start = try contents(store.location + "-wal").count
                try await store.compact(store.outline(300), [300, 200], finished: 300)
                let length = try contents(store.location + "-wal").count
                var random = SeededGenerator(seed: 5)
                let cuts = (0..<25).map { _ in Int.random(in: start...length, using: &random) } + [start, length]
                for (index, cut) in cuts.enumerated() {
                    let copy = try Self.copy(store.location, to: directory + "/\(index)", logBytes: cut)
                    try await withSQLite(copy) { copied in
                        try await copied.check(thoroughly: true)
                        for (value, view) in expected { #expect(try await copied.view(value) == view) }
                        let outline = try await copied.outline(300)
                        try await copied.compact(outline, outline.deltas.isEmpty ? [] : [300, 200], finished: 300)
                        for (value, view) in expected { #expect(try await copied.view(value) == view) }
                        #expect(try await copied.outline(300).layers.count == 1)
                    }
                }
            }
        }
    }

    @Test func `a layer whose staging the log has lost cannot be named`() async throws {
        try await withTemporaryDirectory { directory in
            try await withSQLite(directory + "/state.db") { store in
                try await store.begin(row(1), at: now)
                let start = try contents(store.location + "-wal").count
                let layer = try await store.stageLayer(at: now)
                let entries = Entries(uniqueKeysWithValues: (1...200).map { ($0, 1) })
                try await store.stage(TestLedger.chunks(entries), in: layer)
                let pull = PullCommit(
                    row: try row(2, replica: 2), replica: .new, now: now,
                    ledger: .staged(layer, counts: TestLedger.count(entries)))
                try await store.commit(pull)
                let length = try contents(store.location + "-wal").count
                for (index, cut) in stride(from: start, through: length, by: (length - start) / 12).enumerated() {
                    let copy = try Self.copy(store.location, to: directory + "/\(index)", logBytes: cut)
                    try await withSQLite(copy) { copied in
                        try await copied.check(thoroughly: true)
                        // The cursor is there with all of its ledger, or not at all.
                        guard try await copied.context(2).row != nil else { return }
                        #expect(try await copied.view(2) == entries)
                    }
                }
                let whole = try Self.copy(store.location, to: directory + "/whole")
                let view = try await withSQLite(whole) { try await $0.view(2) }
                #expect(view == entries)
            }
        }
    }

    @Test func `a failed transaction in the middle leaves nothing of itself`() async throws {
        try await withTemporaryDirectory { directory in
            try await withSQLite(directory + "/state.db") { store in
                try await store.begin(row(1))
                var bad = try row(2, of: bob, replica: 2, vector: ["b": "b"], session: tablet)
                bad.mappingDigest = ""
                let commit = PullCommit(row: bad, replica: .new, now: now)
                await #expect(throws: StateError.invalid("mapping digest")) { try await store.commit(commit) }
                try sqlite(store.location) { db in
                    for table in ["principal", "replica", "cursor"] {
                        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)")
                        #expect(count == 1, "\(table)")
                    }
                }
            }
        }
    }

    @Test func `an older state that was put back knows no later cursor and trusts no position`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            let backup = directory + "/backup.db"
            try await withSQLite(path) { store in
                try await Self.step(1, of: store)
                try await Self.step(2, of: store)
                try await store.change(alice) {
                    try SessionRules.setPosition(.at(row(2).vector), of: phone, at: now, in: &$0)
                }
                try sqlite(path) { try $0.execute(sql: "VACUUM INTO ?", arguments: [backup]) }
                try await Self.step(3, of: store)
            }
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            try FileManager.default.moveItem(atPath: backup, toPath: path)
            // What docs/STATE.md tells the operator to do.
            try await withSQLite(path) { store in
                _ = try await store.commands.distrust(because: .state, of: nil, at: now)
                let lost = try await store.context(3)
                #expect(lost.row == nil)
                // The caller hands out nothing until its clock has passed this one; then 3 cannot come again.
                #expect(try await store.newestCursor()?.rawValue == 2)
                #expect(lost.session == SessionRow(generation: 1))
                let kept = try await store.context(2)
                #expect(kept.row?.generation == 0)
                #expect(!kept.isFork)
            }
        }
    }
}
