// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Logging
import Postgres
import PostgresTesting
import StateStore
import SyncModel
import Testing

@testable import PostgresState

/// Databases whose state has another form.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresSchemaTests {
    /// A state that says that it has another form, and the oldest form that may use it.
    @Test(arguments: [
        (PostgresSchema.version - 1, PostgresSchema.version - 1, "state.outdated"), (1, 1, "state.outdated"),
        (PostgresSchema.version + 1, PostgresSchema.version + 1, "state.schema_newer"),
        (PostgresSchema.version + 1, PostgresSchema.version, nil),
    ])
    func `a state of another form is left as it is, unless it says that this form may use it`(
        version: Int, compatible: Int, code: String?
    ) async throws {
        let options = try await postgresOptions()
        try await withPostgres(options) { try await $0.begin(row(1)) }
        try await sql(
            options, PostgresStatement("UPDATE meta SET value = $1 WHERE key = 'version'", [.integer(Int64(version))]),
            PostgresStatement("UPDATE meta SET value = $1 WHERE key = 'compatible_from'", [.integer(Int64(compatible))])
        )
        let logger = Logger(label: "test")
        let uses: [@Sendable () async throws -> Void] = [
            { try await withPostgres(options) { _ in } },
            { try await PostgresStateStore.openShared(options, logger: logger).close() },
            { try await PostgresStateStore.openBytes(options, creates: true, logger: logger).close() },
            { _ = try await PostgresStateStore.inspect(options, logger: logger) },
            { _ = try await PostgresStateStore.migrate(options, logger: logger) },
        ]
        for use in uses {
            do {
                try await use()
                #expect(code == nil)
            } catch let error as StateError { #expect(error.code == code) }
        }
        let left = try await sql(options, PostgresStatement("SELECT count(*) FROM replica"))
        #expect(try left[0].rows[0].integer(0) == 1)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a change of what holds for all principals waits for a commit that has compared it`() async throws {
        let options = try await postgresOptions { $0.connections.lockTimeout = .seconds(120) }
        let store = try await PostgresStateStore.open(options, logger: Logger(label: "test"))
        try await store.begin(row(1))
        try await store.confirm(1)
        try await withPostgres(options) { other in
            var settings = options.connections
            settings.schema = options.schema
            let pool = try PostgresPool.start(settings, logger: Logger(label: "test"))
            /// Returns the process that waits for another one, once there is one.
            func waiter(for process: Int64) async throws -> Int64 {
                while true {
                    let text = "SELECT pid::bigint FROM pg_stat_activity WHERE $1::int = ANY (pg_blocking_pids(pid))"
                    let rows = try await sql(options, PostgresStatement(text, [.integer(process)]))[0].rows
                    if let row = rows.first { return try row.integer(0) }
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                try await pool.withTransaction(.readWrite, within: .seconds(240)) { transaction in
                    let locked = try await transaction.query(
                        "SELECT pg_backend_pid()::bigint FROM principal FOR UPDATE")
                    group.addTask { try await store.goOn(row(2, parent: 1)) }
                    let commit = try await waiter(for: locked.rows[0].integer(0))
                    group.addTask {
                        _ = try await other.commands.distrust(because: .backend, of: nil, at: now)
                    }
                    _ = try await waiter(for: commit)
                }
                try await group.waitForAll()
            }
            await pool.shutdown()
            // A commit that came second would have been refused.
            let context = try await store.context(2)
            #expect(context.row?.generation == 0 && context.session.generation == 1)
            await store.close()
        }
    }

    @Test func `of gateways that start at once one makes the schema`() async throws {
        let (options, logger) = (try await postgresOptions(), Logger(label: "test"))
        let made = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<6 { group.addTask { try await PostgresStateStore.migrate(options, logger: logger) } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(made == 1)
        try await withPostgres(options) { try await $0.check(thoroughly: true) }
    }
}
