// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import Logging
import Postgres
import PostgresState
import PostgresTesting
import StateStore

/// Options for a state in a schema of its own, on the server of all tests.
func postgresOptions(_ change: (inout PostgresStateStore.Options) -> Void = { _ in }) async throws
    -> PostgresStateStore.Options
{
    var options = PostgresStateStore.Options(conninfo: try await PostgresServer.shared().conninfo())
    options.schema = "t" + UUID().uuidString.replacing("-", with: "").lowercased()
    options.connections.maximumConnections = 2
    // Many tests share two processors.
    options.timeout = .seconds(120)
    options.connections.connectTimeout = .seconds(60)
    options.connections.lockTimeout = .seconds(60)
    change(&options)
    return options
}

/// Opens a state, passes it to the body and closes it whatever happens.
@discardableResult
func withPostgres<R>(
    _ options: PostgresStateStore.Options, _ body: (Accounts) async throws -> R
) async throws -> R {
    try await closing(PostgresStateStore.open(options, logger: Logger(label: "test")), body)
}

/// Another program, as it were, that works on the database.
@discardableResult
func sql(
    _ options: PostgresStateStore.Options, _ statements: PostgresStatement...
) async throws -> [PostgresResult] {
    var settings = options.connections
    settings.schema = options.schema
    let pool = try PostgresPool.start(settings, logger: Logger(label: "test"))
    let result: Result<[PostgresResult], any Error>
    do {
        result = .success(try await pool.pipeline(statements, .readWrite, within: options.timeout))
    } catch {
        result = .failure(error)
    }
    await pool.shutdown()
    return try result.get()
}
