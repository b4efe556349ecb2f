// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayConfig
import GatewayServer
import Gzip
import Logging
import NIOCore
import Testing
import WatermelonWire

private let get = "GET /sync?last_pulled_at=7 HTTP/1.1\r\nHost: a\r\n"

@Suite(.timeLimit(.minutes(1))) struct PullTests {
    private let failure = GatewayError(
        status: 502, code: "backend.closed", message: "Try again.", retryAfter: 5, cause: "secret cause")

    @Test func `a slow pull begins with white space, and what comes is one valid answer`() async throws {
        var configuration = Support.configuration()
        configuration.pull.firstByteAfter = .milliseconds(20)
        configuration.pull.keepAliveEvery = .milliseconds(20)
        let gate = Gate()
        let service = StubService(onPull: { _, _ in
            try await gate.wait()
            return StubPull(["{\"changes\":{}", ",\"timestamp\":8}"])
        })
        try await Support.withServer(service, configuration) { port in
            try await RawClient.connect(to: port) { client in
                try await client.send(get + "\r\n")
                let head = try await client.read(through: "\r\n\r\n")
                #expect(head.hasPrefix("HTTP/1.1 200 ") && head.contains("application/json"))
                #expect(head.contains("Cache-Control: no-store") && head.contains("X-Accel-Buffering: no"))
                for _ in 0..<3 { #expect(try await client.read(through: "1\r\n \r\n") == "1\r\n \r\n") }
                gate.open()
                let rest = try await client.read(through: "0\r\n\r\n")
                let body = try #require(try RawAnswer(head + rest).body)
                #expect(body.drop { $0 == " " } == "{\"changes\":{},\"timestamp\":8}")
                try await client.send("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await client.readAnswer().body == "ok\n")
            }
        }
    }

    @Test func `white space comes through compression`() async throws {
        var configuration = Support.configuration()
        configuration.pull.firstByteAfter = .milliseconds(20)
        configuration.pull.keepAliveEvery = .milliseconds(20)
        let gate = Gate()
        let service = StubService(onPull: { _, _ in
            try await gate.wait()
            return StubPull(["{}"])
        })
        try await Support.withServer(service, configuration) { port in
            try await RawClient.connect(to: port) { client in
                try await client.send(get + "Accept-Encoding: gzip\r\nConnection: close\r\n\r\n")
                let head = try await client.read(through: "\r\n\r\n")
                let first = try await client.read(through: "\r\n") + (try await client.read(through: "\r\n"))
                gate.open()
                let answer = try RawAnswer(head + first + (try await client.readToEnd()))
                #expect(answer.field("Content-Encoding") == "gzip" && answer.field("Vary") == "Accept-Encoding")
                let content = try Support.inflate(try #require(answer.bodyBytes))
                #expect(content.hasPrefix(" ") && content.hasSuffix("{}"))
            }
        }
    }

    @Test func `an HTTP-1.0 client gets no white space`() async throws {
        var configuration = Support.configuration()
        configuration.pull.firstByteAfter = .milliseconds(10)
        let failure = failure
        let service = StubService(onPull: { _, _ in
            try await Task.sleep(for: .milliseconds(60))
            throw failure
        })
        try await Support.withServer(service, configuration) { port in
            let answer = try await RawClient.exchange(port, "GET /sync HTTP/1.0\r\n\r\n")
            #expect(answer.status == 502)
        }
    }

    @Test func `a pull that fails is a clean error with its code`() async throws {
        let failure = failure
        let log = LogLines()
        try await Support.withServer(StubService(onPull: { _, _ in throw failure }), log: log) { port in
            let answer = try await RawClient.exchange(
                port, get + "X-Request-Id: my.id-1\r\nAuthorization: Bearer t0ken\r\nConnection: close\r\n\r\n")
            #expect(answer.status == 502 && answer.rest == "Try again (my.id-1)")
            #expect(answer.field("Rind-Error") == "backend.closed" && answer.field("Retry-After") == "5")
            #expect(answer.field("X-Request-Id") == "my.id-1" && answer.field("Cache-Control") == "no-store")
            let json = try await RawClient.exchange(port, get + "Accept: application/json\r\nConnection: close\r\n\r\n")
            #expect(json.rest.contains(#""code":"backend.closed""#) && !json.rest.contains("secret"))
        }
        let line = try #require(log.lines.first { $0.message == "sync" })
        #expect(line.level == .warning && line.metadata["code"] == "backend.closed" && line.metadata["status"] == "502")
        #expect(line.metadata["request_id"] == "my.id-1" && line.metadata["path"] == "/sync")
        let all = log.lines.map { "\($0.message) \($0.metadata)" }.joined()
        #expect(!all.contains("t0ken") && !all.contains("last_pulled_at"))
    }

    @Test func `a failure after the first byte cuts the connection`() async throws {
        var configuration = Support.configuration()
        configuration.pull.firstByteAfter = .milliseconds(10)
        let failure = failure
        let gate = Gate()
        let service = StubService(onPull: { request, _ in
            if request.lastPulledAt == .cursor(7) { try await gate.wait() }
            if request.lastPulledAt == .cursor(7) { throw failure }
            return StubPull([String(repeating: "x", count: 200_000)], failure: failure)
        })
        let log = LogLines()
        try await Support.withServer(service, configuration, log: log) { port in
            try await RawClient.connect(to: port) { client in
                try await client.send(get + "\r\n")
                _ = try await client.read(through: "1\r\n \r\n")
                gate.open()
                #expect(try await !client.readToEnd().hasSuffix("0\r\n\r\n"))
                #expect(client.wasReset)
            }
            try await RawClient.connect(to: port) { client in
                try await client.send("GET /sync?last_pulled_at=8 HTTP/1.0\r\n\r\n")
                _ = try await client.readToEnd()
                #expect(client.wasReset)
            }
        }
        #expect(log.lines.filter { $0.message == "sync" && $0.metadata["cut"] == "true" }.count == 2)
    }

    @Test(arguments: [true, false])
    func `a client that hangs up cancels its pull`(isHalf: Bool) async throws {
        let started = Gate()
        let cancelled = Gate()
        let service = StubService(onPull: { _, _ in
            started.open()
            do { try await Gate().wait() } catch { cancelled.open() }
            throw CancellationError()
        })
        var limits = ServerLimits()
        limits.timeouts.halfClosed = .milliseconds(20)
        let log = LogLines()
        try await Support.withServer(service, limits: limits, log: log) { port in
            try await RawClient.connect(to: port) { client in
                try await client.send(get + "\r\n")
                try await started.wait()
                if isHalf { client.finish() } else { try await client.close() }
                try await cancelled.wait()
            }
        }
        #expect(log.lines.contains { $0.metadata["code"] == "request.client_gone" })
    }

    @Test func `a client that closes its side and waits gets its answer`() async throws {
        var limits = ServerLimits()
        limits.timeouts.halfClosed = .minutes(1)
        try await Support.withServer(limits: limits) { port in
            try await RawClient.connect(to: port) { client in
                try await client.send(get + "\r\n")
                client.finish()
                #expect(try await client.readToEnd().hasSuffix("{}"))
            }
        }
    }

    @Test(arguments: [200, 5_000, 300_000])
    func `an answer is compressed for those who want it, and short ones say their length`(size: Int) async throws {
        let content = "[" + String(repeating: "1,", count: size / 2) + "1]"
        try await Support.withServer(StubService(onPull: { _, _ in StubPull([content]) })) { port in
            let plain = try await RawClient.exchange(port, get + "Connection: close\r\n\r\n")
            #expect(plain.body == content && plain.field("Content-Encoding") == nil)
            #expect((plain.field("Content-Length") != nil) == (size < 64_000))
            let compressed = try await RawClient.exchange(
                port, get + "Accept-Encoding: br, gzip;q=0.8\r\nConnection: close\r\n\r\n")
            #expect(compressed.field("Content-Encoding") == (size > 1_000 ? "gzip" : nil))
            let bytes = try #require(compressed.bodyBytes)
            #expect(size < 1_000 ? compressed.body == content : try Support.inflate(bytes) == content)
            #expect((compressed.field("Content-Length") != nil) == (size < 64_000))
        }
    }
}

extension Support {
    static func inflate(_ bytes: [UInt8]) throws -> String {
        let inflater = try Inflater(.gzip, limit: 1 << 24)
        var input = ByteBuffer(bytes: bytes)
        var output = ""
        while let chunk = try inflater.next(from: &input) { output += String(buffer: chunk) }
        try inflater.finish()
        return output
    }
}
