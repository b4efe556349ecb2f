// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Logging
import Postgres
import PostgresTesting
import StateStore
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

    @Test func `of gateways that start at once one makes the schema`() async throws {
        let (options, logger) = (try await postgresOptions(), Logger(label: "test"))
        let made = try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<6 { group.addTask { try await PostgresStateStore.migrate(options, logger: logger) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(made == PostgresStateStore.steps)
        try await withPostgres(options) { try await $0.check(thoroughly: true) }
    }
}
