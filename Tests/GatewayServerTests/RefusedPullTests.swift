// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Telemetry
import Testing

/// What is answered while no permit for pulls is free.
@Suite(.timeLimit(.minutes(1))) struct RefusedPullTests {
    private static let full = StubService(
        hasRoomForPulls: false,
        onPull: { _, _ in
            Issue.record("a pull has begun")
            return StubPull(["{}"])
        })
    private static let push = #"{"changes":{},"lastPulledAt":7}"#

    private static func request(_ method: String, _ target: String, _ fields: String = "", body: String = "") -> String
    {
        let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
        return "\(method) \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\(length)\r\n\(body)"
    }

    @Test(arguments: [
        ("GET", "/sync?last_pulled_at=7", "", 503), ("GET", "/sync/pull", "", 503), ("POST", "/sync/pull", "{}", 503),
        ("POST", "/sync?last_pulled_at=7", push, 200), ("POST", "/sync/push?last_pulled_at=7", push, 200),
        ("PUT", "/sync/pull", "", 405), ("HEAD", "/sync", "", 405), ("GET", "/sync/push", "", 405),
        ("OPTIONS", "/sync", "", 204), ("GET", "/livez", "", 200),
    ])
    func `only pulls are refused`(_ method: String, _ target: String, _ body: String, _ status: Int) async throws {
        let (log, metrics) = (LogLines(), GatewayMetrics())
        try await Support.withServer(Self.full, log: log, metrics: metrics) { port in
            let answer = try await RawClient.exchange(
                port, Self.request(method, target, "Connection: close\r\n", body: body))
            #expect(answer.status == status)
            guard status == 503 else { return }
            #expect(answer.field("Rind-Error") == "limit.pulls" && answer.field("Retry-After") != nil)
            let line = try #require(log.lines.first { $0.message == "sync" })
            #expect(line.metadata["code"] == "limit.pulls" && line.metadata["status"] == "503")
            let counted = metrics.text().split(separator: "\n").filter { $0.hasPrefix("rind_syncs_total{") }
            #expect(counted.count == 1)
            #expect(counted.allSatisfy { $0.contains(#"kind="pull""#) && $0.contains(#"code="limit.pulls""#) })
        }
    }

    @Test func `a body that comes with a refused pull does not become the next request`() async throws {
        try await Support.withServer(Self.full) { port in
            try await RawClient.connect(to: port) { client in
                for body in ["{}", String(repeating: " ", count: 100_000)] {
                    try await client.send(Self.request("POST", "/sync/pull", body: body))
                    #expect(try await client.readAnswer().status == 503)
                }
                try await client.send(
                    Self.request("POST", "/sync/pull", "Transfer-Encoding: chunked\r\n") + "2\r\n{}\r\n0\r\n\r\n")
                #expect(try await client.readAnswer().status == 503)
                try await client.send(Self.request("GET", "/livez"))
                #expect(try await client.readAnswer().body == "ok\n")
            }
        }
    }

    @Test func `a body that is too long to be skipped, or waits to be asked for, ends the connection`() async throws {
        try await Support.withServer(Self.full) { port in
            for fields in ["Content-Length: 300000\r\n", "Content-Length: 2\r\nExpect: 100-continue\r\n"] {
                let answer = try await RawClient.exchange(port, Self.request("POST", "/sync/pull", fields))
                #expect(answer.status == 503 && answer.field("Connection") == "close")
            }
        }
    }

    @Test func `requests behind a refused pull are answered in their order`() async throws {
        try await Support.withServer(Self.full) { port in
            try await RawClient.connect(to: port) { client in
                try await client.send(Self.request("GET", "/sync/pull") + Self.request("GET", "/livez"))
                #expect(try await client.readAnswer().status == 503)
                #expect(try await client.readAnswer().status == 200)
            }
        }
    }
}
