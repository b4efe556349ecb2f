// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GRDBSQLite
import NIOConcurrencyHelpers
import SQLiteState
import StateStore
import SyncModel
import Testing

/// What operations cost, without a clock: which statements run, whether they use an index, whether they write.
@Suite struct SQLiteCostTests {
    /// A state with 10,000 cursors of 100 principals, made by plain SQL.
    private static func large(_ path: String) async throws {
        try await withSQLite(path) { _ in }
        try sqlite(path) { db in
            try db.execute(
                sql: """
                    BEGIN;
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
                    INSERT INTO principal (id, digest, newest, last_seen) SELECT i, printf('p%d', i), 10000, 0 FROM n;
                    INSERT INTO session SELECT id, id, 'f0', 0, NULL, NULL, 0 FROM principal;
                    INSERT INTO replica (id, principal, confirmed, first_seen, last_seen, tip)
                        SELECT id, id, 1, 0, 0, 9900 + CASE id WHEN 1 THEN 100 ELSE id - 1 END FROM principal;
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
                    INSERT INTO vector SELECT i, CAST(i AS BLOB), CAST('1:a,' || length(i) || ':' || i || ',' AS BLOB)
                        FROM n;
                    INSERT INTO cursor (principal, cursor, replica, parent, vector, schema_version, session, generation,
                        confirmed, mapping) SELECT 1 + id % 100, id, 1 + id % 100, CASE WHEN id > 100 THEN id - 100 END, id,
                        NULL, 1 + id % 100, 0, 1, 'm1' FROM vector;
                    COMMIT;
                    """)
        }
    }

    /// Every operation of the protocol once or more.
    private static func exercise(_ store: SQLiteStateStore) async throws {
        let someone = Principal(rawValue: "p7")
        _ = try await store.context(4_206, of: someone)
        _ = try await store.context(4_207, of: someone)
        try await store.confirm(principal: someone, cursor: cursor(4_206), at: now)
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
        let collected = try await store.collect(Retention(now: now, seenBefore: now, supersededBefore: 5_000))
        #expect(collected.cursors == 4_999)
        // One in twenty of those that are there.
        #expect(collected.replicas == 5)
        #expect(collected.principals == 5)
    }

    /// Every operation on what is quarantined once or more.
    private static func exerciseQuarantine(_ store: SQLiteStateStore, _ someone: Principal) async throws {
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

    private static func exerciseJournal(_ store: SQLiteStateStore, _ someone: Principal) async throws {
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
    private static func exerciseLedger(_ store: SQLiteStateStore, _ someone: Principal) async throws {
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

    @Test func `with ten thousand cursors no statement reads a whole table`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await Self.large(path)
            let statements = NIOLockedValueBox<Set<String>>([])
            let options = SQLiteStateStore.Options.with {
                $0.trace = { sql in statements.withLockedValue { _ = $0.insert(sql) } }
            }
            try await withSQLite(path, options: options) { store in
                statements.withLockedValue { $0 = [] }
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
                // The steps of a ledger, at most as many as there are deltas.
                for step in plan where step.hasPrefix("SCAN") && step != "SCAN chain" {
                    // Both read an index of at most quarantineEntries rows, for the operator or in its order. Replicas
                    // are counted once an hour, where some are to be forgotten.
                    #expect(
                        step.hasPrefix("SCAN quarantine USING") || step.hasPrefix("SCAN replica USING COVERING INDEX"),
                        "\(text)\n\(plan)")
                }
                #expect(!plan.contains { $0.contains("AUTOMATIC") }, "\(text)\n\(plan)")
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
                #expect(try version() != before)
                try witness.close()
            }
        }
    }

    @Test func `a vector is stored once however many cursors have it and goes with the last`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { store in
                func vectors() throws -> Int? {
                    try sqlite(path) { try Int.fetchOne($0, sql: "SELECT count(*) FROM vector") }
                }
                for value: Int64 in 1...5 { try await store.begin(row(value, replica: value)) }
                #expect(try vectors() == 1)
                try await store.setPosition(
                    .at(CheckpointVector(["q": "q"])), principal: alice, session: phone, at: now)
                #expect(try vectors() == 2)
                _ = try await store.raiseGeneration(principal: alice, session: phone, at: now)
                #expect(try vectors() == 1)
                // One replica an hour.
                for hour: Int64 in 0..<5 {
                    _ = try await store.collect(Retention(now: now + 1 + hour * 3_600_000, seenBefore: now + 1))
                }
                #expect(try vectors() == 0)
            }
        }
    }
}

