// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import NIOConcurrencyHelpers
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
                    INSERT INTO principal SELECT i, printf('p%d', i), 10000, 0 FROM n;
                    INSERT INTO session SELECT id, id, 'f0', 0, NULL, NULL, 0 FROM principal;
                    INSERT INTO replica SELECT id, id, 1, 0, 0, '' FROM principal;
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
                    INSERT INTO vector SELECT i, CAST(i AS BLOB), CAST('1:a,' || length(i) || ':' || i || ',' AS BLOB)
                        FROM n;
                    INSERT INTO cursor SELECT 1 + id % 100, id, 1 + id % 100, CASE WHEN id > 100 THEN id - 100 END, id,
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
        try await store.proceed(row(20_100, of: someone, replica: 7, generation: 1))
        try await store.touch(replica: ReplicaID(rawValue: 8), result: "x", at: now)
        _ = try await store.quarantined(limit: 10)
        _ = try await store.quarantineCounts()
        _ = try await store.replicas(of: someone, after: nil, limit: 10)
        _ = try await store.replicas(of: nil, after: ReplicaID(rawValue: 5), limit: 10)
        _ = try await store.newestCursor()
        let collected = try await store.collect(Retention(now: now, seenBefore: now, supersededBefore: 5_000))
        #expect(collected.cursors == 4_999)
        #expect(collected.replicas == 98)
        #expect(collected.principals == 98)
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
                for step in plan where step.hasPrefix("SCAN") {
                    // Both read an index of at most quarantineEntries rows, for the operator or in its order.
                    #expect(step.hasPrefix("SCAN quarantine USING"), "\(text)\n\(plan)")
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
                let before = try version()
                for later: Int64 in [0, 1_000, 9_999] {
                    _ = try await store.context(1)
                    try await store.confirm(principal: alice, cursor: cursor(1), at: now + later)
                    try await store.markAccepted(principal: alice, session: phone, at: now + later)
                    try await store.setPosition(.at(row(1).vector), principal: alice, session: phone, at: now + later)
                    try await store.touch(replica: ReplicaID(rawValue: 1), result: "idle", at: now + later)
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
                _ = try await store.collect(Retention(now: now + 1, seenBefore: now + 1))
                #expect(try vectors() == 0)
            }
        }
    }
}
