// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Postgres
import PostgresTesting
import Testing

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct TransactionTests {
    @Test(arguments: [true, false])
    func `known statements take one round trip, with BEGIN, limits and COMMIT`(isPrepared: Bool) async throws {
        try await withProxy(change: { $0.preparesStatements = isPrepared }) { proxy, pool in
            for mode in [PostgresMode.readOnly, .readWrite] {
                let before = proxy.roundTrips
                let results = try await pool.pipeline(
                    ["SELECT 1", PostgresStatement("SELECT $1", [.integer(2)]), "SELECT 3"], mode, within: ample)
                #expect(try results.map { try $0.rows.first?.integer(0) } == [1, 2, 3])
                #expect(proxy.roundTrips - before == 1)
            }
        }
    }

    @Test func `a decision in the middle of a write takes a second round trip, and no third`() async throws {
        try await withProxy { proxy, pool in
            let count = try await pool.withTransaction(.readWrite, within: ample) { transaction in
                let first = try await transaction.query("SELECT 20")
                let number = try first.rows.first?.integer(0) ?? 0
                let last = try await transaction.commit([PostgresStatement("SELECT $1 + 1", [.integer(number)])])
                return try last.first?.rows.first?.integer(0)
            }
            #expect(count == 21)
            #expect(proxy.roundTrips == 2)
        }
    }

    @Test func `a read with two steps waits for two round trips`() async throws {
        try await withProxy { proxy, pool in
            try await pool.withTransaction(.readOnly, within: ample) { transaction in
                _ = try await transaction.query("SELECT 1")
                _ = try await transaction.pipeline(["SELECT 2", "SELECT 3"])
                #expect(proxy.roundTrips == 2)
            }
        }
    }

    @Test func `a statement is prepared once on a connection`() async throws {
        try await PostgresPool.withShared(change: { $0.maximumConnections = 1 }) { pool in
            for number in 1...3 {
                _ = try await pool.pipeline(
                    [PostgresStatement("SELECT $1", [.integer(Int64(number))]), "SELECT 'x'"], .readOnly, within: ample)
            }
            let names = try await pool.query(
                "SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT $1'", .readOnly, within: ample)
            #expect(try names.rows.first?.integer(0) == 1)
        }
    }

    @Test func `statements beyond the number of prepared ones work too`() async throws {
        try await PostgresPool.withShared(
            change: {
                $0.maximumConnections = 1
                $0.maximumPrepared = 5
            }
        ) { pool in
            for number in 1...20 {
                let result = try await pool.query("SELECT \(number)", .readOnly, within: ample)
                #expect(try result.rows.first?.integer(0) == Int64(number))
            }
            let count = try await pool.query("SELECT count(*) FROM pg_prepared_statements", .readOnly, within: ample)
            #expect(try count.rows.first?.integer(0) == 5)
        }
    }

    @Test func `a statement whose table has changed is prepared anew after one error`() async throws {
        try await withTable { other, table in
            try await PostgresPool.withShared(change: { $0.maximumConnections = 1 }) { pool in
                let statement: PostgresStatement = "SELECT * FROM \(table)"
                _ = try await pool.query(statement, .readOnly, within: ample)
                _ = try await other.query("ALTER TABLE \(table) ADD m int8", .readWrite, within: ample)
                let error = await postgresError { _ = try await pool.query(statement, .readOnly, within: ample) }
                guard case .server("0A000", _) = error else { throw IssueError(error) }
                _ = try await pool.query(statement, .readOnly, within: ample)
            }
        }
    }

    @Test func `a write is there after its end, and not after an error`() async throws {
        try await withTable { pool, table in
            _ = try await pool.withTransaction(.readWrite, within: ample) { transaction in
                try await transaction.query("INSERT INTO \(table) VALUES (1)")
            }
            await #expect(throws: Stopped.self) {
                try await pool.withTransaction(.readWrite, within: ample) { transaction in
                    _ = try await transaction.query("INSERT INTO \(table) VALUES (2)")
                    throw Stopped()
                }
            }
            _ = await postgresError {
                _ = try await pool.pipeline(
                    ["INSERT INTO \(table) VALUES (3)", "INSERT INTO \(table) VALUES (1)"], .readWrite, within: ample)
            }
            let left = try await numbers(pool, table)
            #expect(left == [1])
        }
    }

    @Test func `a transaction whose error is ignored is rolled back and says so`() async throws {
        try await withTable { pool, table in
            let error = await postgresError {
                try await pool.withTransaction(.readWrite, within: ample) { transaction in
                    _ = try await transaction.query("INSERT INTO \(table) VALUES (1)")
                    _ = try? await transaction.query("SELECT 1 / 0")
                }
            }
            #expect(error == .rolledBack)
            let later = await postgresError {
                try await pool.withTransaction(.readWrite, within: ample) { transaction in
                    _ = try? await transaction.query("SELECT 1 / 0")
                    _ = try await transaction.commit(["INSERT INTO \(table) VALUES (1)"])
                }
            }
            #expect(later == .rolledBack)
            let left = try await numbers(pool, table)
            #expect(left == [])
        }
    }

    @Test func `a constraint that is checked at the end fails the COMMIT for certain`() async throws {
        try await withTable("UNIQUE DEFERRABLE INITIALLY DEFERRED") { pool, table in
            let error = await postgresError {
                _ = try await pool.pipeline(
                    ["INSERT INTO \(table) VALUES (1), (1)"], .readWrite, within: ample)
            }
            #expect(error == .constraint(name: "\(table)_n_key", state: "23505"))
            let left = try await numbers(pool, table)
            #expect(left == [])
        }
    }

    @Test func `a read sees one snapshot`() async throws {
        try await withTable { pool, table in
            try await pool.withTransaction(.readOnly, within: ample) { transaction in
                _ = try await transaction.query("SELECT n FROM \(table)")
                _ = try await pool.query("INSERT INTO \(table) VALUES (1)", .readWrite, within: ample)
                let rows = try await transaction.query("SELECT n FROM \(table)").rows
                #expect(rows.isEmpty)
            }
            let left = try await numbers(pool, table)
            #expect(left == [1])
        }
    }

    @Test func `no setting of a transaction stays behind on its connection`() async throws {
        try await PostgresPool.withShared(change: { $0.maximumConnections = 1 }) { pool in
            _ = try await pool.query("SELECT 1", .readWrite, within: .seconds(30))
            let statement = PostgresStatement("SELECT current_setting('statement_timeout')")
            let inside = try await pool.query(statement, .readOnly, within: .seconds(50))
            // Nine tenths of what is left.
            #expect(try inside.rows.first?.text(0).hasPrefix("44") == true)
        }
    }

    private struct Stopped: Error {}

    private func withProxy(
        change: (inout PostgresSettings) -> Void = { _ in },
        _ body: (ServerProxy, PostgresPool) async throws -> Void
    ) async throws {
        let server = try await PostgresServer.shared()
        try await ServerProxy.with(to: server.port) { proxy in
            try await PostgresPool.with(server.conninfo(port: proxy.port), change: change) { pool in
                try await body(proxy, pool)
            }
        }
    }
}

/// Runs a pool of the shared server and a new table with a column `n` around the body.
func withTable(
    _ constraint: String = "PRIMARY KEY", _ body: (PostgresPool, String) async throws -> Void
) async throws {
    let table = "t_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
    try await PostgresPool.withShared { pool in
        _ = try await pool.query("CREATE TABLE \(table) (n int8 \(constraint))", .readWrite, within: ample)
        try await body(pool, table)
    }
}

/// Returns the contents of such a table.
func numbers(_ pool: PostgresPool, _ table: String) async throws -> [Int64] {
    try await pool.query("SELECT n FROM \(table) ORDER BY n", .readOnly, within: ample).rows.map { try $0.integer(0) }
}
