// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import Postgres
import PostgresState
import PostgresTesting
import StateStore
import Testing

/// The schema of a state in PostgreSQL: how it comes about, and who may use it.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresMigrationTests {
    private static let logger = Logger(label: "test")
    private static let newest = PostgresMigration.all.count
    private static let next = PostgresMigration(
        number: newest + 1, compatibleFrom: 1, statements: ["ALTER TABLE principal ADD COLUMN extra bigint"])
    private static let incompatible = PostgresMigration(
        number: newest + 1, compatibleFrom: newest + 1, statements: ["ALTER TABLE principal ADD COLUMN extra bigint"])

    private func code(_ body: () async throws -> Void) async throws -> String? {
        do {
            try await body()
            return nil
        } catch let error as StateError {
            #expect(error.description.hasSuffix("."))
            return error.code
        }
    }

    @Test func `gateways that start at once make one schema, and nothing is due afterwards`() async throws {
        let options = try await postgresOptions()
        #expect(try await PostgresStateStore.inspect(options, logger: Self.logger) == .empty)
        let carriedOut = try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<4 { group.addTask { try await PostgresStateStore.migrate(options, logger: Self.logger) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(carriedOut == Array(1...Self.newest))
        #expect(try await PostgresStateStore.inspect(options, logger: Self.logger) == .usable(Self.newest))
        try await withPostgres(options) { try await $0.check(thoroughly: true) }
    }

    @Test func `a gateway of the version before goes on with a schema that has grown`() async throws {
        let old = try await postgresOptions()
        var new = old
        new.migrations.append(Self.next)
        try await withPostgres(old) { before in
            try await before.begin(try row(1_000))
            #expect(try await PostgresStateStore.inspect(new, logger: Self.logger) == .older(Self.newest))
            let code = try await code { _ = try await PostgresStateStore.openShared(new, logger: Self.logger) }
            #expect(code == "state.schema_older")
            let found = try await withPostgres(new) { try await $0.context(1_000) }
            #expect(found.row != nil)
            try await before.proceed(try row(1_001, parent: 1_000))
            #expect(try await before.context(1_001).row != nil)
        }
        #expect(try await PostgresStateStore.inspect(old, logger: Self.logger) == .usable(Self.newest + 1))
        let found2 = try await withPostgres(old) { try await $0.context(1_001) }
        #expect(found2.row != nil)
    }

    @Test func `a schema that this version cannot use is refused and left as it is`() async throws {
        let old = try await postgresOptions()
        var new = old
        new.migrations.append(Self.incompatible)
        try await withPostgres(new) { _ in }
        let found3 = try await code { try await withPostgres(old) { _ in } }
        #expect(found3 == "state.schema_newer")
        #expect(try await PostgresStateStore.inspect(new, logger: Self.logger) == .usable(Self.newest + 1))
    }

    @Test func `a schema with other tables is refused and left as it is`() async throws {
        let options = try await postgresOptions()
        try await sql(options, PostgresStatement("CREATE SCHEMA \"\(options.schema)\""))
        try await sql(options, "CREATE TABLE somebodys (n int8)")
        let found4 = try await code { try await withPostgres(options) { _ in } }
        #expect(found4 == "state.not_rind")
        try await sql(options, "CREATE TABLE meta (key text, value int8)")
        let found5 = try await code { try await withPostgres(options) { _ in } }
        #expect(found5 == "state.not_rind")
        let tables = try await sql(
            options,
            PostgresStatement("SELECT count(*) FROM pg_tables WHERE schemaname = $1", [.text(options.schema)]))
        #expect(try tables.first?.rows.first?.integer(0) == 2)
    }

    @Test func `a step that fails leaves nothing behind`() async throws {
        var options = try await postgresOptions()
        options.migrations.append(
            PostgresMigration(
                number: Self.newest + 1, compatibleFrom: 1, statements: ["CREATE TABLE t (n int8)", "SELECT 1/0"]))
        let found6 = try await code { try await withPostgres(options) { _ in } }
        #expect(found6 == "state.failed")
        #expect(try await PostgresStateStore.inspect(options, logger: Self.logger) == .empty)
    }

    @Test func `a command makes no state`() async throws {
        let options = try await postgresOptions()
        let refused = try await code { _ = try await PostgresStateStore.openShared(options, logger: Self.logger) }
        #expect(refused == "state.open")
        #expect(try await PostgresStateStore.inspect(options, logger: Self.logger) == .empty)
    }
}
