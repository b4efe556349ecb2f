// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Gateway
import GatewayConfig
import GatewayServer
import Logging
import NIOConcurrencyHelpers
import SQLiteState
import ServiceLifecycle
import StateStore
import Telemetry
import UnixSignals

/// `rind serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Runs the gateway.",
        discussion: """
            EXAMPLES
              rind serve --config /etc/rind/rind.ini
              RIND_LOG_LEVEL=debug rind serve --config rind.ini

            It runs in the foreground and logs to standard error. After SIGTERM and SIGINT
            it serves for '[gateway] shutdown_delay' while /readyz says 503, lets running
            requests finish for 'shutdown_grace', then it ends with status 0; meanwhile the
            log says each second what is waited for. A second one, or SIGQUIT, cuts what
            runs and ends at once, also with status 0.

            SIGHUP reads the configuration again. With a mistake in it the one before stays
            in use, and the log says where the mistake is. What runs finishes as it began.
            'rind keys' marks what needs a restart; if that was changed, the log names it.

            It tells systemd (Type=notify) when clients can connect, when it reloads, and
            when it drains.
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String

    func run() async throws {
        let startLog = StartLog(takesFormat: true)
        try await reportingFailures(to: startLog) {
            Console.ignoreBrokenPipes()
            Console.ignoreHarmlessSignals()
            let (configuration, text) = try GatewayConfig.Configuration.loadReportingText(
                config, warns: true, to: startLog)
            let origin = ConfigurationOrigin.file(config, text)
            let threshold = LogThreshold(configuration.log.threshold)
            let logger = Logger(configuration.log, threshold: threshold)
            LoggingSystem.bootstrap { _ in LogLineHandler(threshold: threshold, format: configuration.log.format) }
            var descriptors = Descriptors(configuration)
            descriptors.raise()
            let limits = Self.limits(of: configuration, descriptors, logger)
            let parts = try await GatewayParts.open(configuration, logger: logger)
            logger.notice(
                "starting",
                metadata: [
                    "version": "\(Version.number)", "listen": "\(configuration.gateway.listen)",
                    "backend": "\(configuration.backend.url)", "state": "\(parts.stateLocation)",
                    "holder": "\(parts.leaseHolder)",
                ])
            let signals = await UnixSignalsSequence(trapping: SignalRules.signals)
            // A signal that comes while the state is being closed must not end the process.
            defer { withExtendedLifetime(signals) {} }
            do {
                try await serve(
                    parts, from: origin, limits: limits, signals: signals, threshold: threshold, logger: logger)
            } catch {
                await parts.close()
                throw error
            }
            await parts.close()
            logger.notice("stopped")
        }
    }

    /// Returns the limits of the configuration, with no more connections than the descriptors allow.
    private static func limits(
        of configuration: GatewayConfig.Configuration, _ descriptors: Descriptors, _ logger: Logger
    ) -> ServerLimits {
        var limits = ServerLimits(configuration.limits)
        guard descriptors.fittingConnections < limits.connections else { return limits }
        limits.connections = descriptors.fittingConnections
        logger.warning(
            "there are descriptors for fewer connections than configured",
            metadata: [
                "code": "server.descriptors", "needed": "\(descriptors.needed)", "allowed": "\(descriptors.allowed)",
                "connections": "\(limits.connections)",
            ])
        return limits
    }

    private func serve(
        _ parts: GatewayParts, from origin: ConfigurationOrigin, limits: ServerLimits, signals: UnixSignalsSequence,
        threshold: LogThreshold, logger: Logger
    ) async throws {
        let metrics = GatewayMetrics(version: Version.number)
        metrics.add(.madeStates, parts.isStateNew ? 1 : 0)
        let server = GatewayHTTPServer(
            service: parts.gateway, configuration: parts.configuration, passThrough: parts.passThrough,
            certificate: parts.certificate, limits: limits, metrics: metrics, origin: origin, logger: logger,
            onListening: { listener, _ in if listener == .clients { ServiceNotice.ready.send() } })
        let running = NIOLockedValueBox(
            Reload.Running(configuration: parts.configuration, gateway: parts.gateway))
        let reload = Reload(
            path: config, parts: parts, server: server, running: running, threshold: threshold, metrics: metrics,
            logger: logger)
        // Its lines repeat what is said here, with names of services that mean nothing to an operator.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .error)
        var group = ServiceGroupConfiguration(
            services: [
                parts.deferredStoring(logger: logger),
                parts.housekeeping(ledger: { running.withLockedValue(\.configuration.ledger) }, logger: logger),
                Tidying(gateway: parts.gateway, logger: logger),
                KeyRefreshing { running.withLockedValue(\.gateway).tokens }, server,
            ],
            logger: quiet)
        // The server keeps the grace itself; this is for the case that something else hangs.
        group.maximumGracefulShutdownDuration = parts.configuration.gateway.shutdownGrace + .seconds(10)
        try await SignalledServices(
            services: ServiceGroup(configuration: group), signals: signals, threshold: threshold, logger: logger,
            onDraining: {
                ServiceNotice.stopping.send()
                server.beginDraining(signal: "\($0)")
            }, delay: parts.configuration.gateway.shutdownDelay,
            onDelay: { server.sayWhatIsWaitedFor(delayLeft: $0) }, reload: { await reload.run() }
        ).run()
    }
}
