// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayServer
import GatewayTesting
import NIOConcurrencyHelpers
import NIOCore
import ServiceLifecycle
import Testing

/// What becomes of tunnels when the gateway stops.
@Suite(.timeLimit(.minutes(2))) struct TunnelDrainTests {
    @Test func `tunnels go on while a request runs, and end with the drain`() async throws {
        let (started, goOn, log) = (Gate(), Gate(), LogLines())
        let service = StubService(onPull: { _, _ in
            started.open()
            try await goOn.wait()
            return StubPull(["{}"])
        })
        try await LoopbackServer.run(TunnelTests.echo) { server in
            try await ServerTests.withGroup(service, grace: .seconds(60), backendPort: server.port, log: log) {
                ports, group in
                let port = try #require(ports[.clients])
                try await RawClient.connect(to: port) { tunnel in
                    try await tunnel.send(TunnelTests.upgrade())
                    _ = try await tunnel.read(through: "\r\n\r\n")
                    try await RawClient.connect(to: port) { client in
                        try await client.send("GET /sync HTTP/1.1\r\nHost: a\r\n\r\n")
                        try await started.wait()
                        await group.triggerGracefulShutdown()
                        while (try? await RawClient.connect(to: port) { _ in }) != nil { await Task.yield() }
                        // Still as before.
                        try await tunnel.send("ping")
                        #expect(try await tunnel.read(count: 4) == "ping")
                        goOn.open()
                        #expect(try await RawAnswer(client.readToEnd()).status == 200)
                    }
                    #expect(try await tunnel.readToEnd() == "" && !tunnel.wasReset)
                }
            }
        }
        let line = try #require(log.lines.first { $0.metadata["status"] == "101" })
        #expect(line.metadata["end"] == "drain" && line.metadata["cut"] == nil)
        #expect(!log.lines.contains { $0.metadata["code"] == "server.cut_off" })
    }

    @Test func `a tunnel alone does not hold up the end`() async throws {
        try await LoopbackServer.run(TunnelTests.echo) { server in
            try await ServerTests.withGroup(StubService(), grace: .seconds(600), backendPort: server.port) {
                ports, group in
                try await RawClient.connect(to: #require(ports[.clients])) { tunnel in
                    try await tunnel.send(TunnelTests.upgrade())
                    _ = try await tunnel.read(through: "\r\n\r\n")
                    await group.triggerGracefulShutdown()
                    #expect(try await tunnel.readToEnd() == "" && !tunnel.wasReset)
                }
            }
        }
    }

    @Test func `a client that takes nothing is cut with the grace at the latest`() async throws {
        let log = LogLines()
        let pieces = NIOLockedValueBox(0)
        try await LoopbackServer.run { peer in
            _ = try await peer.readHead()
            try await peer.write(TunnelTests.accepted)
            while (try? await peer.write(.init(repeating: 67, count: 1 << 14))) != nil {
                pieces.withLockedValue { $0 += 1 }
            }
        } _: { server in
            try await ServerTests.withGroup(
                StubService(), grace: .milliseconds(300), backendPort: server.port, log: log
            ) {
                ports, group in
                try await RawClient.connect(to: #require(ports[.clients])) { tunnel in
                    try await tunnel.send(TunnelTests.upgrade())
                    _ = try await tunnel.read(through: "\r\n\r\n")
                    // What fits into the buffers on the way is no reason to cut.
                    _ = try await steady(pieces, end: .max)
                    await group.triggerGracefulShutdown()
                    while !log.lines.contains(where: { $0.metadata["status"] == "101" }) { await Task.yield() }
                    _ = try await tunnel.countToEnd()
                    #expect(tunnel.wasReset)
                }
            }
        }
    }
}
