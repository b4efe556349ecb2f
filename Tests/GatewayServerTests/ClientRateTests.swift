// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import GatewayServer
import Testing

/// `[limits] client_rate`.
@Suite(.timeLimit(.minutes(1))) struct ClientRateTests {
    private static func statuses(_ port: Int, from clients: [String], path: String = "/sync") async throws -> [Int] {
        var statuses: [Int] = []
        for client in clients {
            let answer = try await RawClient.exchange(
                port,
                "GET \(path) HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(client)\r\nConnection: close\r\n\r\n")
            statuses.append(answer.status)
            if answer.status == 429 {
                #expect(answer.field("Rind-Error") == "limit.rate")
                #expect((1...100).contains(answer.field("Retry-After").flatMap { Int($0) } ?? 0))
            }
        }
        return statuses
    }

    @Test func `one client's requests are limited, others' and probes are not`() async throws {
        let configuration = Support.changed {
            $0.limits.clientRate = 1
            $0.limits.clientBurst = 2
        }
        try await Support.withServer(StubService(), configuration) { port in
            let first = [String](repeating: "192.0.2.7", count: 3)
            // Whoever has a network of IPv6 has no more buckets for it.
            let six = ["2001:db8::1", "2001:db8::2:3", "2001:db8:0:0:ffff::", "2001:db8:0:1::1"]
            let limited = try await Self.statuses(port, from: first + ["192.0.2.8"] + six)
            #expect(limited == [200, 200, 429, 200, 200, 200, 429, 200])
            let probes = try await Self.statuses(port, from: first, path: "/livez")
            #expect(probes == [200, 200, 200])
        }
    }

    @Test func `without a rate nothing is limited`() async throws {
        try await Support.withServer { port in
            let statuses = try await Self.statuses(port, from: [String](repeating: "192.0.2.7", count: 70))
            #expect(Set(statuses) == [200])
        }
    }
}
