// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import PostgresTesting
import Testing

@Suite(
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"),
    .enabled(if: Bouncer.isInstalled, "pgbouncer is not installed"))
struct BouncerTests {
    @Test func `many callers share one connection of a pooler in transaction mode`() async throws {
        try await withTable { _, table in
            try await withBouncer(connections: 1) { pool in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<20 as Range<Int64> {
                        group.addTask {
                            try await pool.withTransaction(.readWrite, within: ample) { transaction in
                                _ = try await transaction.query("SELECT 1")
                                _ = try await transaction.commit([
                                    PostgresStatement("INSERT INTO \(table) VALUES ($1)", [.integer(number)])
                                ])
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                let left = try await numbers(pool, table)
                #expect(left == Array(0..<20))
            }
        }
    }

    @Test func `limits and errors of one transaction do not reach the next one`() async throws {
        try await withBouncer(connections: 1) { pool in
            for _ in 0..<3 {
                let error = await postgresError {
                    _ = try await pool.pipeline(
                        ["SELECT set_config('statement_timeout', '20', true)", "SELECT pg_sleep(3600)"], .readOnly,
                        within: ample)
                }
                #expect(error == .timeout(.statement))
            }
            let rows = try await pool.query(
                "SELECT current_setting('statement_timeout')", .readOnly, within: .seconds(50))
            #expect(try rows.rows.first?.text(0).hasPrefix("44") == true)
        }
    }

    @Test func `a cancelled read ends at the server behind the pooler`() async throws {
        try await withBouncer(connections: 2) { pool in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) {
                        _ = try await pool.query(
                            "SELECT pg_sleep(3600) /* behind a pooler */", .readOnly, within: .seconds(3_000))
                    }
                }
                try await pool.wait(untilRunning: true, "/* behind a pooler */")
                group.cancelAll()
                try await group.waitForAll()
            }
            try await pool.wait(untilRunning: false, "/* behind a pooler */")
        }
    }

    @Test func `a server that the pooler loses during a write leaves its outcome unknown`() async throws {
        try await withBouncer(connections: 2) { pool in
            try await withThrowingTaskGroup(of: PostgresError?.self) { group in
                group.addTask {
                    await postgresError {
                        _ = try await pool.query(
                            "SELECT pg_sleep(3600) /* lost by a pooler */", .readWrite, within: .seconds(3_000))
                    }
                }
                try await pool.wait(untilRunning: true, "/* lost by a pooler */")
                _ = try await pool.query(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE pid <> pg_backend_pid() AND strpos(query, '/* lost by a pooler */') > 0
                    """, .readOnly, within: ample)
                for try await error in group {
                    switch error {
                    // The server's own word may still come through.
                    case .outcomeUnknown, .shuttingDown: break
                    default: throw IssueError(error)
                    }
                }
            }
        }
    }

    private func withBouncer(
        connections: Int, _ body: (PostgresPool) async throws -> Void
    ) async throws {
        let server = try await PostgresServer.shared()
        try await Bouncer.with(server, connections: connections) { bouncer in
            try await PostgresPool.with(
                server.conninfo(port: bouncer.port), change: { $0.preparesStatements = false }
            ) { pool in
                try await body(pool)
            }
        }
    }
}
