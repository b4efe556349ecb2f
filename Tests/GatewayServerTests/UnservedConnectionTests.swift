// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOCore
import NIOPosix
import Testing

@testable import GatewayServer

/// Serves nothing.
private struct Nobody: RequestResponder {
    func respond(to request: IncomingRequest, with stream: AnswerStream) async throws {}
}

/// Connections that are accepted while the listener closes.
@Suite(.timeLimit(.minutes(1))) struct UnservedConnectionTests {
    @Test func `a connection that nobody takes is closed, and the process goes on`() async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let setup = ClientChannel(
            timeouts: ConnectionTimeouts(), headLimit: 1_024,
            count: ConnectionCount(limit: 10, logger: logger), proxies: { .thisMachine },
            proxyHeaders: nil, certificate: { nil }, requestLogger: logger, requests: OpenRequests(),
            responder: { Nobody() })
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in setup.setup(channel: channel, logger: logger).map { _ in } }
            .bind(host: "127.0.0.1", port: 0).get()
        let clock = ContinuousClock()
        let start = clock.now
        try await RawClient.connect(to: try #require(listener.localAddress?.port)) { client in
            let said = try await client.readToEnd()
            #expect(said == "")
        }
        // Not by the timer for silent clients.
        #expect(clock.now - start < .seconds(20))
        try await listener.close()
    }
}
