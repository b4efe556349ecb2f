// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayServer
import NIOCore
import Testing
import WatermelonWire

private let get = "GET /sync?last_pulled_at=7 HTTP/1.1\r\nHost: a\r\n"
private let closing = "Connection: close\r\n\r\n"

@Suite(.timeLimit(.minutes(1))) struct ConnectionTests {
    @Test func `a connection serves one request after the other`() async throws {
        try await Support.withServer { port in
            try await RawClient.connect(to: port) { client in
                for _ in 0..<3 {
                    try await client.send(get + "\r\n")
                    let answer = try await client.readAnswer()
                    #expect(answer.status == 200 && answer.body == "{}" && answer.field("Connection") == nil)
                }
            }
        }
    }

    @Test func `requests sent at once are answered in their order`() async throws {
        let service = StubService(onPull: { request, _ in StubPull(["\(request.lastPulledAt)"]) })
        try await Support.withServer(service) { port in
            try await RawClient.connect(to: port) { client in
                let requests = (1...20).map { "GET /sync?last_pulled_at=\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }
                try await client.send(requests.joined())
                for number in 1...20 { #expect(try await client.readAnswer().body == "cursor(\(number))") }
            }
        }
    }

    @Test func `an HTTP-1.0 client gets an answer without chunks and the end of the connection`() async throws {
        let service = StubService(onPull: { _, _ in StubPull([String(repeating: "x", count: 100_000)]) })
        try await Support.withServer(service) { port in
            let answer = try await RawClient.exchange(port, "GET /sync HTTP/1.0\r\n\r\n")
            #expect(answer.status == 200 && answer.rest.utf8.count == 100_000)
            #expect(answer.field("Transfer-Encoding") == nil && answer.field("Connection") == "close")
        }
    }

    @Test func `what is left of a refused body is skipped, and the connection goes on`() async throws {
        try await Support.withServer { port in
            try await RawClient.connect(to: port) { client in
                try await client.send("PUT /sync HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello" + get + "\r\n")
                #expect(try await client.readAnswer().status == 405)
                #expect(try await client.readAnswer().status == 200)
            }
        }
    }

    @Test func `a client that asks first is told to go on, and not where it is refused`() async throws {
        try await Support.withServer { port in
            let head = "Host: a\r\nContent-Length: 14\r\nExpect: 100-continue\r\n\r\n"
            try await RawClient.connect(to: port) { client in
                try await client.send("POST /sync HTTP/1.1\r\n" + head)
                #expect(try await client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 100 "))
                try await client.send(#"{"changes":{}}"#)
                #expect(try await client.readAnswer().status == 200)
            }
            let answer = try await RawClient.exchange(port, "PUT /sync HTTP/1.1\r\n" + head)
            #expect(answer.status == 405 && answer.field("Connection") == "close")
        }
    }

    @Test func `a client that stops sending is told so`() async throws {
        var limits = ServerLimits()
        limits.timeouts.body = .milliseconds(50)
        let service = StubService(onPush: { _, _ in throw GatewayError(status: 500, code: "called", message: "") })
        try await Support.withServer(service, limits: limits) { port in
            let answer = try await RawClient.exchange(
                port, "POST /sync HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{\"ch")
            #expect(answer.status == 408 && answer.field("Rind-Error") == "request.timeout")
        }
    }

    @Test func `a silent connection is closed, also between requests`() async throws {
        var limits = ServerLimits()
        limits.timeouts.head = .milliseconds(50)
        try await Support.withServer(limits: limits) { port in
            try await RawClient.connect(to: port) { client in
                try await client.send("GET /sy")
                #expect(try await client.readToEnd() == "")
            }
        }
        limits = ServerLimits()
        limits.timeouts.keepAlive = .milliseconds(50)
        try await Support.withServer(limits: limits) { port in
            try await RawClient.connect(to: port) { client in
                try await client.send(get + "\r\n")
                #expect(try await client.readToEnd().hasSuffix("{}"))
            }
        }
    }

    @Test func `a connection is closed where the rest of a refused body comes and then nothing`() async throws {
        var limits = ServerLimits()
        limits.timeouts.keepAlive = .milliseconds(50)
        try await Support.withServer(limits: limits) { port in
            try await RawClient.connect(to: port) { client in
                try await client.send("PUT /sync HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe")
                #expect(try await client.readAnswer().status == 405)
                try await client.send("llo")
                #expect(try await client.readToEnd() == "")
            }
        }
    }

    @Test func `a body that drips is refused, though it never stops`() async throws {
        var limits = ServerLimits()
        limits.timeouts.body = .milliseconds(300)
        limits.timeouts.bodyRate = 1_000
        try await Support.withServer(limits: limits) { port in
            try await RawClient.connect(to: port) { client in
                try await client.send("POST /sync HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n{")
                let answer = try await client.readAnswer(dripping: " ")
                #expect(answer.status == 408)
            }
        }
    }

    @Test(
        arguments: [
            ("GET /sync HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 40_000))\r\n\r\n", 431),
            ("GET /\(String(repeating: "x", count: 20_000)) HTTP/1.1\r\nHost: a\r\n", 414),
            ("GET /sync HTTP/1.1\r\nHost a\r\n\r\n", 400), ("GET /sync HTTP/9.1\r\nHost: a\r\n\r\n", 505),
            ("\u{16}\u{3}\u{1}\r\n\r\n", 400), ("GET /sync HTTP/1.1\r\n", 400),
            ("GET /sync HTTP/1.1\r\nHost: a\r\nHost: b\r\n", 400), ("GET http://a/sync HTTP/1.1\r\nHost: a\r\n", 400),
            ("GET //sync HTTP/1.1\r\nHost: a\r\n", 400), ("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n", 400),
            ("GET * HTTP/1.1\r\nHost: a\r\n", 400), ("OPTIONS * HTTP/1.1\r\nHost: a\r\n", 204),
            ("POST /sync HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n", 400),
            ("POST /sync HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n", 400),
            ("POST /sync HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
            ("POST /sync HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n", 413),
            ("GET /sync HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", 200),
        ])
    func `a request that is no good is refused with its status`(request: String, status: Int) async throws {
        try await Support.withServer { port in
            let request = request.contains("\r\n\r\n") ? request : request + closing
            let answer = try await RawClient.exchange(port, request)
            #expect(answer.status == status)
            if status >= 400 { #expect(answer.field("Rind-Error") != nil && answer.field("X-Request-Id") != nil) }
            let next = try await RawClient.exchange(port, get + closing)
            #expect(next.status == 200)
        }
    }

    @Test func `no push is seen where its body was cut short`() async throws {
        let service = StubService(onPush: { _, _ in
            Issue.record("a push was read")
            return StubPush()
        })
        let log = LogLines()
        try await Support.withServer(service, log: log) { port in
            for framing in [
                "Content-Length: 100\r\n\r\n{\"changes\":{}}",
                "Transfer-Encoding: chunked\r\n\r\ne\r\n{\"changes\":{}}\r\n",
            ] {
                try await RawClient.connect(to: port) { client in
                    try await client.send("POST /sync HTTP/1.1\r\nHost: a\r\n" + framing)
                    client.finish()
                    _ = try await client.readToEnd()
                }
            }
        }
        let codes = log.lines.compactMap { $0.metadata["code"] }
        #expect(codes == ["request.client_gone", "request.client_gone"])
    }

    @Test func `a connection of a client that took its answer slowly is not cut`() async throws {
        let size = 8 << 20
        let service = StubService(onPull: { _, _ in
            StubPull(Array(repeating: String(repeating: "x", count: 1 << 20), count: 8))
        })
        try await Support.withServer(service) { port in
            try await RawClient.connect(to: port) { client in
                try await client.send(get + closing)
                _ = try await client.read(through: "\r\n\r\n")
                try await Task.sleep(for: .milliseconds(200))
                #expect(try await client.readToEnd().utf8.count > size)
            }
        }
    }
}
