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
    private static func fill(_ store: Accounts) async throws {
        for (principal, replica) in [(Principal(rawValue: "p7"), Int64(7)), (bob, 8)] {
            try await store.begin(row(9_905, of: principal, replica: replica))
            try await store.proceed(row(9_906, of: principal, replica: replica, parent: 9_905))
        }
    }

    /// Every operation of the protocol once or more.
    private static func exercise(_ store: Accounts) async throws {
        let someone = Principal(rawValue: "p7")
        _ = try await store.context(9_906, of: someone)
        _ = try await store.context(4_207, of: someone)
        try await store.change(someone) { try ReplicaRules.confirm(cursor(9_906), at: now, in: &$0) }
        try await store.change(someone) {
            try SessionRules.setPosition(.at(CheckpointVector(["x": "y"])), of: phone, at: now, in: &$0)
        }
        try await store.change(someone) { try SessionRules.setPosition(.unknown, of: phone, at: now, in: &$0) }
        _ = try await store.change(someone) { try SessionRules.raiseGeneration(of: phone, at: now, in: &$0) }
        try await store.change(someone) { try SessionRules.markAccepted(phone, at: now, in: &$0) }
        try await store.change(someone) {
            try ReceiptRules.save(
                .init(receipt: Receipt(status: 200, contentType: "a/b", body: []), digest: "d", expiresAt: now + 1),
                at: now, in: &$0)
        }
        _ = try await store.read(someone) { try ReceiptRules.receipt("d", at: now, of: &$0) }
        try await store.change(someone) { try ReceiptRules.drop(in: &$0) }
        let line = QuarantinedLine(reason: .noID, bytes: [1])
        for index: Int64 in 0..<12 {
            try await store.commit(
                PullCommit(
                    row: row(20_000 + index, of: someone, replica: 1_000 + index, generation: 1), replica: .new,
                    quarantined: [line], now: now))
        }
        try await store.proceed(row(20_100, of: someone, replica: 7, parent: 9_906, generation: 1))
        try await store.change(someone) {
            try ReplicaRules.touch(ReplicaID(rawValue: 8), result: "x", at: now, in: &$0)
        }
        try await exerciseLedger(store, someone)
        try await exerciseQuarantine(store, someone)
        try await exerciseJournal(store, someone)
        _ = try await store.inspection.quarantined(limit: 10)
        _ = try await store.inspection.quarantineCounts()
        _ = try await store.inspection.replicas(of: someone, after: nil, limit: 10)
        _ = try await store.inspection.replicas(of: nil, after: ReplicaID(rawValue: 5), limit: 10)
        _ = try await store.newestCursor()
        _ = try await store.collect(Retention(now: now, seenBefore: now, supersededBefore: 9_906))
    }

    /// Every operation on what is quarantined once or more.
    private static func exerciseQuarantine(_ store: Accounts, _ someone: Principal) async throws {
        let push = QuarantinedOperation(
            key: PushedRecordKey(table: "t", id: "1"), kind: .create, body: [0x7B, 0x7D],
            reason: QuarantinedOperation.Reason(code: "push.rejected"))
        let ids = try await store.change(someone) { try QuarantineRules.add([push], limit: 9, at: now, in: &$0) }
        _ = try await store.read(someone) { try QuarantineRules.kinds(of: &$0) }
        for principal in [nil, someone] {
            _ = try await store.commands.scheduleRetries(nil, of: principal, at: now)
            _ = try await store.inspection.quarantinedPushes(of: principal, after: 0, limit: 9)
            _ = try await store.inspection.quarantinedLines(of: principal, after: 0, limit: 9)
        }
        _ = try await store.commands.scheduleRetries(ids, of: nil, at: now)
        _ = try await store.read(someone) { try QuarantineRules.scheduled(limit: 9, of: &$0) }
        try await store.change(someone) {
            try QuarantineRules.refuseAgain(push.key, number: ids[0], reason: push.reason, at: now, in: &$0)
        }
        _ = try await store.inspection.quarantinedPush(ids[0])
        _ = try await store.inspection.quarantinedLine(1)
        _ = try await store.commands.dropPushes(ids)
        _ = try await store.commands.dropLines([99])
        try await store.change(someone) { try QuarantineRules.remove([push.key], in: &$0) }
    }

    private static func exerciseJournal(_ store: Accounts, _ someone: Principal) async throws {
        func begin() async throws -> Int64 {
            let id = try await store.change(someone) {
                try JournalRules.begin(JournalOpening(presented: nil, operations: 2, notes: []), at: now, in: &$0)
            }
            var step = JournalStep()
            step.inFlight = [0, 1].map {
                InFlightOperation(
                    index: $0, kind: .create, record: PushedRecordKey(table: "t", id: "\($0)"), makesID: true)
            }
            try await store.change(someone) { try JournalRules.advance(step, of: id, at: now, in: &$0) }
            return id
        }
        var step = JournalStep()
        step.applied = [0]
        step.mappings = [IDMapping(table: "t", clientID: "0", backendID: "7")]
        let failure = PushJournal.Failure(code: "push.unknown_outcome")
        let failed = try await begin()
        try await store.change(someone) {
            try JournalRules.end(JournalEnd(step: step, failure: failure), of: failed, at: now, in: &$0)
        }
        let open = try await begin()
        try await store.change(someone) {
            try JournalRules.end(
                JournalEnd(step: JournalStep(), failure: failure, unknown: [1]), of: open, at: now, in: &$0)
        }
        _ = try await store.read(someone) { try JournalRules.openJournals(of: &$0) }
        _ = try await store.context(of: someone)
        _ = try await store.read(someone) { try IDRules.mapped(["7"], in: "t", of: &$0) }
        try await store.change(someone) { try JournalRules.close(open, with: JournalClosure(), at: now, in: &$0) }
        let last = try await begin()
        try await store.change(someone) {
            try JournalRules.end(JournalEnd(step: JournalStep()), of: last, at: now, in: &$0)
        }
        _ = try await store.inspection.journal(open)
        for principal in [nil, someone] { _ = try await store.inspection.journals(of: principal, after: 0, limit: 9) }
    }

    /// Every operation of the ledger once or more.
    private static func exerciseLedger(_ store: Accounts, _ someone: Principal) async throws {
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
            try await store.change(someone) { try ReplicaRules.confirm(cursor(value - 1), at: now, in: &$0) }
            try await store.commit(pull(value, parent: value - 1, TestLedger.commit([2: 2])))
        }
        try await store.commit(pull(20_204, parent: 20_202, TestLedger.commit([2: 2])))
        try await store.change(someone) { try ReplicaRules.confirm(cursor(20_203), at: now, in: &$0) }
        let outline = try #require(try await store.context(20_203, of: someone).ledger)
        let base = try #require(outline.base)
        _ = try await store.chunkReader.chunk(holding: TestLedger.hash(2), in: TestLedger.table, of: base)
        var preloaded = PreloadedChunks()
        try await store.chunkReader.load(outline.layers[...], into: &preloaded)
        _ = try await store.read(someone) { try ReplicaRules.ledgers(of: &$0) }
        _ = try await store.read(someone) {
            try $0.replica(outline.replica).map { $0.outline(at: $0.tip ?? $0.newest) }
        }
        _ = try await store.compact(outline, [20_203, 20_202, 20_201], finished: 20_203, of: someone)
        try await store.change(someone) {
            try NoteRules.write([PushNote(table: "t", id: "1", state: .held)], at: 1, in: &$0)
        }
        _ = try await store.read(someone) { try NoteRules.notes(after: 0, limit: 9 + 1, of: &$0).count > 9 }
        _ = try await store.read(someone) { try NoteRules.note(of: PushedRecordKey(table: "t", id: "1"), in: &$0) }
        _ = try await store.read(someone) { try NoteRules.notes(after: 0, limit: 100, of: &$0) }
        try await store.change(someone) { try ReplicaRules.acceptDeletions(of: outline.replica, at: now, in: &$0) }
        try await store.change(someone) { try ReplicaRules.resync(outline.replica, at: now, in: &$0) }
        var retention = Retention(now: now, seenBefore: 0, undoBefore: 20_202)
        retention.stagedBefore = now + 1
        _ = try await store.collect(retention)
        _ = try await store.change(someone) { try ReplicaRules.forget(outline.replica, at: now, in: &$0) }
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
                try await store.change(alice) { try SessionRules.markAccepted(phone, at: now, in: &$0) }
                try await store.change(alice) { try ReplicaRules.confirm(cursor(1), at: now, in: &$0) }
                try await store.change(alice) {
                    try SessionRules.setPosition(.at(row(1).vector), of: phone, at: now, in: &$0)
                }
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
                    try await store.change(alice) { try ReplicaRules.confirm(cursor(1), at: now + later, in: &$0) }
                    try await store.change(alice) { try SessionRules.markAccepted(phone, at: now + later, in: &$0) }
                    try await store.change(alice) {
                        try SessionRules.setPosition(.at(row(1).vector), of: phone, at: now + later, in: &$0)
                    }
                    try await store.change(alice) {
                        try ReplicaRules.touch(ReplicaID(rawValue: 1), result: "pull", at: now + later, in: &$0)
                    }
                    try await store.change(alice) { try ReceiptRules.drop(in: &$0) }
                    try await store.check(thoroughly: false)
                    _ = try await store.collect(Retention(now: now, seenBefore: 0))
                }
                #expect(try version() == before)
                try await store.change(alice) { try ReplicaRules.confirm(cursor(1), at: now + 60_000, in: &$0) }
                #expect(try version() == before)
                try await store.storeDeferred()
                #expect(try version() != before)
                try witness.close()
            }
        }
    }

    @Test func `what was deferred of many principals is stored in a few transactions`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
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
                let replicas = try await store.inspection.replicas(of: nil, after: nil, limit: 999)
                #expect(replicas.count == 200 && replicas.allSatisfy { $0.lastSeen == now + 90_000 })
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
                try await store.change(alice) { try SessionRules.markAccepted(phone, at: now, in: &$0) }
                try await store.change(alice) { try ReplicaRules.confirm(cursor(1), at: now, in: &$0) }
                func asked(_ body: () async throws -> Void) async throws -> Int {
                    statements.withLockedValue { $0 = 0 }
                    try await body()
                    return statements.withLockedValue { $0 }
                }
                func idle() async throws {
                    #expect(try await store.context(1).row?.isConfirmed == true)
                    try await store.change(alice) { try ReplicaRules.confirm(cursor(1), at: now + 1, in: &$0) }
                    try await store.change(alice) { try SessionRules.markAccepted(phone, at: now + 1, in: &$0) }
                    try await store.change(alice) {
                        try ReplicaRules.touch(ReplicaID(rawValue: 1), result: "pull", at: now + 1, in: &$0)
                    }
                }
                try await idle()
                #expect(try await asked(idle) == 0)
                // Another process sees to it that everything is read again, once.
                let other = try await SQLiteStateStore.openShared(path: path, for: .changing)
                try await other.change(alice) { try ReplicaRules.resync(ReplicaID(rawValue: 1), at: now, in: &$0) }
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
        try await store.commit(
            PullCommit(row: row(100), replica: .new, now: now, ledger: .staged(layer, counts: [:])))
        for value: Int64 in 101...110 { try await store.proceed(row(value, parent: value - 1), [1: 1]) }
        try await store.change(alice) { try ReplicaRules.confirm(cursor(110), at: now, in: &$0) }
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
