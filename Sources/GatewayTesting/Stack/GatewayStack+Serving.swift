// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Backend
import Curl
import DemoBackend
import Gateway
import GatewayConfig
import GatewayServer
import NIOConcurrencyHelpers
import SQLiteState
import StateStore

extension GatewayStack {
    /// Serves until the body is through.
    static func serve<Value: Sendable>(
        _ options: StackOptions, configuration: Configuration, backend: DemoBackend, directory: String,
        reactors: (sync: CurlReactor, passThrough: PassThroughReactors), store: Accounts,
        _ body: (GatewayStack) async throws -> Value
    ) async throws -> Value {
        let log = CapturedLog()
        let gateway = SyncGateway(
            configuration: configuration, store: store,
            backend: BackendClient(
                settings: configuration.backendSettings, transport: reactors.sync, clock: options.clock,
                logger: log.logger("rind")),
            ports: GatewayPorts(
                files: DiskSpoolFiles(directory: configuration.spool.dir ?? directory), clock: options.clock),
            tokens: options.tokens)
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let server = GatewayHTTPServer(
            service: gateway, configuration: configuration, passThrough: reactors.passThrough,
            logger: log.logger("rind")
        ) { listener, port in
            if listener == .clients { listening.yield(port) }
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { listening.finish() }
                try await server.run()
            }
            defer { group.cancelAll() }
            guard let port = await ports.first(where: { _ in true }) else {
                try await group.next()
                throw CancellationError()
            }
            return try await body(
                GatewayStack(
                    backend: backend, store: store, configuration: configuration, gateway: gateway, log: log,
                    http: RawHTTPClient(port: port), directory: directory))
        }
    }
}
