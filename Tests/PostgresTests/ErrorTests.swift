// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import PostgresTesting
import Testing

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct ErrorTests {
    @Test func `a violated constraint is reported by name`() async throws {
        try await withTable("CONSTRAINT positive CHECK (n > 0)") { pool, table in
            let error = await postgresError {
                _ = try await pool.query("INSERT INTO \(table) VALUES (0)", .readWrite, within: ample)
            }
            #expect(error == .constraint(name: "positive", state: "23514"))
        }
    }

    @Test(arguments: [("SELEC 1", "42601"), ("SELECT * FROM missing", "42P01"), ("SELECT $1", "08P01")])
    func `a statement that does not fit is reported with its SQLSTATE`(sql: String, state: String) async throws {
        try await PostgresPool.withShared { pool in
            let error = await postgresError { _ = try await pool.query("\(sql)", .readOnly, within: ample) }
            guard case .statement(state, _) = error else { throw IssueError(error) }
            let rows = try await pool.query("SELECT 1", .readOnly, within: ample).rows
            #expect(rows.count == 1)
        }
    }

    @Test func `a lock that is not free in time is a timeout of its own`() async throws {
        try await withTable { pool, table in
            try await PostgresPool.withShared(change: { $0.lockTimeout = .milliseconds(50) }) { hasty in
                try await pool.withTransaction(.readWrite, within: ample) { holder in
                    _ = try await holder.query("LOCK TABLE \(table)")
                    let error = await postgresError {
                        _ = try await hasty.query("SELECT n FROM \(table)", .readOnly, within: ample)
                    }
                    #expect(error == .timeout(.lock))
                }
            }
        }
    }

    @Test func `a statement that the server stops is a timeout, and its connection stays`() async throws {
        try await PostgresPool.withShared(change: { $0.maximumConnections = 1 }) { pool in
            let first = try await pool.query("SELECT pg_backend_pid()", .readOnly, within: ample)
            let error = await postgresError {
                _ = try await pool.pipeline(
                    ["SELECT set_config('statement_timeout', '20', true)", "SELECT pg_sleep(3600)"], .readWrite,
                    within: ample)
            }
            #expect(error == .timeout(.statement))
            let second = try await pool.query("SELECT pg_backend_pid()", .readOnly, within: ample)
            #expect(first == second)
        }
    }

    @Test(arguments: [PostgresMode.readOnly, .readWrite])
    func `a call that takes longer than its limit ends, at the server too`(mode: PostgresMode) async throws {
        let mark = "/* \(mode) without end */"
        try await PostgresPool.withShared { pool in
            // The time for opening a connection is not the matter here.
            _ = try await pool.query("SELECT 1", mode, within: ample)
            let error = await postgresError {
                try await pool.withTransaction(mode, within: .seconds(1)) { transaction in
                    _ = try await transaction.pipeline(
                        ["SELECT set_config('statement_timeout', '0', true)", "SELECT pg_sleep(3600) \(mark)"])
                }
            }
            #expect(error == .timeout(.call))
            try await pool.wait(untilRunning: false, mark)
        }
    }

    @Test func `a transaction that does nothing until its limit frees its connection`() async throws {
        try await PostgresPool.withShared(change: { $0.maximumConnections = 1 }) { pool in
            _ = try await pool.query("SELECT 0", .readOnly, within: ample)
            let error = await postgresError {
                try await pool.withTransaction(.readWrite, within: .seconds(1)) { transaction in
                    _ = try await transaction.query("SELECT 1")
                    // Gets the only connection when the limit has passed.
                    let rows = try await pool.query("SELECT 2", .readOnly, within: ample).rows
                    #expect(rows.count == 1)
                    _ = try await transaction.query("SELECT 3")
                }
            }
            #expect(error == .timeout(.call))
        }
    }

    @Test func `a deadlock ends for one of its two transactions, which may try again`() async throws {
        try await withTable { pool, first in
            try await withTable { _, second in
                let errors = await withTaskGroup(of: PostgresError?.self) { group in
                    for tables in [[first, second], [second, first]] {
                        group.addTask { await Self.lock(tables, pool) }
                    }
                    return await group.reduce(into: []) { errors, error in error.map { errors.append($0) } }
                }
                guard errors.count == 1, case .serialization = errors[0] else { throw IssueError(errors.first) }
                #expect(errors[0].isTransient)
            }
        }
    }

    @Test func `a server without writes refuses them, and reads go on`() async throws {
        try await withTable { pool, table in
            try await PostgresPool.withShared(user: "reader") { standby in
                let error = await postgresError {
                    _ = try await standby.query("INSERT INTO \(table) VALUES (1)", .readWrite, within: ample)
                }
                guard case .readOnly = error else { throw IssueError(error) }
                let rows = try await standby.query("SELECT n FROM \(table)", .readOnly, within: ample).rows
                #expect(rows.isEmpty)
            }
            let error = await postgresError {
                _ = try await pool.query("INSERT INTO \(table) VALUES (1)", .readOnly, within: ample)
            }
            guard case .readOnly = error else { throw IssueError(error) }
        }
    }

    @Test func `a caller that finds all connections in use waits no longer than its limit`() async throws {
        try await PostgresPool.withShared(change: { $0.maximumConnections = 1 }) { pool in
            try await pool.withTransaction(.readWrite, within: ample) { holder in
                _ = try await holder.query("SELECT 1")
                let error = await postgresError {
                    _ = try await pool.query("SELECT 1", .readWrite, within: .milliseconds(100))
                }
                #expect(error == .timeout(.pool))
            }
        }
    }

    @Test func `a pool that is shut down lets its transaction finish and refuses the next`() async throws {
        try await withTable { direct, table in
            let server = try await PostgresServer.shared()
            try await PostgresPool.with(server.conninfo()) { pool in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    try await pool.withTransaction(.readWrite, within: ample) { transaction in
                        _ = try await transaction.query("INSERT INTO \(table) VALUES (1)")
                        group.addTask { await pool.shutdown() }
                        while try await refuses(pool) == false {}
                        _ = try await transaction.commit()
                    }
                    try await group.waitForAll()
                }
                let isRefused = try await refuses(pool)
                #expect(isRefused)
            }
            let left = try await numbers(direct, table)
            #expect(left == [1])
        }
    }

    private func refuses(_ pool: PostgresPool) async throws -> Bool {
        do {
            _ = try await pool.query("SELECT 1", .readOnly, within: ample)
            return false
        } catch PostgresError.closed {
            return true
        }
    }

    /// Locks tables one after the other, the second one when another transaction has its first.
    private static func lock(_ tables: [String], _ pool: PostgresPool) async -> PostgresError? {
        do {
            try await pool.withTransaction(.readWrite, within: ample) { transaction in
                _ = try await transaction.query("LOCK TABLE \(tables[0])")
                try await pool.wait(
                    until: PostgresStatement(
                        """
                        SELECT count(*) > 0 FROM pg_locks JOIN pg_class ON pg_class.oid = relation
                        WHERE relname = $1 AND mode = 'AccessExclusiveLock'
                        """, [.text(tables[1])]))
                _ = try await transaction.query("LOCK TABLE \(tables[1])")
            }
            return nil
        } catch {
            return error as? PostgresError
        }
    }
}