/// What reading a ledger costs, however large it is.
@Suite struct LedgerCostTests {
    /// A replica whose base has this many records, 25 bytes each.
    private static func fill(_ store: SQLiteStateStore, records: Int) async throws -> LayerID {
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

    @Test func `with a million records a small pull runs the same statements as with twenty thousand`() async throws {
        try await withTemporaryDirectory { directory in
            let few = try await Self.pull(20_000, directory + "/few.db")
            let many = try await Self.pull(1_000_000, directory + "/many.db")
            // A reader ends its transaction once its rows are handed over: that may be noted among the next statements.
            #expect(few.filter { $0 != "COMMIT TRANSACTION" } == many.filter { $0 != "COMMIT TRANSACTION" })
            #expect(many.count < 120)
            // And each of them goes straight to its rows.
            try sqlite(directory + "/many.db") { db in
                let reads = Set(many).filter { $0.hasPrefix("SELECT") && $0.contains(" chunk ") }
                #expect(reads.count == 2)
                for sql in reads {
                    let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
                    statement.setUncheckedArguments([])
                    let plan = try Row.fetchAll(statement).map { $0["detail"] as String }
                    #expect(plan.allSatisfy { $0.hasPrefix("SEARCH") }, "\(sql)\n\(plan)")
                    // The base is too large to be read as a whole: that is seen without its 1,491 chunks.
                    guard sql.contains("JOIN") else { continue }
                    let read = try db.makeStatement(sql: sql)
                    let base = try Int64.fetchOne(db, sql: "SELECT id FROM layer ORDER BY chunks DESC LIMIT 1")
                    #expect(try Row.fetchAll(read, arguments: [base, 9]).count == 1)
                    let steps = sqlite3_stmt_status(read.sqliteStatement, SQLITE_STMTSTATUS_VM_STEP, 0)
                    #expect((1..<100).contains(steps))
                }
            }
        }
    }

    @Test(arguments: [(1 << 10, 4), (32 << 10, 4), (32 << 10 + 1, 8)])
    func `layers of more than 128 KiB are read once more, on a queue`(bytes: Int, statements expected: Int) async throws
    {
        try await withTemporaryDirectory { directory in
            let reads = NIOLockedValueBox(0)
            let options = SQLiteStateStore.Options.with {
                $0.trace = { sql in if sql.contains("JOIN chunk") { reads.withLockedValue { $0 += 1 } } }
            }
            try await withSQLite(directory + "/state.db", options: options) { store in
                var layers: [LayerID] = []
                for number: Int64 in 1...4 {
                    let chunk = LedgerChunk(
                        table: "assets", first: .first, entries: 1, bytes: Array(repeating: 7, count: bytes))
                    try await store.commit(
                        PullCommit(
                            row: row(number * 100, replica: number), replica: .new, now: now,
                            ledger: .chunks([chunk], counts: [:])))
                    layers.append(try #require(try await store.outline(number * 100).base))
                }
                reads.withLockedValue { $0 = 0 }
                #expect(try await store.ledgerChunks(of: layers, limit: 1).chunks.count == 4)
                #expect(reads.withLockedValue(\.self) == expected)
            }
        }
    }

    @Test func `a record of 25 bytes takes at most 26 in the file`() async throws {
        try await withTemporaryDirectory { directory in
            let records = 200_000
            let path = directory + "/state.db"
            try await withSQLite(path) { _ in }
            let empty = try contents(path).count
            _ = try await withSQLite(path) { try await Self.fill($0, records: records) }
            let bytes = Double(try contents(path).count - empty) / Double(records)
            #expect((25..<26).contains(bytes), "\(bytes)")
        }
    }
}
