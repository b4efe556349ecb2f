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
    /// Two principals with a replica each and a few cursors.
    private static func fill(_ store: AccountStore) async throws {
        for (principal, replica) in [(Principal(rawValue: "p7"), Int64(7)), (bob, 8)] {
            try await store.begin(row(9_905, of: principal, replica: replica))
            try await store.proceed(row(9_906, of: principal, replica: replica, parent: 9_905))
        }
    }

    /// Every operation of the protocol once or more.
    private static func exercise(_ store: AccountStore) async throws {
        let someone = Principal(rawValue: "p7")
        _ = try await store.context(9_906, of: someone)
        _ = try await store.context(4_207, of: someone)
        try await store.confirm(principal: someone, cursor: cursor(9_906), at: now)
        try await store.setPosition(.at(CheckpointVector(["x": "y"])), principal: someone, session: phone, at: now)
        try await store.setPosition(.unknown, principal: someone, session: phone, at: now)
        _ = try await store.raiseGeneration(principal: someone, session: phone, at: now)
        try await store.markAccepted(principal: someone, session: phone, at: now)
        try await store.saveReceipt(
            Receipt(status: 200, contentType: "a/b", body: []), principal: someone, digest: "d", at: now,
            expiresAt: now + 1)
        _ = try await store.receipt(principal: someone, digest: "d", at: now)
        try await store.dropReceipts(principal: someone)
        let line = QuarantinedLine(reason: .noID, bytes: [1])
        for index: Int64 in 0..<12 {
            try await store.commit(
                PullCommit(
                    row: row(20_000 + index, of: someone, replica: 1_000 + index, generation: 1), replica: .new,
                    quarantined: [line], now: now))
        }
        try await store.proceed(row(20_100, of: someone, replica: 7, parent: 9_906, generation: 1))
        try await store.touch(replica: ReplicaID(rawValue: 8), result: "x", at: now)
        try await exerciseLedger(store, someone)
        try await exerciseQuarantine(store, someone)
        try await exerciseJournal(store, someone)
        _ = try await store.quarantined(limit: 10)
        _ = try await store.quarantineCounts()
        _ = try await store.replicas(of: someone, after: nil, limit: 10)
        _ = try await store.replicas(of: nil, after: ReplicaID(rawValue: 5), limit: 10)
        _ = try await store.newestCursor()
        _ = try await store.collect(Retention(now: now, seenBefore: now, supersededBefore: 9_906))
    }

    /// Every operation on what is quarantined once or more.
    private static func exerciseQuarantine(_ store: AccountStore, _ someone: Principal) async throws {
        let push = QuarantinedOperation(
            key: PushedRecordKey(table: "t", id: "1"), kind: .create, body: [0x7B, 0x7D],
            reason: QuarantinedOperation.Reason(code: "push.rejected"))
        let ids = try await store.quarantine([push], of: someone, limit: 9, at: now)
        _ = try await store.quarantinedKinds(of: someone)
        for principal in [nil, someone] {
            _ = try await store.scheduleRetries(nil, of: principal, at: now)
            _ = try await store.quarantinedPushes(of: principal, after: 0, limit: 9)
            _ = try await store.quarantinedLines(of: principal, after: 0, limit: 9)
        }
        _ = try await store.scheduleRetries(ids, of: nil, at: now)
        _ = try await store.scheduledRetries(of: someone, limit: 9)
        try await store.quarantineAgain(ids[0], reason: push.reason, at: now)
        _ = try await store.quarantinedPush(ids[0])
        _ = try await store.quarantinedLine(1)
        _ = try await store.dropPushes(ids)
        _ = try await store.dropLines([99])
        try await store.removeQuarantined([push.key], of: someone)
    }

    private static func exerciseJournal(_ store: AccountStore, _ someone: Principal) async throws {
        func begin() async throws -> Int64 {
            let id = try await store.beginPush(
                JournalOpening(presented: nil, operations: 2, notes: []), principal: someone, at: now)
            var step = JournalStep()
            step.inFlight = [0, 1].map {
                InFlightOperation(
                    index: $0, kind: .create, record: PushedRecordKey(table: "t", id: "\($0)"), makesID: true)
            }
            try await store.advance(step, of: id, at: now)
            return id
        }
        var step = JournalStep()
        step.applied = [0]
        step.mappings = [IDMapping(table: "t", clientID: "0", backendID: "7")]
        let failure = PushJournal.Failure(code: "push.unknown_outcome")
        let failed = try await begin()
        try await store.endPush(JournalEnd(step: step, failure: failure), of: failed, at: now)
        let open = try await begin()
        try await store.endPush(JournalEnd(step: JournalStep(), failure: failure, unknown: [1]), of: open, at: now)
        _ = try await store.openJournals(of: someone)
        _ = try await store.context(of: someone)
        _ = try await store.mappedIDs(["7"], in: "t", of: someone)
        try await store.closeJournal(open, with: JournalClosure(), at: now)
        try await store.endPush(JournalEnd(step: JournalStep()), of: try await begin(), at: now)
        _ = try await store.journal(open)
        for principal in [nil, someone] { _ = try await store.journals(of: principal, after: 0, limit: 9) }
    }

    /// Every operation of the ledger once or more.
    private static func exerciseLedger(_ store: AccountStore, _ someone: Principal) async throws {
        func pull(_ value: Int64, parent: Int64?, _ ledger: LedgerCommit) throws -> PullCommit {
            PullCommit(
                row: try row(value, of: someone, replica: 5_000, parent: parent, generation: 1),
                replica: parent == nil ? .new : .existing, now: now, ledger: ledger)
        }
        let layer = try await store.stageLayer(at: now)
        try await store.stage(TestLedger.chunks([1: 1, 2: 1]), in: layer)
        var first = try pull(20_200, parent: nil, .staged(layer, counts: TestLedger.count([1: 1, 2: 1])))
        first.row.comparisons = ["A": FullComparison(doneAt: now, mapping: "m")]
        try await store.commit(first)
        for value: Int64 in [20_201, 20_202, 20_203] {
            try await store.confirm(principal: someone, cursor: cursor(value - 1), at: now)
            try await store.commit(pull(value, parent: value - 1, TestLedger.commit([2: 2])))
        }
        try await store.commit(pull(20_204, parent: 20_202, TestLedger.commit([2: 2])))
        try await store.confirm(principal: someone, cursor: cursor(20_203), at: now)
        let outline = try #require(try await store.context(20_203, of: someone).ledger)
        _ = try await store.ledgerChunk(layer: layer, table: TestLedger.table, holding: TestLedger.hash(2))
        _ = try await store.ledgerChunks(of: outline.layers, limit: 9)
        _ = try await store.ledgers(of: someone)
        _ = try await store.ledger(of: outline.replica)
        _ = try await store.compact(outline, [20_203, 20_202, 20_201], finished: 20_203)
        try await store.note([PushNote(table: "t", id: "1", state: .held)], principal: someone, at: 1)
        _ = try await store.hasMorePushNotes(than: 9, of: someone, after: 0)
        _ = try await store.pushNote(of: someone, table: "t", id: "1")
        _ = try await store.pushNotes(of: someone, after: 0, limit: 100)
        try await store.acceptDeletions(replica: outline.replica, at: now)
        try await store.resync(replica: outline.replica, at: now)
        var retention = Retention(now: now, seenBefore: 0, undoBefore: 20_202)
        retention.stagedBefore = now + 1
        _ = try await store.collect(retention)
        _ = try await store.forget(replica: outline.replica)
    }

    @Test func `no statement reads a whole table`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            let statements = NIOLockedValueBox<Set<String>>([])
            let options = SQLiteStateStore.Options.with {
                $0.trace = { sql in statements.withLockedValue { _ = $0.insert(sql) } }
            }
            try await withSQLite(path, options: options) { store in
                statements.withLockedValue { $0 = [] }
                try await Self.fill(store)
                try await Self.exercise(store)
            }
            let verbs = ["SELECT", "INSERT", "UPDATE", "DELETE"]
            let sql = statements.withLockedValue { $0 }
                .filter { text in verbs.contains { text.hasPrefix($0) } && !text.contains("sqlite_master") }
                .sorted()
            #expect(sql.count > 40)
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
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { store in
                try await store.begin(row(1), at: now)
                try await store.markAccepted(principal: alice, session: phone, at: now)
                try await store.confirm(principal: alice, cursor: cursor(1), at: now)
                try await store.setPosition(.at(row(1).vector), principal: alice, session: phone, at: now)
                // Changes when any other connection commits something.
                let witness = try DatabaseQueue(path: path)
                func version() throws -> Int? {
                    try witness.read { try Int.fetchOne($0, sql: "PRAGMA data_version") }
                }
                // What a collection notes of its time it notes once.
                _ = try await store.collect(Retention(now: now, seenBefore: 0))
                let before = try version()
                for later: Int64 in [0, 1_000, 9_999] {
                    _ = try await store.context(1)
                    try await store.confirm(principal: alice, cursor: cursor(1), at: now + later)
                    try await store.markAccepted(principal: alice, session: phone, at: now + later)
                    try await store.setPosition(.at(row(1).vector), principal: alice, session: phone, at: now + later)
                    try await store.touch(replica: ReplicaID(rawValue: 1), result: "pull", at: now + later)
                    try await store.dropReceipts(principal: alice)
                    try await store.check(thoroughly: false)
                    _ = try await store.collect(Retention(now: now, seenBefore: 0))
                }
                #expect(try version() == before)
                try await store.confirm(principal: alice, cursor: cursor(1), at: now + 60_000)
                #expect(try version() == before)
                try await store.storeDeferred()
                #expect(try version() != before)
                try witness.close()
            }
        }
    }

    @Test func `a pull that brings nothing asks the file nothing as long as nobody changes it`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            let statements = NIOLockedValueBox(0)
            let options = SQLiteStateStore.Options.with {
                $0.trace = { _ in statements.withLockedValue { $0 += 1 } }
            }
            try await withSQLite(path, options: options) { store in
                try await store.begin(row(1), [1: 1])
                try await store.markAccepted(principal: alice, session: phone, at: now)
                try await store.confirm(principal: alice, cursor: cursor(1), at: now)
                func asked(_ body: () async throws -> Void) async throws -> Int {
                    statements.withLockedValue { $0 = 0 }
                    try await body()
                    return statements.withLockedValue { $0 }
                }
                func idle() async throws {
                    #expect(try await store.context(1).row?.isConfirmed == true)
                    try await store.confirm(principal: alice, cursor: cursor(1), at: now + 1)
                    try await store.markAccepted(principal: alice, session: phone, at: now + 1)
                    try await store.touch(replica: ReplicaID(rawValue: 1), result: "pull", at: now + 1)
                }
                try await idle()
                #expect(try await asked(idle) == 0)
                // Another process sees to it that everything is read again, once.
                let other = try await SQLiteStateStore.openShared(path: path, for: .changing)
                try await other.resync(replica: ReplicaID(rawValue: 1), at: now)
                await other.close()
                #expect(try await asked { _ = try await store.context(1) } > 0)
                #expect(try await store.context(1).resyncAt == now)
                #expect(try await asked(idle) == 0)
            }
        }
    }

    @Test(arguments: [(1, 8_200), (300, 9_500)])
    func `a pull of twenty records adds few pages to the log`(principals: Int, most: Int) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
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
    private static func fill(_ store: AccountStore, records: Int) async throws -> LayerID {
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
        try await store.commit(
            PullCommit(row: row(100), replica: .new, now: now, ledger: .staged(layer, counts: [:])))
        for value: Int64 in 101...110 { try await store.proceed(row(value, parent: value - 1), [1: 1]) }
        try await store.confirm(principal: alice, cursor: cursor(110), at: now)
        return layer
    }

    /// The statements of a pull that looks ten records up and commits as many.
    private static func pull(_ records: Int, _ path: String) async throws -> [String] {
        let statements = NIOLockedValueBox<[String]>([])
        let options = SQLiteStateStore.Options.with {
            $0.trace = { sql in statements.withLockedValue { $0.append(sql) } }
        }
        return try await withSQLite(path, options: options) { store in
            let layer = try await fill(store, records: records)
            statements.withLockedValue { $0 = [] }
            let outline = try await store.outline(110)
            #expect(outline.deltaChunks == 10)
            #expect(try await store.ledgerChunks(of: outline.layers, limit: 9).large == [layer])
            for index in 0..<10 {
                let id = IDHash(low: 9, high: UInt64(records / 10 * index))
                let found = try #require(try await store.ledgerChunk(layer: layer, table: "assets", holding: id))
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
