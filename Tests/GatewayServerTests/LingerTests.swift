// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import GatewayServer
import NIOCore
import SyncModel
import Testing

/// Clients that are still sending when their answer has come, and read it only at the end.
@Suite(.timeLimit(.minutes(2))) struct LingerTests {
    /// Sends a body in pieces, for longer than two seconds, then reads the answer.
    private static func uploadSlowly(_ port: Int, to path: String) async throws -> RawAnswer {
        let (pieces, size) = (40, 256 << 10)
        var answer: RawAnswer?
        try await RawClient.connect(to: port) { client in
            try await client.send(
                "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: \(pieces * size)\r\n\r\n")
            // Meanwhile the answer comes, and whoever reads the body is told to stop.
            try await Task.sleep(for: .milliseconds(300))
            let piece = ByteBuffer(repeating: UInt8(ascii: "x"), count: size)
            for _ in 0..<pieces {
                try await client.send(piece)
                try await Task.sleep(for: .milliseconds(60))
            }
            answer = try await client.readAnswer()
        }
        return try #require(answer)
    }

    private static func limits() -> ServerLimits {
        var limits = ServerLimits()
        // The client of a busy machine may pause for half a minute, and closes at the end.
        limits.timeouts.linger = .minutes(2)
        limits.timeouts.lingerIdle = .minutes(2)
        return limits
    }

    @Test func `a backend's early answer reaches a client that sends all of its body first`() async throws {
        try await ScriptedBackend.run { peer in
            _ = try await peer.head()
            try await peer.send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
        } _: { backendPort in
            var configuration = Support.configuration()
            configuration.backend.url = BaseURL(isTLS: false, host: "127.0.0.1", port: backendPort, path: "")
            try await Support.withServer(StubService(), configuration, limits: Self.limits()) { port in
                let answer = try await Self.uploadSlowly(port, to: "/media")
                #expect(answer.status == 413 && answer.rest == "big")
            }
        }
    }

    @Test func `the gateway's own early answer does, too`() async throws {
        var configuration = Support.configuration()
        configuration.limits.body = 2 << 20
        try await Support.withServer(StubService(), configuration, limits: Self.limits()) { port in
            let answer = try await Self.uploadSlowly(port, to: "/sync")
            #expect(answer.status == 413 && answer.field("Rind-Error") == "request.body_too_large")
        }
    }
}
