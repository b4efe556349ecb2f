// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
package import GatewayConfig
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
package import SyncModel
package import Telemetry

/// Serves clients over HTTP: sync paths, health, and everything else passed through to the backend.
///
/// Run it in a `ServiceGroup` after the services that it needs (state, backend, libcurl's thread), so that they end
/// after it. On graceful shutdown it stops accepting clients, gives running requests `[gateway] shutdown_grace` to
/// finish, then cuts them. Tunnels end when no request is left. The operator's listener answers until then.
package struct GatewayHTTPServer: Service {
    /// The purpose of a listener.
    package enum Listener: String, Sendable {
        /// Clients' requests.
        case clients
        /// The operator's probes.
        case admin
    }

    /// A function that is called when a listener accepts connections, with its port.
    package typealias OnListening = @Sendable (Listener, Int) async -> Void

    private let configuration: Configuration
    private let limits: ServerLimits
    private let responder: CurrentResponder
    private let certificate: CurrentCertificate
    private let passThrough: PassThroughReactors
    private let metrics: GatewayMetrics
    /// The memory of pushes, which running requests share with those after a reload.
    private let pushMemory: ByteBudget
    private let admin: AdminResponder
    private let logger: Logger
    private let onListening: OnListening?
    /// The requests of clients.
    private let requests = OpenRequests()
    private let connections: ConnectionCount
    /// The tunnels of clients, which a reload leaves as they are.
    private let tunnels: Tunnels
    /// The longest time for the operator's probes after everything else has ended.
    private static let adminGrace = Duration.seconds(1)

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - service: The service for sync requests: a `SyncGateway`.
    ///   - configuration: The operator's configuration.
    ///   - passThrough: Carries requests that pass through to the backend.
    ///   - certificate: The certificate for clients; nil for plain connections.
    ///   - limits: The limits for clients; nil for those of the configuration.
    ///   - metrics: Counts each request; the operator's listener answers with them.
    ///   - origin: The origin of the configuration, for the operator's page.
    ///   - logger: Gets one line for each request.
    ///   - onListening: Called once for each listener; the system has chosen the port by then if the configuration has
    ///     0.
    package init(
        service: any SyncService, configuration: Configuration, passThrough: PassThroughReactors,
        certificate: ServerCertificate? = nil, limits: ServerLimits? = nil,
        metrics: GatewayMetrics = GatewayMetrics(), origin: ConfigurationOrigin? = nil, logger: Logger,
        onListening: OnListening? = nil
    ) {
        self.certificate = CurrentCertificate(certificate)
        self.configuration = configuration
        let limits = limits ?? ServerLimits(configuration.limits)
        self.limits = limits
        connections = ConnectionCount(limit: limits.connections, logger: logger)
        tunnels = Tunnels(
            limit: min(configuration.tunnelLimit, max(1, limits.connections / 2)), metrics: metrics)
        self.logger = logger
        self.onListening = onListening
        self.passThrough = passThrough
        self.metrics = metrics
        pushMemory = ByteBudget(limit: configuration.limits.pushMemory)
        let health = HealthResponder(service: service, requests: requests)
        responder = CurrentResponder(
            GatewayResponder(
                service: service, configuration: configuration, passThrough: passThrough, pushMemory: pushMemory,
                tunnels: tunnels, requests: requests, metrics: metrics, logger: logger))
        let figures = MetricsResponder(
            metrics: metrics, service: service, requests: requests, connections: connections, tunnels: tunnels,
            certificate: self.certificate)
        let status = StatusResponder(
            service: service, origin: origin, metrics: metrics, requests: requests, connections: connections)
        admin = AdminResponder(health: health, figures: figures, status: status, metrics: metrics, logger: logger)
    }

    /// Serves requests by another configuration from now on; those that run finish as they began.
    ///
    /// - Parameters:
    ///   - service: The service with the configuration.
    ///   - configuration: The configuration; its keys that need a restart have no effect.
    package func reload(service: any SyncService, configuration: Configuration) {
        admin.figures.replace(service: service)
        admin.status.replace(service: service)
        responder.replace(
            by: GatewayResponder(
                service: service, configuration: configuration, passThrough: passThrough, pushMemory: pushMemory,
                tunnels: tunnels, requests: requests, metrics: metrics, logger: logger))
    }

    /// Shows another origin of the configuration on the operator's page.
    package func reload(origin: ConfigurationOrigin) { admin.status.replace(origin: origin) }

    /// Shows operators that the configuration was read again and refused.
    package func refuseReload(at now: Instant) { admin.status.refuseReload(at: now) }

    /// Gives connections from now on another certificate; nil makes them plain.
    package func reload(certificate: ServerCertificate?) { self.certificate.replace(by: certificate) }

    /// Marks the server as draining: from now on `/readyz` reports it, and the log has a line about it.
    ///
    /// Graceful shutdown begins with the same; only the first call has an effect. Whoever calls it before waits for
    /// `[gateway] shutdown_delay`.
    ///
    /// - Parameter signal: The signal that asks for it, for the log.
    package func beginDraining(signal: String? = nil) {
        let (grace, delay) = (configuration.gateway.shutdownGrace, configuration.gateway.shutdownDelay)
        guard requests.beginDraining(until: .now + delay + grace) else { return }
        var metadata: Logger.Metadata = [
            "code": "server.draining", "grace_ms": .stringConvertible(grace.milliseconds),
            "requests": .stringConvertible(requests.count),
        ]
        if let signal { metadata["signal"] = "\(signal)" }
        if delay > .zero { metadata["delay_ms"] = .stringConvertible(delay.milliseconds) }
        logger.notice(
            delay > .zero
                ? "draining: requests are taken until the delay is over, then running ones may finish"
                : "draining: no new requests are taken, running ones may finish", metadata: metadata)
    }

    /// Serves until graceful shutdown, or until the task is cancelled.
    ///
    /// - Throws: ``ServerError`` if a listener cannot start.
    package func run() async throws {
        var services: [any Service] = []
        // Services end in reverse order: probes get "draining" until the last client has gone.
        if let address = configuration.admin.listen {
            services.append(
                Listening(grace: Self.adminGrace) { try await listen(.admin, at: address) { [admin] in admin } })
        }
        services.append(
            Listening(grace: configuration.gateway.shutdownGrace) {
                try await listen(.clients, at: configuration.gateway.listen) { [responder] in responder.now }
            } onDraining: {
                beginDraining()
                requests.close()
            } eachSecond: {
                sayWhatIsWaitedFor()
            } onGraceElapsed: {
                logger.warning(
                    "requests were cut off by the shutdown",
                    metadata: ["code": "server.cut_off", "requests": .stringConvertible(requests.count)])
            })
        try await ServiceGroup(configuration: .init(services: services, logger: quiet)).run()
    }

    /// Logs what the end waits for: running requests, and before that the rest of `[gateway] shutdown_delay`.
    package func sayWhatIsWaitedFor(delayLeft: Duration? = nil) {
        var metadata = requests.waiting(at: .now)
        metadata["code"] = "server.draining"
        metadata["connections"] = .stringConvertible(connections.open)
        if let delayLeft { metadata["delay_left_ms"] = .stringConvertible(max(0, delayLeft.milliseconds)) }
        logger.notice(
            delayLeft == nil
                ? "draining: waiting for what still runs" : "draining: waiting for the delay to be over",
            metadata: metadata)
    }

    /// The logger for libraries whose lines repeat those of the server in another form.
    private var quiet: Logger {
        var quiet = logger
        quiet.logLevel = .critical
        return quiet
    }

    private func listen(
        _ listener: Listener, at address: ListenAddress,
        _ responder: @escaping @Sendable () -> any RequestResponder
    ) async throws {
        let count =
            listener == .clients
            ? connections : ConnectionCount(limit: ServerLimits.adminConnections, logger: logger)
        let hasProxyHeaders = listener == .clients && configuration.gateway.proxyProtocol
        let server = Server(
            childChannelSetup: ClientChannel(
                timeouts: limits.timeouts, headLimit: configuration.limits.headerBytes, count: count,
                proxies: { [current = self.responder] in current.now.proxies },
                proxyHeaders: hasProxyHeaders ? ProxyHeaders(logger: logger) : nil,
                certificate: { [certificate] in listener == .clients ? certificate.now : nil },
                requestLogger: logger, requests: requests, responder: responder),
            configuration: ServerConfiguration(
                address: address.path.map { .unixDomainSocket(path: $0) }
                    ?? .hostname(address.host, port: address.port), backlog: 1_024,
                availableConnectionsDelegate: MaximumAvailableConnections(count.accepted)),
            onServerRunning: { channel in
                // This is not awaited: the listener works without it, and fails only with the channel.
                channel.eventLoop.execute {
                    try? channel.pipeline.syncOperations.addHandler(AcceptGuard(logger: logger), position: .first)
                }
                let port = channel.localAddress?.port ?? address.port
                var metadata: Logger.Metadata = ["listener": "\(listener.rawValue)", "port": "\(port)"]
                if let path = address.path {
                    // The proxy mostly runs as another user, who shares the group.
                    chmod(path, 0o660)
                    metadata = ["listener": "\(listener.rawValue)", "path": "\(path)"]
                }
                logger.info("listening", metadata: metadata)
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
