// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Foundation
import Gateway
import GatewayConfig
import GatewayServer
import Logging
import NIOConcurrencyHelpers
import NIOPosix
import ServiceLifecycle

/// Reads what a configuration names besides values: the certificate for clients, and the keys of tokens.
struct KeyFiles: Sendable {
    /// The certificate and the keys that were read.
    struct Content: Sendable {
        /// The certificate for clients; nil for plain connections.
        var certificate: ServerCertificate?
        /// Verifies tokens; nil if the configuration does not want that.
        var tokens: TokenKeys?
    }

    /// The way to a JWKS, with a thread from its first use on.
    ///
    /// It is apart from the way to the backend, whose certificate must not be shown to others.
    private let reactor = NIOLockedValueBox<CurlReactor?>(nil)

    /// Reads the files of a configuration.
    ///
    /// A JWKS is not fetched here: the gateway starts without it.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - running: Keys that are in use; those that were fetched count on.
    ///   - logger: The logger for what happens to them later.
    /// - Returns: The certificate and the keys.
    /// - Throws: ``CommandFailure`` with the file and the reason.
    func read(_ configuration: Configuration, after running: TokenKeys? = nil, logger: Logger) async throws -> Content {
        let gateway = configuration.gateway
        var content = Content()
        do {
            content.certificate = try await NIOThreadPool.singleton.runIfActive {
                try gateway.tlsCertificate.map { try ServerCertificate.read(certificate: $0, key: gateway.tlsKey) }
            }
        } catch let error as ServerError {
            throw CommandFailure(.configuration, "\(error.description.asSentence) (\(error.code))", code: error.code)
        }
        guard configuration.identity.verifiesTokens, let source = configuration.identity.jwtKeys else { return content }
        switch source {
        case .file(let path): content.tokens = try await tokens(configuration.identity, in: path, logger)
        case .url(let url):
            if let running, running.identity == configuration.identity {
                content.tokens = running
                break
            }
            content.tokens = TokenKeys(
                configuration.identity, url: url, after: running, by: try transport(configuration.identity.jwtCAFile),
                clock: SystemClock(), logger: logger)
        }
        return content
    }

    private func tokens(_ identity: Configuration.Identity, in path: String, _ logger: Logger) async throws -> TokenKeys
    {
        func failure(_ reason: String) -> CommandFailure {
            CommandFailure(
                .configuration, "Cannot use the keys in \(path): \(reason) (identity.keys).", code: "identity.keys")
        }
        let bytes: [UInt8]? = try await NIOThreadPool.singleton.runIfActive {
            guard let file = try? FileHandle(forReadingFrom: URL(filePath: path)) else { return nil }
            defer { try? file.close() }
            do { return Array(try file.read(upToCount: TokenKeys.maximumBytes) ?? Data()) } catch { return nil }
        }
        guard let bytes else { throw failure(PathFault(path, for: R_OK).whyUnreadable) }
        do {
            return try await TokenKeys(identity, file: bytes, clock: SystemClock(), logger: logger)
        } catch {
            throw failure("\(error)")
        }
    }

    private func transport(_ caFile: String?) throws -> CurlReactor {
        try reactor.withLockedValue { reactor in
            if let reactor { return reactor }
            var settings = CurlReactor.Settings()
            settings.caFile = caFile
            settings.maximumConnections = 1
            let started = try CurlReactor.start(settings)
            reactor = started
            return started
        }
    }

    /// Ends the thread, if there is one.
    func close() async { await reactor.withLockedValue { $0.take() }?.shutdown() }
}

/// Fetches the keys of tokens in the background, for the configuration that is in use.
struct KeyRefreshing: Service {
    /// Returns the keys of the present configuration.
    let keys: @Sendable () -> TokenKeys?

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let keys = keys()
                await keys?.refresh()
                // A request may wait for new keys; without any there is nothing to do until a reload.
                let pause: Int64 = keys?.areFetched == true ? 200 : 2_000
                do { try await SystemClock().sleep(milliseconds: pause) } catch { return }
            }
        }
    }
}
