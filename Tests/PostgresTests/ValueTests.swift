// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import PostgresTesting
import Testing

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct ValueTests {
    @Test(arguments: [nil, 0, 1, -1, .min, .max, 1 << 53] as [Int64?], [true, false])
    func `integers come back as they were sent`(value: Int64?, isPrepared: Bool) async throws {
        try await PostgresPool.withShared(change: { $0.preparesStatements = isPrepared }) { pool in
            let row = try await row(pool, "SELECT $1", .integer(value))
            #expect(try row.optionalInteger(0) == value)
        }
    }

    @Test(arguments: [nil, "", "a", "ä€😀\u{202e}", "quote ' and \\ and \n"])
    func `texts come back as they were sent`(value: String?) async throws {
        try await PostgresPool.withShared { pool in
            let row = try await row(pool, "SELECT $1", .text(value))
            #expect(try row.optionalText(0) == value)
        }
    }

    @Test(arguments: [nil, 0, 1, 256, 5 << 20])
    func `bytes come back as they were sent, however many they are`(count: Int?) async throws {
        let value = count.map { count in
            (0..<min(count, 256)).map { UInt8($0) } + [UInt8](repeating: 7, count: max(0, count - 256))
        }
        try await PostgresPool.withShared { pool in
            let row = try await row(pool, "SELECT $1", .bytes(value))
            // Compared first: a failure would print them all.
            let isSame = try row.optionalBytes(0) == value
            #expect(isSame)
        }
    }

    @Test(arguments: [true, false])
    func `truth values come back as they were sent`(value: Bool) async throws {
        try await PostgresPool.withShared { pool in
            let row = try await row(pool, "SELECT $1", .bool(value))
            #expect(try row.bool(0) == value)
        }
    }

    @Test func `smaller integers and other texts of the catalog are read too`() async throws {
        try await PostgresPool.withShared { pool in
            let result = try await pool.query(
                "SELECT 1::int2, -2::int4, 'a'::name, 'b'::varchar", .readOnly, within: ample)
            let row = try #require(result.rows.first)
            #expect(try row.integer(0) == 1)
            #expect(try row.integer(1) == -2)
            #expect(try row.text(2) == "a")
            #expect(try row.text(3) == "b")
        }
    }

    @Test func `a value of another type, a NULL and a column that is not there are errors`() async throws {
        try await PostgresPool.withShared { pool in
            let result = try await pool.query("SELECT 'a', NULL::int8, 1.5, true", .readOnly, within: ample)
            let row = try #require(result.rows.first)
            #expect(throws: PostgresError.unexpectedValue(column: 0)) { try row.integer(0) }
            #expect(throws: PostgresError.unexpectedValue(column: 0)) { try row.bytes(0) }
            #expect(throws: PostgresError.unexpectedValue(column: 1)) { try row.integer(1) }
            #expect(throws: PostgresError.unexpectedValue(column: 2)) { try row.optionalInteger(2) }
            #expect(throws: PostgresError.unexpectedValue(column: 3)) { try row.text(3) }
            #expect(throws: PostgresError.unexpectedValue(column: 4)) { try row.optionalText(4) }
            #expect(throws: PostgresError.unexpectedValue(column: -1)) { try row.bool(-1) }
        }
    }

    @Test func `results come in the order of the statements, with the number of rows of each`() async throws {
        try await PostgresPool.withShared { pool in
            let results = try await pool.pipeline(
                [
                    "CREATE TEMPORARY TABLE numbers (n int8) ON COMMIT DROP",
                    "INSERT INTO numbers SELECT generate_series(1, 5)",
                    "SELECT n FROM numbers WHERE n > 5",
                    "UPDATE numbers SET n = -n WHERE n > 3 RETURNING n",
                ], .readWrite, within: ample)
            #expect(results.map(\.count) == [0, 5, 0, 2])
            #expect(results.map(\.rows.count) == [0, 0, 0, 2])
            #expect(try results[3].rows.map { try $0.integer(0) }.sorted() == [-5, -4])
        }
    }

    @Test(arguments: [PostgresMode.readOnly, .readWrite])
    func `a result above the limit is refused, and the next one is not`(mode: PostgresMode) async throws {
        try await PostgresPool.withShared(change: { $0.maximumResultBytes = 100_000 }) { pool in
            let statement = PostgresStatement("SELECT repeat('x', 1000) FROM generate_series(1, $1)", [.integer(500)])
            let error = await postgresError {
                try await pool.withTransaction(mode, within: ample) { _ = try await $0.query(statement) }
            }
            #expect(error == .resultTooLarge(limit: 100_000))
            let few = PostgresStatement(statement.sql, [.integer(50)])
            let rows = try await pool.query(few, mode, within: ample).rows
            #expect(rows.count == 50)
        }
    }

    @Test func `a statement whose result is above the limit ends at the server too`() async throws {
        try await PostgresPool.withShared(change: { $0.maximumResultBytes = 100_000 }) { pool in
            let error = await postgresError {
                _ = try await pool.query(
                    "SELECT generate_series(1, 1000000000000) /* too much */", .readOnly, within: ample)
            }
            #expect(error == .resultTooLarge(limit: 100_000))
            try await pool.wait(untilRunning: false, "/* too much */")
        }
    }

    @Test func `text with a NUL is refused by the server, not cut`() async throws {
        try await PostgresPool.withShared { pool in
            let error = await postgresError { _ = try await row(pool, "SELECT $1", .text("a\0b")) }
            guard case .server("22021", _) = error else { throw IssueError(error) }
        }
    }

    private func row(
        _ pool: PostgresPool, _ sql: String, _ parameter: PostgresParameter
    ) async throws -> PostgresRow {
        let result = try await pool.query(PostgresStatement(sql, [parameter]), .readOnly, within: ample)
        return try #require(result.rows.first)
    }
}

/// An error that a test did not expect.
struct IssueError: Error {
    let error: PostgresError?
    init(_ error: PostgresError?) { self.error = error }
}
