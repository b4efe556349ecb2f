// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import Postgres
import PostgresTesting
import Testing

/// What the tests' calls may take; none is meant to come near it.
let ample = Duration.seconds(60)

/// Lets tests name their own tables; the gateway's statements are constants.
extension PostgresStatement: ExpressibleByStringInterpolation {}

extension PostgresPool {
    /// Runs a pool around the body.
    static func with<R>(
        _ conninfo: String, change: (inout PostgresSettings) -> Void = { _ in },
        _ body: (PostgresPool) async throws -> R
    ) async throws -> R {
        var settings = PostgresSettings(conninfo: conninfo)
        change(&settings)
        let pool = try PostgresPool.start(settings, logger: Logger(label: "test"))
        do {
            let result = try await body(pool)
            await pool.shutdown()
            return result
        } catch {
            await pool.shutdown()
            throw error
        }
    }

    /// Runs a pool for the shared server around the body.
    static func withShared<R>(
        _ more: String = "", user: String = "postgres", change: (inout PostgresSettings) -> Void = { _ in },
        _ body: (PostgresPool) async throws -> R
    ) async throws -> R {
        try await with(try await PostgresServer.shared().conninfo(more, user: user), change: change, body)
    }

    /// Waits until a condition in the database holds; the server does the waiting in between.
    func wait(until condition: PostgresStatement) async throws {
        let clock = ContinuousClock()
        let end = clock.now + ample
        while clock.now < end {
            let results = try await pipeline([condition, "SELECT pg_sleep(0.01)"], .readOnly, within: ample)
            if try results.first?.rows.first?.bool(0) == true { return }
        }
        Issue.record("the condition does not come to hold: \(condition.sql)")
    }

    /// Waits until a statement that contains the word runs, or does not run any more.
    func wait(untilRunning isRunning: Bool, _ word: String) async throws {
        try await wait(
            until: PostgresStatement(
                """
                SELECT (count(*) > 0) = $2 FROM pg_stat_activity
                WHERE state = 'active' AND pid <> pg_backend_pid() AND strpos(query, $1) > 0
                """, [.text(word), .bool(isRunning)]))
    }
}

/// Returns the error that the body throws, which must be PostgreSQL's.
func postgresError(_ body: () async throws -> Void) async -> PostgresError? {
    do {
        try await body()
        Issue.record("nothing was thrown")
        return nil
    } catch let error as PostgresError {
        return error
    } catch {
        Issue.record("another error was thrown: \(error)")
        return nil
    }
}
