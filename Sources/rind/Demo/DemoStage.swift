// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayConfig
import GatewayServer
import Logging
import ServiceLifecycle
import Telemetry
import UnixSignals

/// The demo's cast: the backend, the gateway before it, and the tour that uses both, in one process.
struct DemoStage {
    private let directory: URL
    private let port: Int
    private let endsAfterTour: Bool
    private let backend: DemoBackend
    private let logger: Logger

    init(port: Int, endsAfterTour: Bool) throws {
        self.port = port
        self.endsAfterTour = endsAfterTour
        directory = FileManager.default.temporaryDirectory.appending(path: "rind-demo-\(UUID().uuidString)")
        var demo = DemoConfiguration()
        demo.allowsSteering = true
        backend = try DemoBackend(configuration: demo)
        logger = Logger(Configuration.Log(), level: .warning)
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Runs until Ctrl-C, or to the end of the tour.
    func run() async throws {
        try await backend.seed()
        let (ports, ready) = AsyncThrowingStream.makeStream(of: (GatewayHTTPServer.Listener, Int).self)
        let files = DemoFiles(directory: directory)
        let gateway = DemoGateway(backend: backend, files: files, port: port, logger: logger, ready: ready)
        let tour = DemoTour(backend: backend, files: files, gatewayPorts: ports, staysUp: !endsAfterTour)
        var quiet = logger
        quiet.logLevel = .critical
        // What is below ends after what is above it.
        let services: [ServiceGroupConfiguration.ServiceConfiguration] = [
            .init(service: backend), .init(service: gateway),
            .init(service: tour, successTerminationBehavior: .gracefullyShutdownGroup),
        ]
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
        group.maximumGracefulShutdownDuration = .seconds(5)
        try await ServiceGroup(configuration: group).run()
    }

    /// Runs the backend alone, with its records, until Ctrl-C.
    static func runBackend(port: Int) async throws {
        var demo = DemoConfiguration()
        demo.allowsSteering = true
        demo.port = port
        let logger = Logger(Configuration.Log(), level: .critical)
        let backend = try DemoBackend(configuration: demo)
        try await backend.seed()
        let group = ServiceGroup(
            services: [backend], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            Console.out("The demo backend listens on \(try await backend.url)")
            Console.out("Sign in with 'Authorization: Bearer ada-token', or with bob-token as another user.")
            try await tasks.waitForAll()
        }
    }

    /// Removes the state and everything else that the demo has written.
    func removeFiles() { try? FileManager.default.removeItem(at: directory) }
}

/// The gateway of the demo, which can start only when the backend has its port.
struct DemoGateway: Service {
    let backend: DemoBackend
    let files: DemoFiles
    let port: Int
    let logger: Logger
    /// Gets the port of each listener, or the reason why there is none.
    let ready: AsyncThrowingStream<(GatewayHTTPServer.Listener, Int), any Error>.Continuation

    func run() async throws {
        do {
            let parts = try await GatewayParts.open(configuration(), logger: logger)
            do {
                try await serve(parts)
            } catch {
                await parts.close()
                throw error
            }
            await parts.close()
        } catch {
            ready.finish(throwing: error)
            throw error
        }
    }

    private func serve(_ parts: GatewayParts) async throws {
        try await GatewayHTTPServer(
            service: parts.gateway, configuration: parts.configuration, passThrough: parts.passThrough,
            metrics: GatewayMetrics(version: Version.number), origin: files.origin, logger: logger
        ) { [ready] in
            ready.yield(($0, $1))
        }.run()
    }

    private func configuration() async throws -> Configuration {
        var configuration = try files.write(gatewayPort: port, backendURL: try await backend.url)
        configuration.gateway.shutdownGrace = .seconds(2)
        return configuration
    }
}
