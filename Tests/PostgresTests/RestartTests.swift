// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import PostgresTesting
import Testing

@Suite(.serialized, .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RestartTests {
    @Test(arguments: ["fast", "immediate"])
    func `calls go on after a restart, and those that wait meanwhile succeed`(mode: String) async throws {
        let server = try await PostgresServer.stoppable()
        try await PostgresPool.with(server.conninfo()) { pool in
            try await Self.use(pool)
            try await server.stop(mode)
            let error = await postgresError {
                while true { _ = try await pool.query("SELECT 1", .readOnly, within: .milliseconds(300)) }
            }
            switch error {
            // The end of an idle connection may be noticed by the first call.
            case .unreachable, .shuttingDown, .connectionLost: break
            default: throw IssueError(error)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await Self.use(pool) }
                try await server.start()
                try await group.waitForAll()
            }
        }
    }

    @Test func `kill -9 ends what runs, says what is unknown, and leaves a pool that comes back`() async throws {
        let server = try await PostgresServer.stoppable()
        try await PostgresPool.with(server.conninfo()) { pool in
            _ = try await pool.query("CREATE TABLE kept (n int8)", .readWrite, within: ample)
            let errors = try await withThrowingTaskGroup(of: (Int, PostgresError?).self) { group in
                group.addTask { (0, await Self.error(pool, .readOnly, "SELECT pg_sleep(3600) /* one */")) }
                group.addTask { (1, await Self.error(pool, .readWrite, "SELECT pg_sleep(3600) /* two */")) }
                try await pool.wait(untilRunning: true, "/* one */")
                try await pool.wait(untilRunning: true, "/* two */")
                let held = await postgresError {
                    try await pool.withTransaction(.readWrite, within: ample) { transaction in
                        _ = try await transaction.query("INSERT INTO kept VALUES (1)")
                        try await server.killAll()
                        _ = try await transaction.query("INSERT INTO kept VALUES (2)")
                    }
                }
                return try await group.reduce(into: [2: held]) { $0[$1.0] = $1.1 }
            }
            guard case .connectionLost = errors[0] else { throw IssueError(errors[0] ?? nil) }
            guard case .outcomeUnknown = errors[1] else { throw IssueError(errors[1] ?? nil) }
            guard case .connectionLost = errors[2] else { throw IssueError(errors[2] ?? nil) }
            try await server.start()
            let rows = try await pool.query("SELECT n FROM kept", .readOnly, within: ample).rows
            #expect(rows.isEmpty)
        }
    }

    private static func use(_ pool: PostgresPool) async throws {
        let rows = try await pool.query("SELECT 1", .readOnly, within: ample).rows
        #expect(rows.count == 1)
    }

    private static func error(
        _ pool: PostgresPool, _ mode: PostgresMode, _ statement: PostgresStatement
    ) async -> PostgresError? {
        await postgresError { _ = try await pool.query(statement, mode, within: .seconds(3_000)) }
    }
}
