// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import PostgresTesting
import Testing

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct CancellationTests {
    @Test func `a cancelled read ends at once, and its statement too`() async throws {
        try await PostgresPool.withShared { pool in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) {
                        _ = try await pool.query(
                            "SELECT pg_sleep(3600) /* cancelled read */", .readOnly, within: .seconds(3_000))
                    }
                }
                try await pool.wait(untilRunning: true, "/* cancelled read */")
                group.cancelAll()
                try await group.waitForAll()
            }
            try await pool.wait(untilRunning: false, "/* cancelled read */")
        }
    }

    @Test func `a read of a cancelled task is not begun`() async throws {
        try await PostgresPool.withShared { pool in
            await withTaskGroup(of: Void.self) { group in
                group.cancelAll()
                group.addTask {
                    await #expect(throws: CancellationError.self) {
                        _ = try await pool.query("SELECT 1", .readOnly, within: ample)
                    }
                }
            }
        }
    }

    @Test func `a write goes on to its last statement when its task is cancelled`() async throws {
        try await withTable { pool, table in
            try await withThrowingTaskGroup(of: Void.self) { group in
                try await pool.withTransaction(.readWrite, within: ample) { holder in
                    _ = try await holder.query("LOCK TABLE \(table) IN SHARE MODE")
                    group.addTask {
                        try await pool.withTransaction(.readWrite, within: ample) { transaction in
                            _ = try await transaction.query("INSERT INTO \(table) VALUES (1) /* locked write */")
                            _ = try await transaction.query("INSERT INTO \(table) VALUES (2)")
                        }
                    }
                    try await pool.wait(untilRunning: true, "\(table) VALUES (1) /* locked write */")
                    group.cancelAll()
                }
                try await group.waitForAll()
            }
            let left = try await numbers(pool, table)
            #expect(left == [1, 2])
        }
    }

    @Test func `a caller that is cancelled while it waits for a connection leaves the queue`() async throws {
        try await PostgresPool.withShared(change: { $0.maximumConnections = 1 }) { pool in
            try await pool.withTransaction(.readWrite, within: ample) { holder in
                _ = try await holder.query("SELECT 1")
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        await #expect(throws: CancellationError.self) {
                            _ = try await pool.query("SELECT 1", .readOnly, within: ample)
                        }
                    }
                    group.cancelAll()
                }
            }
            let rows = try await pool.query("SELECT 1", .readOnly, within: ample).rows
            #expect(rows.count == 1)
        }
    }

    @Test(arguments: [PostgresMode.readOnly, .readWrite])
    func `many cancellations at any moment leave a pool that works`(mode: PostgresMode) async throws {
        try await PostgresPool.withShared(change: { $0.maximumConnections = 3 }) { pool in
            for round in 0..<20 {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<6 {
                        group.addTask {
                            _ = try? await pool.withTransaction(mode, within: ample) { transaction in
                                _ = try await transaction.query("SELECT 1")
                                _ = try await transaction.query("SELECT 2")
                            }
                        }
                    }
                    for _ in 0..<round { await Task.yield() }
                    group.cancelAll()
                }
            }
            let result = try await pool.query("SELECT 1", mode, within: ample)
            #expect(result.rows.count == 1)
        }
    }
}
