// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import GRDB
import SQLiteState
import StateStore
import SyncModel
import Testing

/// What operations cost, without a clock: which statements run, whether they use an index, whether they write.
@Suite struct SQLiteCostTests {
    @Test func `no statement reads a whole table`() async throws {
        try await withStateFile { path in
            let statements = Statements()
            let bytes = try await SQLiteBytes.open(path: path, options: statements.options)
            _ = statements.take()
            var trial = ByteStoreTrial(bytes, seed: 1)
            for _ in 0..<400 { try await trial.step() }
            await bytes.close()
            let verbs = ["SELECT", "INSERT", "UPDATE", "DELETE"]
            let sql = Set(statements.take()).filter { text in
                verbs.contains { text.hasPrefix($0) } && !text.contains("sqlite_master")
            }
            #expect(sql.count > 30)
            for text in sql.sorted() {
                let plan = try sqlite(path) { db in
                    let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + text)
                    // A parameter without a value is NULL, which plans like any other.
                    statement.setUncheckedArguments([])
                    return try Row.fetchAll(statement).map { $0["detail"] as String }
                }
                for step in plan where step.hasPrefix("SCAN") {
                    // They read in the order of an index as far as they are asked to.
                    let ordered = ["SCAN replica", "SCAN replica USING INDEX replica_rank", "SCAN cursor"]
                    #expect(
                        ordered.contains(step) && text.contains("ORDER BY") && text.contains("LIMIT"),
                        "\(text)\n\(plan)")
                }
                #expect(!plan.contains { $0.contains("AUTOMATIC") || $0.contains("TEMP B-TREE") }, "\(text)\n\(plan)")
            }
        }
    }

    /// What a pull that brings nothing does to its account.
    private static func idle(_ store: Accounts, at time: Instant) async throws {
        #expect(try await store.context(1).row?.isConfirmed == true)
        try await store.confirm(1, at: time)
        try await store.markAccepted(at: time)
        try await store.touch(at: time)
    }

    @Test func `a pull that brings nothing writes nothing`() async throws {
        try await withSQLite { store in
            try await store.begin(row(1))
            try await store.markAccepted()
            try await store.confirm(1)
            try await store.setPosition(.at(row(1).vector))
            // Changes when any other connection commits something.
            let witness = try DatabaseQueue(path: store.location)
            func version() throws -> Int? { try witness.read { try Int.fetchOne($0, sql: "PRAGMA data_version") } }
            // What a collection notes of its time it notes once.
            try await store.collect()
            let before = try version()
            for later: Int64 in [0, 1_000, 9_999] {
                try await Self.idle(store, at: now + later)
                try await store.setPosition(.at(row(1).vector), at: now + later)
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

    @Test func `what was deferred of many principals is stored in a few transactions`() async throws {
        try await withStateFile { path in
            let statements = Statements()
            func transactions() -> Int { statements.take().count { $0.hasPrefix("BEGIN IMMEDIATE") } }
            try await withSQLite(path, options: statements.options) { store in
                for value: Int64 in 1...200 {
                    let principal = Principal(rawValue: "a\(1_000 + value)")
                    try await store.begin(row(value, of: principal, replica: value))
                    try await store.touch(value, of: principal, at: now + 90_000)
                }
                _ = transactions()
                try await store.storeDeferred()
                #expect(transactions() <= 40)
                try await store.storeDeferred()
                #expect(transactions() == 0)
            }
            try await withSQLite(path) { store in
                let replicas = try await store.replicas()
                #expect(replicas.count == 200 && replicas.allSatisfy { $0.lastSeen == now + 90_000 })
            }
        }
    }

    @Test func `a pull that brings nothing asks the file nothing as long as nobody changes it`() async throws {
        let statements = Statements()
        try await withSQLite(options: statements.options) { store in
            try await store.begin(row(1), [1: 1])
            try await store.markAccepted()
            try await store.confirm(1)
            func asked(_ body: () async throws -> Void) async throws -> Int {
                _ = statements.take()
                try await body()
                return statements.take().count
            }
            func idle() async throws { try await Self.idle(store, at: now + 1) }
            try await idle()
            #expect(try await asked(idle) == 0)
            // Another process sees to it that everything is read again, once.
            try await withShared(store.location, for: .changing) { try await $0.resync() }
            #expect(try await asked { _ = try await store.context(1) } > 0)
            #expect(try await store.context(1).resyncAt == now)
            #expect(try await asked(idle) == 0)
        }
    }

    @Test(arguments: [(1, 8_200), (300, 9_500)])
    func `a pull of twenty records adds few pages to the log`(principals: Int, most: Int) async throws {
        try await withSQLite { store in
            var entries = Array(repeating: UInt8(7), count: 25 * 20)
            func ledger(_ round: Int) -> LedgerCommit {
                entries[0] = UInt8(truncatingIfNeeded: round)
                let chunk = LedgerChunk(table: "t", first: TestLedger.hash(1), entries: 20, bytes: entries)
                return .chunks([chunk], counts: ["t": LedgerCount(held: 0, entries: 20, bytes: entries.count)])
            }
            let owners = (0..<principals).map { Principal(rawValue: String(format: "%08x00000000", $0 * 7_919)) }
            for (index, owner) in owners.enumerated() {
                let number = Int64(index + 1)
                try await store.begin(row(number, of: owner, replica: number), ledger(0))
            }
            // As long as an old state is read, the log only grows.
            let witness = try DatabasePool(path: store.location).makeSnapshot()
            let before = try contents(store.location + "-wal").count
            let rounds = principals == 1 ? 32 : 10
            for round in 1...rounds {
                for (index, owner) in owners.enumerated() {
                    let (value, step) = (Int64(index + 1 + round * principals), Int64(principals))
                    let row = try row(value, of: owner, replica: Int64(index + 1), parent: value - step)
                    try await store.proceed(row, ledger(round))
                }
            }
            let bytes = (try contents(store.location + "-wal").count - before) / (rounds * principals)
            print("cost: bytes in the log for a pull of 20 records, \(principals) principals: \(bytes)")
            try witness.close()
            #expect(bytes <= most)
        }
    }
}

/// What a device costs of a login that many devices share.
@Suite struct SharedLoginCostTests {
    private static let devices = Int64(ProcessInfo.processInfo.environment["RIND_TEST_DEVICES"] ?? "") ?? 300

    /// The login of a device: all have one, or each has its own.
    private static func login(_ device: Int64, isShared: Bool) -> Principal {
        isShared ? alice : Principal(rawValue: String(format: "%08x00000000", device))
    }

    /// The bytes that a pull of one of so many devices adds to the log, and the milliseconds that it takes.
    private static func pull(devices: Int64, isShared: Bool) async throws -> (bytes: Int, time: Double) {
        var result = (bytes: 0, time: 0.0)
        try await withSQLite { store in
            // As long as an old state is read, the log only grows.
            let witness = try DatabasePool(path: store.location).makeSnapshot()
            for device in 1...devices {
                let login = login(device, isShared: isShared)
                try await store.begin(row(device, of: login, replica: device))
                try await store.confirm(device, of: login)
            }
            let (before, begin) = (try contents(store.location + "-wal").count, ContinuousClock.now)
            let rounds: Int64 = 40
            for round in 1...rounds {
                let parent = round == 1 ? 1 : devices + round - 1
                let login = login(1, isShared: isShared)
                try await store.proceed(row(devices + round, of: login, parent: parent))
            }
            result.time = (ContinuousClock.now - begin) / .milliseconds(rounds)
            result.bytes = (try contents(store.location + "-wal").count - before) / Int(rounds)
            try witness.close()
        }
        return result
    }

    @Test func `a pull of one device adds as little to the log if hundreds share its login`() async throws {
        let devices = Self.devices
        let alone = try await Self.pull(devices: devices, isShared: false)
        let shared = try await Self.pull(devices: devices, isShared: true)
        print("cost: a pull of one of \(devices) devices, each alone and all with one login: \(alone), \(shared)")
        #expect(Double(shared.bytes) <= 1.1 * Double(alone.bytes))
    }

    @Test(arguments: [false, true])
    func `first pulls of many devices at once all come through, also if they share a login`(
        isShared: Bool
    ) async throws {
        let statements = Statements()
        var options = statements.options
        options.limits.startingReplicas = Int(Self.devices)
        try await withSQLite(options: options) { store in
            for step in ["first pulls", "confirmations"] {
                _ = statements.take()
                try await withThrowingTaskGroup { group in
                    for value in 1...Self.devices {
                        group.addTask {
                            let login = Self.login(value, isShared: isShared)
                            if step == "first pulls" {
                                try await store.begin(row(value, of: login, replica: value))
                            } else {
                                try await store.confirm(value, of: login)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                let count = statements.take().count { $0.hasPrefix("BEGIN IMMEDIATE") }
                print("cost: transactions of \(Self.devices) \(step) at once, one login \(isShared): \(count)")
            }
            #expect(try await store.store.rows(.row(MetaKey.replicas.row)).first?.number == Self.devices)
        }
    }

    @Test(arguments: [false, true])
    func `pulls of many devices at once are committed together, also if they share a login`(
        isShared: Bool
    ) async throws {
        let statements = Statements()
        try await withSQLite(options: statements.options) { store in
            func transactions() -> Int { statements.take().count { $0.hasPrefix("BEGIN IMMEDIATE") } }
            for value in 1...Self.devices {
                let login = Self.login(value, isShared: isShared)
                try await store.begin(row(value, of: login, replica: value))
                try await store.confirm(value, of: login)
            }
            _ = transactions()
            try await withThrowingTaskGroup { group in
                for value in 1...Self.devices {
                    group.addTask {
                        let login = Self.login(value, isShared: isShared)
                        try await store.proceed(
                            row(Self.devices + value, of: login, replica: value, parent: value))
                    }
                }
                try await group.waitForAll()
            }
            let count = transactions()
            print("cost: transactions of \(Self.devices) pulls at once, one login \(isShared): \(count)")
            #expect(count <= Self.devices / 5)
        }
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
        try await store.begin(row(100), .staged(layer, counts: [:]))
        for value: Int64 in 101...110 { try await store.proceed(row(value, parent: value - 1), [1: 1]) }
        try await store.confirm(110)
    }

    /// The statements of a pull that looks ten records up and commits as many.
    private static func pull(_ records: Int) async throws -> [String] {
        let statements = Statements()
        var found: [String] = []
        try await withSQLite(options: statements.options) { store in
            try await fill(store, records: records)
            _ = statements.take()
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
            found = statements.take()
        }
        // A reader ends its transaction once its rows are handed over: that may be noted among the next statements.
        return found.filter { $0 != "COMMIT TRANSACTION" }
    }

    @Test func `with a million records a small pull runs the same statements as with sixty thousand`() async throws {
        let (few, many) = (try await Self.pull(60_000), try await Self.pull(1_000_000))
        #expect(few == many)
        #expect(many.count < 120)
    }
}
