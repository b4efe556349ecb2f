// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import Testing

/// The configurations of `examples/proxies`, in front of the program `rind serve`.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"))
struct ProxyExampleTests {
    private static func withProxy(
        _ kind: ProxyProcess.Kind, _ body: (GatewayProcess, RawHTTPClient, DemoBackend) async throws -> Void
    ) async throws {
        try await GatewayStack.withBackend { backend, directory in
            try await GatewayProcess.with(
                backend: try await backend.url, directory: directory, overrides: ["admin.listen": "127.0.0.1:0"]
            ) { gateway in
                let behind = ProxyProcess.Gateway(port: gateway.port, admin: try await gateway.admin().port)
                try await ProxyProcess.with(kind, before: behind, directory: directory) { proxy in
                    try await body(gateway, RawHTTPClient(port: proxy.port), backend)
                }
            }
        }
    }

    @Test(arguments: ProxyProcess.Kind.installed)
    func `a device syncs through a documented proxy, both ways`(kind: ProxyProcess.Kind) async throws {
        try await Self.withProxy(kind) { _, client, backend in
            try await backend.edit(.put("tags", ["id": "t", "label": "x"]))
            let first = try PulledChanges(
                await client.send("GET", GatewayStack.pullTarget(), headers: GatewayStack.headers()))
            #expect(first.created["tags"]?.keys.contains("t") == true)
            let changes = DemoValue.changes("tags", created: [["id": "made", "label": "new"]])
            let pushed = try await client.send(
                "POST", GatewayStack.pushTarget(first.cursor), headers: GatewayStack.headers(),
                body: Array(changes.json.utf8))
            #expect(pushed.status == 200)
            let idle = try PulledChanges(
                await client.send("GET", GatewayStack.pullTarget(first.cursor), headers: GatewayStack.headers()))
            #expect(idle.created.isEmpty && idle.deleted.isEmpty)
        }
    }

    @Test(arguments: ProxyProcess.Kind.installed)
    func `a client behind a documented proxy cannot choose the address in the log`(
        kind: ProxyProcess.Kind
    ) async throws {
        try await Self.withProxy(kind) { gateway, client, _ in
            let forged = ["X-Forwarded-For": "203.0.113.9", "X-Forwarded-Host": "evil.example"]
            let answer = try await client.send(
                "GET", GatewayStack.pullTarget(), headers: GatewayStack.headers("ada-token", forged))
            #expect(answer.status == 200)
            let line = try await gateway.line(with: #""message":"sync""#)
            #expect(line.contains(#""client":"127.0.0.1""#))
        }
    }

    @Test(arguments: ProxyProcess.Kind.installed)
    func `an error passes a documented proxy with its code`(kind: ProxyProcess.Kind) async throws {
        try await Self.withProxy(kind) { _, client, _ in
            let refused = try await client.send(
                "POST", GatewayStack.pushTarget(1),
                headers: GatewayStack.headers("ada-token", ["Content-Encoding": "x"]), body: Array("{}".utf8))
            #expect(refused.status == 415)
            #expect(String(decoding: refused.body, as: UTF8.self).contains("compressed in an unknown way"))
        }
    }
}
