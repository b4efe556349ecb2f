// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import GRDB
import NIOConcurrencyHelpers
import SQLiteState
import StateStore
import SyncModel
import Testing

/// What operations cost, without a clock: which statements run, whether they use an index, whether they write.
@Suite struct SQLiteCostTests {
    @Test func `no statement reads a whole table`() async throws {
        try await withStateFile { path in
            let statements = NIOLockedValueBox<Set<String>>([])
            let options = SQLiteStateStore.Options.with {
                $0.trace = { sql in statements.withLockedValue { _ = $0.insert(sql) } }
            }
            let bytes = try await SQLiteBytes.open(path: path, options: options)
            statements.withLockedValue { $0 = [] }
            var trial = ByteStoreTrial(bytes, seed: 1)
            for _ in 0..<400 { try await trial.step() }
            await bytes.close()
            let verbs = ["SELECT", "INSERT", "UPDATE", "DELETE"]
            let sql = statements.withLockedValue { $0 }.filter { text in
                verbs.contains { text.hasPrefix($0) } && !text.contains("sqlite_master")
            }.sorted()
            #expect(sql.count > 30)
            for text in sql {
                let plan = try sqlite(path) { db in
                    let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + text)
                    // A parameter without a value is NULL, which plans like any other.
                    statement.setUncheckedArguments([])
                    return try Row.fetchAll(statement).map { $0["detail"] as String }
                }
                for step in plan where step.hasPrefix("SCAN") {
                    // They read in the order of an index as far as they are asked to.
                    let isOrdered = ["SCAN replica", "SCAN replica USING INDEX replica_seen", "SCAN cursor"].contains(
                        step)
                    #expect(isOrdered && text.contains("ORDER BY") && text.contains("LIMIT"), "\(text)\n\(plan)")
                }
                #expect(!plan.contains { $0.contains("AUTOMATIC") || $0.contains("TEMP B-TREE") }, "\(text)\n\(plan)")
            }
        }
    }

    @Test func `a pull that brings nothing writes nothing`() async throws {
        try await withStateFile { path in
            try await withSQLite(path) { store in
                try await store.begin(row(1), at: now)
                try await store.markAccepted()
                try await store.confirm(1)
                try await store.setPosition(.at(row(1).vector))
                // Changes when any other connection commits something.
                let witness = try DatabaseQueue(path: path)
                func version() throws -> Int? { try witness.read { try Int.fetchOne($0, sql: "PRAGMA data_version") } }
                // What a collection notes of its time it notes once.
                try await store.collect()
                let before = try version()
                for later: Int64 in [0, 1_000, 9_999] {
                    _ = try await store.context(1)
                    try await store.confirm(1, at: now + later)
                    try await store.markAccepted(at: now + later)
                    try await store.setPosition(.at(row(1).vector), at: now + later)
                    try await store.touch(at: now + later)
                    try await store.dropReceipts()
                    try await store.check(thoroughly: false)
                    try await store.collect()
                }
                #expect(try version() == before)
                try await store.confirm(1, at: now + 60_000)
                #expect(try version() == before)
                try await store.storeDeferred()
                #expect(try version() != before)
                try witness.close()
            }
        }
    }

    @Test func `what was deferred of many principals is stored in a few transactions`() async throws {
        try await withStateFile { path in
            let begun = NIOLockedValueBox(0)
            let options = SQLiteStateStore.Options.with {
                $0.trace = { sql in if sql.hasPrefix("BEGIN IMMEDIATE") { begun.withLockedValue { $0 += 1 } } }
            }
            let principals = (0..<200).map { Principal(rawValue: "a\(1_000 + $0)") }
            try await withSQLite(path, options: options) { store in
                for (index, principal) in principals.enumerated() {
                    let value = Int64(index + 1)
                    try await store.begin(row(value, of: principal, replica: value))
                    try await store.change(principal) {
                        try ReplicaRules.touch(ReplicaID(rawValue: value), result: "pull", at: now + 90_000, in: &$0)
                    }
                }
                begun.withLockedValue { $0 = 0 }
                try await store.storeDeferred()
                #expect(begun.withLockedValue { $0 } <= 40)
                begun.withLockedValue { $0 = 0 }
                try await store.storeDeferred()
                #expect(begun.withLockedValue { $0 } == 0)
            }
            try await withSQLite(path) { store in
                let replicas = try await store.replicas()
                #expect(replicas.count == 200 && replicas.allSatisfy { $0.lastSeen == now + 90_000 })
            }
        }
    }

    @Test func `a pull that brings nothing asks the file nothing as long as nobody changes it`() async throws {
        try await withStateFile { path in
            let statements = NIOLockedValueBox(0)
            let options = SQLiteStateStore.Options.with { $0.trace = { _ in statements.withLockedValue { $0 += 1 } } }
            try await withSQLite(path, options: options) { store in
                try await store.begin(row(1), [1: 1])
                try await store.markAccepted()
                try await store.confirm(1)
                func asked(_ body: () async throws -> Void) async throws -> Int {
                    statements.withLockedValue { $0 = 0 }
                    try await body()
                    return statements.withLockedValue { $0 }
                }
                func idle() async throws {
                    #expect(try await store.context(1).row?.isConfirmed == true)
                    try await store.confirm(1, at: now + 1)
                    try await store.markAccepted(at: now + 1)
                    try await store.touch(at: now + 1)
                }
                try await idle()
                #expect(try await asked(idle) == 0)
                // Another process sees to it that everything is read again, once.
                let other = try await SQLiteStateStore.openShared(path: path, for: .changing)
                try await other.resync()
                await other.close()
                #expect(try await asked { _ = try await store.context(1) } > 0)
                #expect(try await store.context(1).resyncAt == now)
                #expect(try await asked(idle) == 0)
            }
        }
    }

    @Test(arguments: [(1, 8_200), (300, 9_500)])
    func `a pull of twenty records adds few pages to the log`(principals: Int, most: Int) async throws {
        try await withStateFile { path in
            try await withSQLite(path) { store in
                var entries = Array(repeating: UInt8(7), count: 25 * 20)
                func ledger(_ round: Int) -> LedgerCommit {
                    entries[0] = UInt8(truncatingIfNeeded: round)
                    let chunk = LedgerChunk(table: "t", first: TestLedger.hash(1), entries: 20, bytes: entries)
                    return .chunks([chunk], counts: ["t": LedgerCount(held: 0, entries: 20, bytes: entries.count)])
                }
                let owners = (0..<principals).map { Principal(rawValue: String(format: "%08x00000000", $0 * 7_919)) }
                for (index, owner) in owners.enumerated() {
                    try await store.commit(
                        PullCommit(
                            row: row(Int64(index + 1), of: owner, replica: Int64(index + 1)), replica: .new, now: now,
                            ledger: ledger(0)))
                }
                // As long as an old state is read, the log only grows.
                let witness = try DatabasePool(path: path).makeSnapshot()
                let before = try Self.logBytes(path)
                let rounds = principals == 1 ? 32 : 10
                for round in 1...rounds {
                    for (index, owner) in owners.enumerated() {
                        let (value, step) = (Int64(index + 1 + round * principals), Int64(principals))
                        try await store.proceed(
                            row(value, of: owner, replica: Int64(index + 1), parent: value - step), ledger(round))
                    }
                }
                let bytes = (try Self.logBytes(path) - before) / (rounds * principals)
                print("cost: bytes in the log for a pull of 20 records, \(principals) principals: \(bytes)")
                try witness.close()
                #expect(bytes <= most)
            }
        }
    }

    private static func logBytes(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? 0
    }
}

