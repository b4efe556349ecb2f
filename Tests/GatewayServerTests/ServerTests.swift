// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Gateway
import GatewayConfig
import GatewayServer
import Logging
import ServiceLifecycle
import Testing

@Suite(.timeLimit(.minutes(1))) struct ServerTests {
    @Test func `health is told to whoever asks`() async throws {
        try await Support.withServer { port in
            for path in ["/livez", "/readyz"] {
                let answer = try await RawClient.exchange(
                    port, "GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                #expect(answer.status == 200 && answer.rest == "ok\n")
                let head = try await RawClient.exchange(
                    port, "HEAD \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                #expect(head.status == 200 && head.field("Content-Length") == "3" && head.rest.isEmpty)
                let post = try await RawClient.exchange(
                    port, "POST \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                #expect(post.status == 405)
            }
        }
    }

    @Test func `a gateway that is not ready is alive`() async throws {
        let service = StubService(onReadiness: { throw GatewayError(status: 500, code: "state.full", message: "Full.") }
        )
        try await Support.withServer(service) { port in
            let ready = try await RawClient.exchange(
                port, "GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(ready.status == 503 && ready.field("Rind-Error") == "state.full")
            let live = try await RawClient.exchange(port, "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(live.status == 200)
        }
    }

    /// Runs a server in a service group, and shuts it down gracefully when `body` says so.
    static func withGroup(
        _ service: StubService, grace: Duration, admin: Bool = false, backendPort: Int = 1, log: LogLines = LogLines(),
        _ body: @Sendable ([GatewayHTTPServer.Listener: Int], ServiceGroup) async throws -> Void
    ) async throws {
        var configuration = Support.configuration(backendPort: backendPort)
        configuration.gateway.shutdownGrace = grace
        if admin { configuration.admin.listen = ListenAddress(host: "127.0.0.1", port: 0) }
        let passThrough = try PassThroughReactors.start(configuration)
        let (listeners, announce) = AsyncStream.makeStream(of: (GatewayHTTPServer.Listener, Int).self)
        let server = GatewayHTTPServer(
            service: service, configuration: configuration, passThrough: passThrough, logger: log.logger
        ) { announce.yield(($0, $1)) }
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: server, successTerminationBehavior: .gracefullyShutdownGroup)],
                logger: LogLines().logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var ports: [GatewayHTTPServer.Listener: Int] = [:]
            for await (listener, port) in listeners {
                ports[listener] = port
                if ports.count == (admin ? 2 : 1) { break }
            }
            try await body(ports, group)
            try await tasks.waitForAll()
        }
        await passThrough.shutdown()
    }

    @Test func `shutdown lets running requests finish and takes no new ones`() async throws {
        let started = Gate()
        let goOn = Gate()
        let service = StubService(onPull: { _, _ in
            started.open()
            try await goOn.wait()
            return StubPull(["{}"])
        })
        try await Self.withGroup(service, grace: .seconds(20)) { ports, group in
            let port = try #require(ports[.clients])
            try await RawClient.connect(to: port) { idle in
                try await RawClient.connect(to: port) { client in
                    try await client.send("GET /sync HTTP/1.1\r\nHost: a\r\n\r\n")
                    try await started.wait()
                    await group.triggerGracefulShutdown()
                    // An idle connection ends at once.
                    #expect(try await idle.readToEnd() == "")
                    // The listener closes beside the connections: before that a client may still get in.
                    while (try? await RawClient.connect(to: port) { _ in }) != nil { await Task.yield() }
                    goOn.open()
                    let answer = try RawAnswer(try await client.readToEnd())
                    #expect(answer.status == 200 && answer.field("Connection") == "close" && answer.rest == "{}")
                }
            }
        }
    }

    @Test func `what takes longer than the grace is cut`() async throws {
        let started = Gate()
        let service = StubService(onPull: { _, _ in
            started.open()
            try await Gate().wait()
            return StubPull(["{}"])
        })
        try await Self.withGroup(service, grace: .milliseconds(50)) { ports, group in
            let port = try #require(ports[.clients])
            try await RawClient.connect(to: port) { client in
                try await client.send("GET /sync HTTP/1.1\r\nHost: a\r\n\r\n")
                try await started.wait()
                await group.triggerGracefulShutdown()
                #expect(try await !client.readToEnd().contains("200 OK"))
            }
        }
    }

    @Test func `the operator's listener tells health and nothing else`() async throws {
        try await Self.withGroup(StubService(), grace: .seconds(1), admin: true) { ports, group in
            let port = try #require(ports[.admin])
            for (path, status) in [("/livez", 200), ("/readyz", 200), ("/sync", 404), ("/", 404)] {
                let answer = try await RawClient.exchange(
                    port, "GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                #expect(answer.status == status)
            }
            await group.triggerGracefulShutdown()
        }
    }

    @Test func `the operator hears of draining until the last client has its answer`() async throws {
        let (started, goOn) = (Gate(), Gate())
        let service = StubService(onPull: { _, _ in
            started.open()
            try await goOn.wait()
            return StubPull(["{}"])
        })
        try await Self.withGroup(service, grace: .seconds(20), admin: true) { ports, group in
            let (port, admin) = (try #require(ports[.clients]), try #require(ports[.admin]))
            let probe = "GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            try await RawClient.connect(to: port) { client in
                try await client.send("GET /sync HTTP/1.1\r\nHost: a\r\n\r\n")
                try await started.wait()
                await group.triggerGracefulShutdown()
                while try await RawClient.exchange(admin, probe).status == 200 { await Task.yield() }
                while (try? await RawClient.connect(to: port) { _ in }) != nil { await Task.yield() }
                let answer = try await RawClient.exchange(admin, probe)
                #expect(answer.status == 503 && answer.field("Rind-Error") == "server.draining")
                goOn.open()
                let pulled = try RawAnswer(try await client.readToEnd())
                #expect(pulled.status == 200)
            }
            while (try? await RawClient.connect(to: admin) { _ in }) != nil { await Task.yield() }
        }
    }

    @Test func `a probe of a client that runs when draining begins says so`() async throws {
        let (started, goOn) = (Gate(), Gate())
        let service = StubService(onReadiness: {
            started.open()
            try await goOn.wait()
        })
        try await Self.withGroup(service, grace: .seconds(20)) { ports, group in
            let port = try #require(ports[.clients])
            try await RawClient.connect(to: port) { client in
                try await client.send("GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n")
                try await started.wait()
                await group.triggerGracefulShutdown()
                while (try? await RawClient.connect(to: port) { _ in }) != nil { await Task.yield() }
                goOn.open()
                let answer = try RawAnswer(try await client.readToEnd())
                #expect(answer.status == 503 && answer.field("Rind-Error") == "server.draining")
            }
        }
    }

    @Test func `an address in use is a clear error`() async throws {
        try await Support.withServer { port in
            var configuration = Support.configuration()
            configuration.gateway.listen = ListenAddress(host: "127.0.0.1", port: port)
            let passThrough = try PassThroughReactors.start(configuration)
            let server = GatewayHTTPServer(
                service: StubService(), configuration: configuration, passThrough: passThrough,
                logger: LogLines().logger)
            let error = await #expect(throws: ServerError.self) { try await server.run() }
            #expect(error?.description.contains("127.0.0.1:\(port)") == true)
            await passThrough.shutdown()
        }
    }

    @Test func `one line tells of each request`() async throws {
        let log = LogLines()
        try await Support.withServer(log: log) { port in
            _ = try await RawClient.exchange(
                port, "GET /sync?last_pulled_at=7&token=s3cret HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        }
        let lines = log.lines.filter { $0.message == "sync" }
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(line.level == .info && line.metadata["status"] == "200" && line.metadata["bytes_out"] == "2")
        #expect(
            line.metadata["mode"] == "incremental" && line.metadata["lines"] == "3"
                && line.metadata["duration_ms"] != nil)
        #expect(!log.lines.contains { "\($0.metadata)".contains("s3cret") })
    }
}
