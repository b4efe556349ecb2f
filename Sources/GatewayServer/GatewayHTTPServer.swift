// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Curl
import Gateway
package import GatewayConfig
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import SyncModel

/// The gateway's HTTP server: sync paths, health, and everything else passed through to the backend.
///
/// Run it in a `ServiceGroup` after what it needs (state, backend, libcurl's thread), so that those end after it. On
/// graceful shutdown it stops accepting clients, lets running requests finish for `[gateway] shutdown_grace`, then cuts
/// them. The operator's listener answers until that is over.
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
    /// The requests of clients.
    private let requests = OpenRequests()
    private let connections: ConnectionCount
    /// How long the operator's probes may take when everything else has ended.
    private static let adminGrace = Duration.seconds(1)

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
        let limits = limits ?? ServerLimits(configuration.limits)
        self.limits = limits
        connections = ConnectionCount(limit: limits.connections, logger: logger)
        self.logger = logger
        self.onListening = onListening
        let origins = CrossOriginRules(origins: configuration.gateway.corsOrigins)
        let health = HealthResponder(service: service, requests: requests)
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
        responder = GatewayResponder(
            sync: sync, proxy: proxy, health: health, origins: origins, requests: requests, logger: logger)
        admin = AdminResponder(health: health, logger: logger)
    }

    /// Marks the server as draining: from now on `/readyz` says so, and a line of the log tells it.
    ///
    /// Graceful shutdown begins with the same; only the first call has an effect.
    ///
    /// - Parameter signal: The signal that asks for it, for the log.
    package func beginDraining(signal: String? = nil) {
        let grace = configuration.gateway.shutdownGrace
        guard requests.beginDraining(until: .now + grace) else { return }
        var metadata: Logger.Metadata = [
            "code": "server.draining", "grace_ms": .stringConvertible(grace.milliseconds),
            "requests": .stringConvertible(requests.count),
        ]
        if let signal { metadata["signal"] = "\(signal)" }
        logger.notice("draining: no new requests are taken, running ones may finish", metadata: metadata)
    }

    /// Serves until graceful shutdown, or until the task is cancelled.
    ///
    /// - Throws: ``ServerError`` where a listener cannot start.
    package func run() async throws {
        var services: [any Service] = []
        // Services end in reverse order: probes hear "draining" until the last client has gone.
        if let address = configuration.admin.listen {
            services.append(
                Listening(grace: Self.adminGrace) { try await listen(.admin, at: address, admin.respond) })
        }
        services.append(
            Listening(grace: configuration.gateway.shutdownGrace) {
                try await listen(.clients, at: configuration.gateway.listen, responder.respond)
            } onDraining: {
                beginDraining()
            } eachSecond: {
                sayWhatIsWaitedFor()
            } onGraceElapsed: {
                logger.warning(
                    "requests were cut off by the shutdown",
                    metadata: ["code": "server.cut_off", "requests": .stringConvertible(requests.count)])
            })
        try await ServiceGroup(configuration: .init(services: services, logger: quiet)).run()
    }

    private func sayWhatIsWaitedFor() {
        var metadata = requests.waiting(at: .now)
        metadata["code"] = "server.draining"
        metadata["connections"] = .stringConvertible(connections.open)
        logger.notice("draining: waiting for what still runs", metadata: metadata)
    }

    /// For libraries whose lines repeat what is said here, in another manner.
    private var quiet: Logger {
        var quiet = logger
        quiet.logLevel = .critical
        return quiet
    }

    private func listen(
        _ listener: Listener, at address: ListenAddress, _ responder: @escaping ClientChannel.Responder
    ) async throws {
        let count =
            listener == .clients
            ? connections : ConnectionCount(limit: ServerLimits.adminConnections, logger: logger)
        let server = Server(
            childChannelSetup: ClientChannel(
                timeouts: limits.timeouts, headLimit: configuration.limits.headerBytes, count: count,
                requestLogger: logger, requests: requests, responder: responder),
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
    }
}
