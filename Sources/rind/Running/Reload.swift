// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Gateway
import GatewayConfig
import GatewayServer
import INI
import Logging
import NIOConcurrencyHelpers
import NIOPosix
import Telemetry

/// Reloads the configuration of a running gateway, one reload at a time.
///
/// A configuration is read and checked as a whole before anything changes. With a mistake in it, nothing does.
struct Reload: Sendable {
    /// The configuration that is in use, and the gateway with it.
    struct Running: Sendable {
        var configuration: GatewayConfig.Configuration
        var gateway: SyncGateway
    }

    /// The configuration's file.
    let path: String
    let parts: GatewayParts
    let server: GatewayHTTPServer
    let running: NIOLockedValueBox<Running>
    let threshold: LogThreshold
    let metrics: GatewayMetrics
    let logger: Logger

    /// Reads the configuration again, and applies it if it has no mistakes.
    func run() async {
        ServiceNotice.reloading.send()
        let succeeded = await apply()
        if !succeeded { server.refuseReload(at: SystemClock().now) }
        metrics.count(.reloads, labels: .init(first: succeeded ? "ok" : "failed"))
        ServiceNotice.ready.send()
    }

    private func apply() async -> Bool {
        guard let (loaded, diagnostics, origin) = await load() else { return false }
        for diagnostic in diagnostics { logger.report(diagnostic) }
        guard let loaded else {
            logger.error(
                "the configuration was not reloaded, because it has mistakes: the one before stays in use",
                metadata: [
                    "code": "config.not_reloaded", "file": "\(path)",
                    "mistakes": .stringConvertible(diagnostics.count { $0.severity == .error }),
                ])
            return false
        }
        let now = running.withLockedValue { $0 }
        let (configuration, needingRestart, obstacle) = loaded.applicable(while: now.configuration)
        if let obstacle {
            logger.error(
                "the configuration was not reloaded, because it needs a restart: the one before stays in use",
                metadata: ["code": "config.not_reloaded", "file": "\(path)", "cause": "\(obstacle)"])
            return false
        }
        guard let keys = await readKeys(configuration, while: now) else { return false }
        if !needingRestart.isEmpty {
            logger.warning(
                "keys were changed that need a restart: their values of the start stay in use",
                metadata: ["code": "config.needs_restart", "settings": "\(needingRestart.joined(separator: ", "))"])
        }
        threshold.configure(configuration.log.threshold)
        // Files of keys may have changed where nothing else has.
        if configuration != now.configuration || keys.tokens !== now.gateway.tokens {
            let gateway = now.gateway.reconfigured(
                configuration, backend: parts.backend(for: configuration, logger: logger), tokens: keys.tokens)
            server.reload(service: gateway, configuration: configuration)
            running.withLockedValue { $0 = Running(configuration: configuration, gateway: gateway) }
        }
        server.reload(certificate: keys.certificate)
        server.reload(origin: origin)
        logger.notice(
            "the configuration was reloaded",
            metadata: [
                "code": "config.reloaded", "file": "\(path)",
                "changed": .stringConvertible(configuration != now.configuration),
            ])
        return true
    }

    /// Reads the files of keys; nil if one of them cannot be used, which the log says.
    private func readKeys(_ configuration: GatewayConfig.Configuration, while now: Running) async -> KeyFiles.Content? {
        do {
            return try await parts.keyFiles.read(configuration, after: now.gateway.tokens, logger: logger)
        } catch {
            let failure = CommandFailure(error)
            logger.error("\(failure.message)", metadata: failure.code.map { ["code": "\($0)"] } ?? [:])
            logger.error(
                "the configuration was not reloaded, because a file of keys cannot be used: all stays as it was",
                metadata: ["code": "config.not_reloaded", "file": "\(path)"])
            return nil
        }
    }

    /// Loads the file on a thread that may wait; nil if the process is about to end.
    private func load() async -> (GatewayConfig.Configuration?, [Diagnostic], ConfigurationOrigin)? {
        try? await NIOThreadPool.singleton.runIfActive { [path] in
            let loaded = GatewayConfig.Configuration.load(path: path)
            return (loaded.configuration, loaded.diagnostics, .file(path, loaded.text))
        }
    }
}
