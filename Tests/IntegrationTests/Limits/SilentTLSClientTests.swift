// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayServer
import GatewayTesting
import NIOCore
import Testing

/// Clients that connect to a port with TLS and do not finish the handshake.
@Suite(.timeLimit(.minutes(2)), .enabled(if: Commands.hasTLS, "openssl or curl is missing"))
struct SilentTLSClientTests {
    /// The first half of a ClientHello: a record of 512 bytes is announced (RFC 8446, 5.1).
    private static let half: [UInt8] =
        [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3] + Array(repeating: 7, count: 245)

    @Test(arguments: [[], half])
    func `a connection without a whole handshake does not outlive the time for a head`(_ sent: [UInt8]) async throws {
        try await Self.withServer { port in
            let start = ContinuousClock.now
            try await RawHTTPClient(port: port).withConnection { connection in
                if !sent.isEmpty { await connection.write(sent) }
                while !connection.isEnded { _ = await connection.bytes() }
            }
            // Before the client itself loses patience.
            #expect(.milliseconds(200)..<Duration.seconds(20) ~= .now - start)
        }
    }

    /// Runs a server that speaks TLS and waits 200 milliseconds for a head.
    private static func withServer(_ body: (Int) async throws -> Void) async throws {
        try await GatewayStack.with { stack in
            try await Commands.makeCertificate("tls", in: stack.directory)
            var limits = ServerLimits()
            limits.timeouts.head = .milliseconds(200)
            let passThrough = try PassThroughReactors.start(stack.configuration)
            let (ports, listening) = AsyncStream.makeStream(of: Int.self)
            let server = GatewayHTTPServer(
                service: stack.gateway, configuration: stack.configuration, passThrough: passThrough,
                certificate: try ServerCertificate.read(
                    certificate: "\(stack.directory)/tls.pem", key: "\(stack.directory)/tls.key"),
                limits: limits, logger: stack.log.logger("rind")
            ) { _, port in listening.yield(port) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                defer { group.cancelAll() }
                let port = try #require(await ports.first { _ in true })
                try await body(port)
            }
            await passThrough.shutdown()
        }
    }
}
