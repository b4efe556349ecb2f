// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Curl
package import GatewayConfig
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The gateway's HTTP server: sync paths, health, and everything else passed through to the backend.
///
/// Run it in a `ServiceGroup` after what it needs (state, backend, libcurl's thread), so that those end after it. On
/// graceful shutdown it stops accepting, lets running requests finish for `[gateway] shutdown_grace`, then cuts them.
package struct GatewayHTTPServer: Service {
    /// What a listener is for.
    package enum Listener: String, Sendable {
        /// Clients' requests.
        case clients
        /// The operator's probes.
        case admin
    }

    /// Called when a listener accepts connections, with its port.
    package typealias OnListening = @Sendable (Listener, Int) async -> Void

    private let configuration: Configuration
    private let limits: ServerLimits
    private let responder: GatewayResponder
    private let admin: AdminResponder
    private let logger: Logger
    private let onListening: OnListening?

    /// A server.
    ///
    /// - Parameters:
    ///   - service: What it serves: a `SyncGateway`.
    ///   - configuration: What the operator wants.
    ///   - reactor: The way to the backend for what passes through.
    ///   - limits: What its clients may; nil is what the configuration says.
    ///   - logger: Gets one line for each request.
    ///   - onListening: Called for each listener, once; port 0 of the configuration is the system's choice by then.
    package init(
        service: any SyncService, configuration: Configuration, reactor: CurlReactor,
        limits: ServerLimits? = nil, logger: Logger, onListening: OnListening? = nil
    ) {
        self.configuration = configuration
        self.limits = limits ?? ServerLimits(configuration.limits)
        self.logger = logger
        self.onListening = onListening
        let origins = CrossOriginRules(origins: configuration.gateway.corsOrigins)
        let health = HealthResponder(service: service)
        let inflated = configuration.limits.inflatedBody
        let sync = SyncResponder(
            service: service,
            collector: BodyCollector(limit: configuration.limits.body, inflatedLimit: inflated),
            budget: ByteBudget(limit: configuration.limits.pushMemory), bodyTime: configuration.limits.bodyTime,
            patience: .init(
                firstByteAfter: configuration.pull.firstByteAfter, keepAliveEvery: configuration.pull.keepAliveEvery),
            origins: origins)
        let proxy = ReverseProxy(
            reactor: reactor, backend: configuration.backend,
            denied: DenyRules(backend: configuration.backend, streamPush: configuration.push.path),
            replacesCrossOrigin: origins.isOn)
        responder = GatewayResponder(sync: sync, proxy: proxy, health: health, origins: origins, logger: logger)
        admin = AdminResponder(health: health, logger: logger)
    }

    /// Serves until graceful shutdown, or until the task is cancelled.
    ///
    /// - Throws: ``ServerError`` where a listener cannot start.
    package func run() async throws {
        try await withThrowingTaskGroup(of: Event.self) { group in
            group.addTask { try await listen(.clients, configuration.gateway.listen, responder.respond) }
            var running = 1
            if let address = configuration.admin.listen {
                running += 1
                group.addTask { try await listen(.admin, address, admin.respond) }
            }
            group.addTask { await waitForGrace() }
            while running > 0, let event = try await group.next() {
                switch event {
                case .ended: running -= 1
                case .graceElapsed:
                    logger.warning("requests were cut off by the shutdown")
                    group.cancelAll()
                case .cancelled: break
                }
            }
            group.cancelAll()
        }
    }

    private enum Event {
        case ended, graceElapsed, cancelled
    }

    private func waitForGrace() async -> Event {
        do {
            try await gracefulShutdown()
            try await Task.sleep(for: configuration.gateway.shutdownGrace)
            return .graceElapsed
        } catch {
            return .cancelled
        }
    }

    private func listen(
        _ listener: Listener, _ address: ListenAddress, _ responder: @escaping ClientChannel.Responder
    ) async throws -> Event {
        // Its own lines say the same as ours, in another manner.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .error)
        let count = ConnectionCount(
            limit: listener == .clients ? limits.connections : ServerLimits.adminConnections, logger: logger)
        let server = Server(
            childChannelSetup: ClientChannel(
                timeouts: limits.timeouts, headLimit: configuration.limits.headerBytes, count: count,
                requestLogger: logger, responder: responder),
            configuration: ServerConfiguration(
                address: .hostname(address.host, port: address.port), backlog: 1_024,
                availableConnectionsDelegate: MaximumAvailableConnections(count.accepted)),
            onServerRunning: { channel in
                // Nobody waits for it: the listener works without, and fails with the channel alone.
                channel.eventLoop.execute {
                    try? channel.pipeline.syncOperations.addHandler(AcceptGuard(logger: logger), position: .first)
                }
                let port = channel.localAddress?.port ?? address.port
                logger.info("listening", metadata: ["listener": "\(listener.rawValue)", "port": "\(port)"])
                await onListening?(listener, port)
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet)
        do {
            try await server.run()
        } catch let error as CancellationError {
            throw error
        } catch {
            throw ServerError.listen(address: address.description, reason: ServerError.reason(error))
        }
        return .ended
    }
}