/// What reading a ledger costs, however large it is.
@Suite struct LedgerCostTests {
    /// A replica whose base has this many records, 25 bytes each.
    private static func fill(_ store: Accounts, records: Int) async throws {
        let perChunk = 671
        let layer = try await store.stageLayer(at: now)
        for begin in stride(from: 0, to: records, by: perChunk * 64) {
            let firsts = stride(from: begin, to: min(begin + perChunk * 64, records), by: perChunk)
            try await store.stage(
                firsts.map { first in
                    LedgerChunk(
                        table: "assets", first: IDHash(low: 0, high: UInt64(first)), entries: perChunk,
                        bytes: Array(repeating: 7, count: 4 + min(perChunk, records - first) * 25))
                }, in: layer)
        }
        try await store.commit(PullCommit(row: row(100), replica: .new, now: now, ledger: .staged(layer, counts: [:])))
        for value: Int64 in 101...110 { try await store.proceed(row(value, parent: value - 1), [1: 1]) }
        try await store.confirm(110)
    }

    /// The statements of a pull that looks ten records up and commits as many.
    private static func pull(_ records: Int, _ path: String) async throws -> [String] {
        let statements = NIOLockedValueBox<[String]>([])
        let options = SQLiteStateStore.Options.with {
            $0.trace = { sql in statements.withLockedValue { $0.append(sql) } }
        }
        return try await withSQLite(path, options: options) { store in
            try await fill(store, records: records)
            statements.withLockedValue { $0 = [] }
            let outline = try await store.outline(110)
            let base = try #require(outline.base)
            #expect(outline.deltaChunks == 10)
            var preloaded = PreloadedChunks()
            try await store.chunkReader.load(outline.deltas[...], into: &preloaded)
            for index in 0..<10 {
                let id = IDHash(low: 9, high: UInt64(records / 10 * index))
                let found = try #require(try await store.chunkReader.chunk(holding: id, in: "assets", of: base))
                #expect(found.chunk.first <= id)
                #expect(found.chunk.bytes.count <= 4 + 671 * 25)
            }
            try await store.proceed(row(111, parent: 110), [1: 2])
            return statements.withLockedValue { $0 }
        }
    }

    @Test func `with a million records a small pull runs the same statements as with sixty thousand`() async throws {
        try await withTemporaryDirectory { directory in
            let few = try await Self.pull(60_000, directory + "/few.db")
            let many = try await Self.pull(1_000_000, directory + "/many.db")
            // A reader ends its transaction once its rows are handed over: that may be noted among the next statements.
            #expect(few.filter { $0 != "COMMIT TRANSACTION" } == many.filter { $0 != "COMMIT TRANSACTION" })
            #expect(many.count < 120)
        }
    }
}
