// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import Postgres
import PostgresTesting
import Testing

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct OutcomeTests {
    @Test(arguments: [ServerProxy.Loss.before, .after])
    func `a connection that is lost during COMMIT leaves the outcome unknown`(loss: ServerProxy.Loss) async throws {
        try await withTable { direct, table in
            try await withLosses(loss) { pool in
                let error = await postgresError {
                    _ = try await pool.query("INSERT INTO \(table) VALUES (1)", .readWrite, within: ample)
                }
                guard case .outcomeUnknown = error else { throw IssueError(error) }
            }
            #expect(try await numbers(direct, table) == (loss == .before ? [] : [1]))
        }
    }

    @Test func `a read that is lost during COMMIT is only a lost connection`() async throws {
        try await withLosses(.before) { pool in
            let error = await postgresError { _ = try await pool.query("SELECT 1", .readOnly, within: ample) }
            guard case .connectionLost = error else { throw IssueError(error) }
        }
    }

    @Test func `a server that ends the connection before COMMIT has changed nothing`() async throws {
        try await withTable { pool, table in
            let error = await postgresError {
                _ = try await pool.pipeline(
                    ["INSERT INTO \(table) VALUES (1)", "SELECT pg_terminate_backend(pg_backend_pid())"], .readWrite,
                    within: ample)
            }
            guard case .shuttingDown = error else { throw IssueError(error) }
            let left = try await numbers(pool, table)
            #expect(left == [])
        }
    }

    @Test func `a connection that ends between two statements has changed nothing`() async throws {
        try await withTable { pool, table in
            let error = await postgresError {
                try await pool.withTransaction(.readWrite, within: ample) { transaction in
                    _ = try await transaction.query("INSERT INTO \(table) VALUES (1)")
                    let pid = try await transaction.query("SELECT pg_backend_pid()::int8").rows[0].integer(0)
                    _ = try await pool.query(
                        PostgresStatement("SELECT pg_terminate_backend($1::int4)", [.integer(pid)]), .readWrite,
                        within: ample)
                    try await pool.wait(
                        until: PostgresStatement(
                            "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)", [.integer(pid)]))
                    _ = try await transaction.query("SELECT 1")
                }
            }
            switch error {
            case .connectionLost, .shuttingDown: break
            default: throw IssueError(error)
            }
            let left = try await numbers(pool, table)
            #expect(left == [])
        }
    }

    @Test func `whatever ends connections, what is done is there, and what has failed is not`() async throws {
        try await withTable { admin, table in
            let outcomes = try await PostgresPool.withShared("application_name=\(table)") { pool in
                try await withThrowingTaskGroup(of: (Int64, Bool?).self) { group in
                    for number in 0..<300 as Range<Int64> {
                        group.addTask { (number, try await Self.insert(number, into: table, pool)) }
                    }
                    for _ in 0..<30 {
                        _ = try await admin.query(
                            PostgresStatement(
                                """
                                SELECT pg_terminate_backend(pid), pg_sleep(0.005) FROM pg_stat_activity
                                WHERE application_name = $1 ORDER BY random() LIMIT 2
                                """, [.text(table)]), .readOnly, within: ample)
                    }
                    return try await group.reduce(into: [Int64: Bool?]()) { $0[$1.0] = .some($1.1) }
                }
            }
            let present = Set(try await numbers(admin, table))
            for (number, isDone) in outcomes {
                if let isDone { #expect(present.contains(number) == isDone, "\(number)") }
            }
            #expect(outcomes.count == 300)
        }
    }

    /// Inserts a number in one of two ways; returns nil if the outcome is unknown.
    private static func insert(_ number: Int64, into table: String, _ pool: PostgresPool) async throws -> Bool? {
        let statement = PostgresStatement("INSERT INTO \(table) VALUES ($1)", [.integer(number)])
        do {
            try await pool.withTransaction(.readWrite, within: ample) { transaction in
                if number.isMultiple(of: 2) { _ = try await transaction.query("SELECT 1") }
                _ = try await transaction.commit([statement])
            }
            return true
        } catch PostgresError.outcomeUnknown {
            return nil
        } catch PostgresError.connectionLost, PostgresError.shuttingDown {
            return false
        }
    }

    private func withLosses(_ loss: ServerProxy.Loss, _ body: (PostgresPool) async throws -> Void) async throws {
        let server = try await PostgresServer.shared()
        try await ServerProxy.with(to: server.port) { proxy in
            // A statement that is prepared would not be seen by the proxy.
            try await PostgresPool.with(
                server.conninfo(port: proxy.port), change: { $0.preparesStatements = false }
            ) { pool in
                proxy.state.withLockedValue { $0.loss = loss }
                try await body(pool)
            }
        }
    }
}
