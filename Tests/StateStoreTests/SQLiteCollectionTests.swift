// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SQLiteState
import StateStore
import SyncModel
import Testing

/// Collections that stop in the middle.
@Suite struct SQLiteCollectionTests {
    @Test func `a staged layer of which a part was collected cannot be named any more`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            var options = SQLiteStateStore.Options()
            options.limits.collectBatch = 3
            try await withSQLite(path, options: options) { store in
                let layer = try await store.stageLayer(at: now)
                try await store.stage(
                    TestLedger.chunks(Entries(uniqueKeysWithValues: (1...40).map { ($0, 1) })), in: layer)
                // The gateway is stopped, or the disk fails, after the first step.
                try sqlite(path) {
                    try $0.execute(
                        sql: """
                            CREATE TRIGGER stop BEFORE DELETE ON chunk WHEN (SELECT count(*) FROM chunk) < 6
                            BEGIN SELECT RAISE(ABORT, 'stop'); END
                            """)
                }
                await #expect(throws: StateError.self) {
                    _ = try await store.collect(Retention(now: now + 3_600_001, seenBefore: 0))
                }
                let left = try await store.ledgerChunks(layer: layer, table: TestLedger.table, after: nil, limit: 99)
                #expect((1..<10).contains(left.count))
                let pull = PullCommit(row: try row(100), replica: .new, now: now, ledger: .staged(layer, counts: [:]))
                await #expect(throws: StateError.ledgerChanged) { try await store.commit(pull) }
                await #expect(throws: StateError.ledgerChanged) { try await store.stage([], in: layer) }
                try sqlite(path) { try $0.execute(sql: "DROP TRIGGER stop") }
                _ = try await store.collect(Retention(now: now + 3_600_001, seenBefore: 0))
                #expect(
                    try await store.ledgerChunks(layer: layer, table: TestLedger.table, after: nil, limit: 99).isEmpty)
            }
        }
    }

    @Test func `a replica that is gone is out of sight at once and is deleted in small steps`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            var options = SQLiteStateStore.Options()
            options.limits.collectBatch = 3
            try await withSQLite(path, options: options) { store in
                for value: Int64 in 1...20 {
                    var row = try row(value, parent: value > 1 ? value - 1 : nil, vector: ["a": "\(value)"])
                    row.comparisons = ["A": FullComparison(doneAt: Instant(milliseconds: value), mapping: "m")]
                    try await value == 1 ? store.begin(row, [1: 1]) : store.proceed(row, [UInt8(value): 1])
                }
                let replica = ReplicaID(rawValue: 1)
                #expect(try await store.forget(replica: replica))
                let counting = """
                    SELECT (SELECT count(*) FROM cursor) + (SELECT count(*) FROM layer WHERE replica IS NOT NULL)
                        + (SELECT count(*) FROM replica)
                    """
                #expect(try sqlite(path) { try Int.fetchOne($0, sql: counting) } == 41)
                let isGone = { () async throws in
                    let context = try await store.context(20)
                    #expect(context.row == nil && context.ledger == nil && !context.hasLedgers)
                    #expect(!context.belongsToAnotherPrincipal && context.newest?.rawValue == 20)
                    #expect(try await store.ledgers(of: alice).isEmpty)
                    #expect(try await store.ledger(of: replica) == nil)
                    #expect(try await store.replicas(of: nil, after: nil, limit: 9).isEmpty)
                    await #expect(throws: StateError.self) {
                        try await store.confirm(principal: alice, cursor: cursor(20), at: now)
                    }
                    await #expect(throws: StateError.replicaUnknown(replica)) {
                        try await store.commit(PullCommit(row: row(30, parent: 20), replica: .existing, now: now))
                    }
                    #expect(try await !store.forget(replica: replica))
                }
                try await isGone()
                // The second step fails, and takes nothing back of the first.
                try sqlite(path) {
                    try $0.execute(
                        sql: """
                            CREATE TRIGGER stop BEFORE DELETE ON cursor WHEN (SELECT count(*) FROM cursor) <= 15
                            BEGIN SELECT RAISE(ABORT, 'stop'); END
                            """)
                }
                await #expect(throws: StateError.self) {
                    _ = try await store.collect(Retention(now: now, seenBefore: 0))
                }
                #expect(try sqlite(path) { try Int.fetchOne($0, sql: "SELECT count(*) FROM cursor") } == 17)
                try await isGone()
                try sqlite(path) { try $0.execute(sql: "DROP TRIGGER stop") }
                _ = try await store.collect(Retention(now: now, seenBefore: 0))
                #expect(try sqlite(path) { try Int.fetchOne($0, sql: counting) } == 0)
                #expect(
                    try sqlite(path) {
                        try Int.fetchOne(
                            $0, sql: "SELECT (SELECT count(*) FROM vector) + (SELECT count(*) FROM sweep_states)")
                    } == 0)
                try await store.begin(row(40), [1: 1])
            }
        }
    }
}
