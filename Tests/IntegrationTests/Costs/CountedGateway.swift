// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import NIOConcurrencyHelpers
import SQLiteState

/// Runs gateways whose statements or allocations are counted.
///
/// The caller's token names the principal and the gateway keeps the checkpoints, as in the scenario `Small` of the
/// benchmarks, so that a pull makes one call to the backend.
enum CountedGateway {
    private static let overrides = ["identity.principal": "bearer"]

    /// Runs a gateway; the body finds in a box each statement of its state.
    static func withStatements(
        _ body: (GatewayStack, NIOLockedValueBox<[String]>) async throws -> Void
    ) async throws {
        let statements = NIOLockedValueBox<[String]>([])
        var options = StackOptions(overrides)
        options.configuration = try StackConfiguration.withRequestCheckpoints()
        options.state.trace = { sql in statements.withLockedValue { $0.append(sql) } }
        try await GatewayStack.with(options) { stack in try await body(stack, statements) }
    }

    /// Runs the program, which counts its allocations.
    static func withAllocations(
        _ seed: DemoSeed, _ body: (GatewayProcess, DemoBackend, AllocationCounter) async throws -> Void
    ) async throws {
        try await GatewayStack.withBackend { backend, directory in
            try await backend.seed(seed)
            let counter = try AllocationCounter(in: directory)
            try await GatewayProcess.with(
                backend: try await backend.url, directory: directory, overrides: overrides,
                configuration: try StackConfiguration.withRequestCheckpoints(), variables: counter.variables
            ) { gateway in try await body(gateway, backend, counter) }
        }
    }
}

extension RawHTTPClient {
    /// Makes a first sync, and passes to the body its cursor and a function that pulls on a connection that stays.
    func withPulls(
        _ body: (_ first: Int64, _ pull: @escaping (Int64) async throws -> PulledChanges) async throws -> Void
    ) async throws {
        let headers = GatewayStack.headers()
        let first = try PulledChanges(await send("GET", GatewayStack.pullTarget(), headers: headers))
        try await withConnection { connection in
            try await body(first.cursor) { cursor in
                await connection.write(request("GET", GatewayStack.pullTarget(cursor), headers: headers))
                return try PulledChanges(await connection.answer())
            }
        }
    }
}
