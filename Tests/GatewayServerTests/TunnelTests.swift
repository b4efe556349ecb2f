// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import GatewayServer
import GatewayTesting
import Logging
import NIOConcurrencyHelpers
import NIOCore
import Telemetry
import Testing

/// Requests for another protocol, and what becomes of them.
@Suite(.timeLimit(.minutes(2))) struct TunnelTests {
    /// A gateway before a backend whose every byte a test decides.
    struct Stage: Sendable {
        let port: Int
        let log: LogLines
        let metrics: GatewayMetrics

        /// The line about the request for which the log waits.
        func line(_ isWanted: @escaping @Sendable (LogLines.Line) -> Bool) async throws -> LogLines.Line {
            try await eventually { log.lines.contains(where: isWanted) }
            return try #require(log.lines.first(where: isWanted))
        }

        /// The number of tunnels that have ended for a reason.
        func ended(_ reason: String) -> Double {
            metrics.values(of: .tunnels).first { $0.labels == [reason] }?.value ?? 0
        }
    }

    static let accepted =
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: k\r\n\r\n"
    static let closed = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain"

    static func upgrade(_ target: String = "/live", _ fields: String = "", method: String = "GET") -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: h.example\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
            + "Sec-WebSocket-Key: k\r\n\(fields)\r\n"
    }

    static func with(
        _ backend: @escaping @Sendable (Peer) async throws -> Void,
        _ body: @escaping @Sendable (Stage) async throws -> Void
    ) async throws {
        try await with(changing: { _ in }, backend, body)
    }

    static func with(
        changing change: (inout Configuration) -> Void,
        _ backend: @escaping @Sendable (Peer) async throws -> Void,
        _ body: @escaping @Sendable (Stage) async throws -> Void
    ) async throws {
        var configuration = Support.configuration(denied: ["/closed"])
        change(&configuration)
        let (log, metrics) = (LogLines(), GatewayMetrics())
        try await LoopbackServer.run(backend) { [configuration] server in
            var configuration = configuration
            configuration.backend.url = BaseURL(isTLS: false, host: "127.0.0.1", port: server.port, path: "/api")
            try await Support.withServer(StubService(), configuration, log: log, metrics: metrics) { port in
                try await body(Stage(port: port, log: log, metrics: metrics))
            }
        }
    }

    /// A backend that accepts every tunnel and sends back what comes.
    static func echo(_ peer: Peer) async throws {
        _ = try await peer.readHead()
        try await peer.write(accepted)
        while let bytes = try await peer.read() { try await peer.write(bytes) }
    }

    @Test func `the head passes as any other, then every byte, also those that came too early`() async throws {
        let heads = Events(of: String.self)
        try await Self.with { peer in
            heads.add(try await peer.readHead() ?? "")
            try await peer.write(Self.accepted + "hello ")
            while let bytes = try await peer.read() { try await peer.write(bytes) }
        } _: { stage in
            try await RawClient.connect(to: stage.port) { client in
                let fields = "X-Hop: 1\r\nX-Real-IP: 1.2.3.4\r\nAuthorization: Bearer t\r\nX-Request-Id: r-1\r\n"
                try await client.send(
                    Self.upgrade("/live?token=secret", fields)
                        .replacing("keep-alive, Upgrade", with: "keep-alive, X-Hop, Upgrade") + "early ")
                let head = try await RawAnswer(client.read(through: "\r\n\r\n"))
                #expect(head.status == 101 && head.field("Upgrade") == "websocket")
                #expect(head.field("Connection") == "Upgrade" && head.field("Sec-WebSocket-Accept") == "k")
                #expect(head.field("X-Request-Id") == "r-1" && head.field("Via") == "1.1 rind")
                #expect(head.field("Content-Length") == nil && head.field("Transfer-Encoding") == nil)
                #expect(try await client.read(count: 12) == "hello early ")
                for text in ["more", "\0\u{1}GET / HTTP/1.1\r\n\r\n"] {
                    try await client.send(text)
                    #expect(try await client.read(count: text.utf8.count) == text)
                }
                client.finish()
                #expect(try await client.readToEnd() == "" && !client.wasReset)
            }
            let head = try #require(await heads.next())
            #expect(head.hasPrefix("GET /api/live?token=secret HTTP/1.1\r\n"))
            for line in [
                "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: k", "X-Forwarded-For: 127.0.0.1",
                "X-Forwarded-Host: h.example", "Authorization: Bearer t", "X-Request-Id: r-1",
            ] { #expect(head.contains("\r\n\(line)\r\n"), "\(line)") }
            #expect(!head.contains("X-Hop") && !head.contains("1.2.3.4") && !head.lowercased().contains("length"))
            let line = try await stage.line { $0.metadata["status"] == "101" }
            #expect(line.metadata["end"] == "client" && line.metadata["cut"] == nil && line.metadata["path"] == "/live")
            #expect(line.metadata["bytes_in"] == "30" && line.metadata["bytes_out"] == "36")
            #expect(line.level == .info && line.metadata["code"] == nil)
            #expect(stage.ended("client") == 1)
            let bytes = stage.metrics.values(of: .tunnelBytes)
            #expect(bytes.first { $0.labels == ["in"] }?.value == 30)
            #expect(bytes.first { $0.labels == ["out"] }?.value == 36)
        }
    }

    @Test func `an answer that switches nothing is an ordinary one, and what came too early goes nowhere`() async throws
    {
        let rest = Events(of: Int.self)
        try await Self.with { peer in
            _ = try await peer.readHead()
            try await peer.write(
                "HTTP/1.1 426 Upgrade Required\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n")
            var count = 0
            while let bytes = try await peer.read() { count += bytes.readableBytes }
            rest.add(count)
        } _: { stage in
            let answer = try await RawClient.exchange(stage.port, Self.upgrade() + "GET /closed HTTP/1.1\r\n\r\n")
            #expect(answer.status == 426 && answer.body == "no" && answer.field("Connection") == "close")
            #expect(await rest.next() == 0)
            let line = try await stage.line { $0.metadata["status"] == "426" }
            #expect(line.metadata["end"] == nil)
            #expect(stage.metrics.values(of: .tunnels).isEmpty)
        }
    }

    static let websocket = "Connection: Upgrade\r\nUpgrade: websocket\r\n"

    /// Requests with `Upgrade` that never become tunnels, and the status of their answers.
    static let ordinary: [(request: String, status: Int)] = [
        // These would carry requests that no rule has seen.
        ("GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n", 200),
        ("GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: H2C, HTTP/2.0, TLS/1.2\r\n\r\n", 200),
        ("GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: a b, ;\r\n\r\n", 200),
        ("GET /x HTTP/1.0\r\nHost: a\r\n\(websocket)\r\n", 200),
        ("GET /x HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n", 200),
        ("POST /x HTTP/1.1\r\nHost: a\r\n\(websocket)Content-Length: 2\r\n\r\n{}", 200),
        ("POST /x HTTP/1.1\r\nHost: a\r\n\(websocket)Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 200),
        ("HEAD /x HTTP/1.1\r\nHost: a\r\n\(websocket)\r\n", 200),
        ("GET /closed/x HTTP/1.1\r\nHost: a\r\n\(websocket)\r\n", 403),
        ("GET /a/%2e%2e/x HTTP/1.1\r\nHost: a\r\n\(websocket)\r\n", 400),
        ("GET /sync HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n\(websocket)\r\n", 200),
        ("GET /livez HTTP/1.1\r\nHost: a\r\n\(websocket)\r\n", 200),
    ]

    @Test(arguments: ordinary)
    func `what cannot become a tunnel is served without it`(request: String, status: Int) async throws {
        try await Self.with { peer in
            while let request = try await peer.readRequest() {
                let head = request.head.lowercased()
                #expect(!head.contains("upgrade") && !head.contains("http2-settings"), "\(head)")
                try await peer.write(head.hasPrefix("head") ? Self.closed.replacing("plain", with: "") : Self.closed)
            }
        } _: { stage in
            let answer = try await RawClient.exchange(stage.port, request)
            #expect(answer.status == status)
            #expect(answer.field("Upgrade") == nil && answer.field("Connection") == "close")
        }
    }

    @Test func `without tunnels a wish for one is ignored`() async throws {
        try await Self.with(changing: { $0.limits.tunnels = 0 }) { peer in
            while let request = try await peer.readRequest() {
                #expect(!request.head.lowercased().contains("upgrade"))
                try await peer.write(Self.closed)
            }
        } _: { stage in
            let answer = try await RawClient.exchange(stage.port, Self.upgrade())
            #expect(answer.body == "plain")
        }
    }

    @Test(arguments: [(2, 2, "limit.tunnels"), (3, 2, "limit.client_tunnels")])
    func `too many are refused until one has ended, and everything else passes`(
        all: Int, perClient: Int, code: String
    ) async throws {
        try await Self.with(changing: {
            $0.limits.tunnels = all
            $0.limits.tunnelsPerClient = perClient
            $0.backend.maxConnections = 12
        }) { peer in
            let head = try await peer.readHead() ?? ""
            guard head.contains("Upgrade: ") else { return try await peer.write(Self.closed) }
            try await peer.write(Self.accepted)
            await peer.waitForEnd()
        } _: { stage in
            try await RawClient.connect(to: stage.port) { first in
                try await first.send(Self.upgrade())
                _ = try await first.read(through: "\r\n\r\n")
                try await RawClient.connect(to: stage.port) { second in
                    try await second.send(Self.upgrade())
                    _ = try await second.read(through: "\r\n\r\n")
                    let refused = try await RawClient.exchange(stage.port, Self.upgrade())
                    #expect(refused.status == 503 && refused.field("Rind-Error") == code)
                    #expect(refused.field("Retry-After") == "10" && stage.ended("refused") == 1)
                    for _ in 0..<3 {
                        let plain = try await RawClient.exchange(
                            stage.port, "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                        #expect(plain.body == "plain")
                    }
                    try await second.close()
                }
                try await eventually { stage.ended("client") == 1 }
                try await RawClient.connect(to: stage.port) { third in
                    try await third.send(Self.upgrade())
                    #expect(try await RawAnswer(third.read(through: "\r\n\r\n")).status == 101)
                }
            }
        }
    }

    /// Accepts a tunnel and says nothing in it until its end.
    private static func silent(_ peer: Peer, _ ended: Events<Void>) async throws {
        _ = try await peer.readHead()
        try await peer.write(accepted)
        await peer.waitForEnd()
        ended.add(())
    }

    @Test func `a tunnel in which no byte moves is closed on both sides`() async throws {
        let ended = Events(of: Void.self)
        try await Self.with(changing: { $0.limits.tunnelIdle = .milliseconds(400) }) {
            try await Self.silent($0, ended)
        } _: { stage in
            try await RawClient.connect(to: stage.port) { client in
                try await client.send(Self.upgrade())
                _ = try await client.read(through: "\r\n\r\n")
                #expect(try await client.readToEnd() == "" && !client.wasReset)
            }
            await ended.next()
            #expect(try await stage.line { $0.metadata["status"] == "101" }.metadata["end"] == "idle")
            #expect(stage.ended("idle") == 1)
        }
    }

    @Test func `bytes in one direction keep a tunnel`() async throws {
        try await Self.with(changing: { $0.limits.tunnelIdle = .milliseconds(500) }) { peer in
            _ = try await peer.readHead()
            try await peer.write(Self.accepted)
            for _ in 0..<12 {
                try await Task.sleep(for: .milliseconds(100))
                try await peer.write(".")
            }
        } _: { stage in
            try await RawClient.connect(to: stage.port) { client in
                try await client.send(Self.upgrade())
                _ = try await client.read(through: "\r\n\r\n")
                #expect(try await client.readToEnd() == "............")
            }
            #expect(try await stage.line { $0.metadata["status"] == "101" }.metadata["end"] == "backend")
        }
    }

    @Test func `the backend's end comes after its last byte, and a break is no end`() async throws {
        let size = 3 << 20
        try await Self.with { peer in
            let isWhole = try await peer.readHead()?.contains("/whole") == true
            try await peer.write(Self.accepted)
            try await peer.write(ByteBuffer(repeating: 65, count: size))
            if !isWhole { try await peer.reset() }
        } _: { stage in
            for target in ["/whole", "/broken"] {
                try await RawClient.connect(to: stage.port) { client in
                    try await client.send(Self.upgrade(target))
                    _ = try await client.read(through: "\r\n\r\n")
                    let count = try await client.countToEnd()
                    #expect(client.wasReset == (target == "/broken") && (client.wasReset || count == size))
                }
            }
            let ends = ["backend", "lost"]
            try await eventually { ends.allSatisfy { stage.ended($0) == 1 } }
            let line = try await stage.line { $0.metadata["end"] == "lost" }
            #expect(line.metadata["cut"] == "true" && line.metadata["status"] == "101")
        }
    }

    @Test func `a client that has gone ends the backend's side`() async throws {
        let ended = Events(of: Void.self)
        try await Self.with {
            try await Self.silent($0, ended)
        } _: { stage in
            try await RawClient.connect(to: stage.port) { client in
                try await client.send(Self.upgrade())
                _ = try await client.read(through: "\r\n\r\n")
                try await client.close()
            }
            await ended.next()
            try await eventually { stage.ended("client") == 1 }
        }
    }

    @Test func `a side that does not read stops the other one`() async throws {
        // Much more than the system's buffers of both connections.
        let size = 256 << 20
        let piece = ByteBuffer(repeating: 66, count: 1 << 20)
        let (sent, taken) = (NIOLockedValueBox(0), NIOLockedValueBox(0))
        let mayRead = Events(of: Void.self)
        try await Self.with { peer in
            _ = try await peer.readHead()
            try await peer.write(Self.accepted)
            await mayRead.next()
            while taken.withLockedValue({ $0 }) < size, let bytes = try await peer.read() {
                taken.withLockedValue { $0 += bytes.readableBytes }
            }
            for _ in 0..<(size >> 20) {
                try await peer.write(piece)
                sent.withLockedValue { $0 += 1 << 20 }
            }
        } _: { stage in
            try await RawClient.connect(to: stage.port) { client in
                try await client.send(Self.upgrade())
                _ = try await client.read(through: "\r\n\r\n")
                let written = NIOLockedValueBox(0)
                let send = client.sender
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        for _ in 0..<(size >> 20) {
                            try await send(piece)
                            written.withLockedValue { $0 += 1 << 20 }
                        }
                    }
                    #expect(try await steady(written, end: size) < size / 2)
                    mayRead.add(())
                    try await group.waitForAll()
                }
                #expect(try await steady(sent, end: size) < size / 2)
                #expect(try await client.countToEnd() == size)
            }
        }
    }

    @Test func `a client that takes nothing does not outlive the idle time`() async throws {
        let ended = Events(of: Void.self)
        try await Self.with(changing: { $0.limits.tunnelIdle = .milliseconds(400) }) { peer in
            _ = try await peer.readHead()
            try await peer.write(Self.accepted)
            while (try? await peer.write(ByteBuffer(repeating: 67, count: 1 << 20))) != nil {}
            ended.add(())
        } _: { stage in
            try await RawClient.connect(to: stage.port) { client in
                try await client.send(Self.upgrade())
                _ = try await client.read(through: "\r\n\r\n")
                await ended.next()
                let line = try await stage.line { $0.metadata["status"] == "101" }
                #expect(line.metadata["end"] == "idle" && line.metadata["cut"] == "true")
            }
        }
    }
}

/// Looks again and again until something is so; a test that waits in vain fails by its time limit.
private func eventually(_ isTrue: () async throws -> Bool) async throws {
    while try await !isTrue() { try await Task.sleep(for: .milliseconds(10)) }
}
