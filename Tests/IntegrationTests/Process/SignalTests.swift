// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import Testing

/// What `rind serve` does on signals, and what it says.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"))
struct SignalTests {
    /// Starts a gateway whose pull hangs, as the backend's stream does, and passes it with the hung answer's status.
    private static func withHungPull(
        _ overrides: [String: String],
        _ body: (GatewayProcess, Latch, Task<Int, any Error>) async throws -> Void
    ) async throws {
        try await GatewayStack.withBackend { backend, directory in
            let url = try await backend.url
            try await GatewayProcess.with(backend: url, directory: directory, overrides: overrides) { gateway in
                let latch = Latch()
                backend.holdStreams(with: latch)
                let pull = Task {
                    try await gateway.http.send("GET", GatewayStack.pullTarget(), headers: GatewayStack.headers())
                        .status
                }
                try await eventually { await latch.arrivals == 1 }
                try await body(gateway, latch, pull)
                await latch.open()
                // Whoever closes the state empties its log.
                let log = try? Data(contentsOf: URL(filePath: "\(directory)/state.db-wal"))
                #expect(log?.isEmpty != false)
            }
        }
    }

    @Test func `SIGHUP ends nothing: it reloads, and has no effect while the gateway drains`() async throws {
        try await Self.withHungPull(["gateway.shutdown_grace": "60s"]) { gateway, latch, pull in
            gateway.send(SIGHUP)
            let line = try await gateway.line(with: #""signal":"SIGHUP""#)
            #expect(line.contains(#""level":"notice""#) && line.contains("reloading"))
            _ = try await gateway.line(with: "config.reloaded", #""changed":false"#)
            #expect(try await gateway.http.send("GET", "/readyz").status == 200)
            gateway.send(SIGTERM)
            _ = try await gateway.line(with: "server.draining")
            gateway.send(SIGHUP)
            _ = try await gateway.line(with: #""signal":"SIGHUP""#, "is ignored")
            await latch.open()
            #expect(try await pull.value == 200)
            #expect(try await gateway.end() == 0)
        }
    }

    @Test func `while it drains it says each second what it waits for, and readiness says so`() async throws {
        let overrides = ["gateway.shutdown_grace": "60s", "admin.listen": "127.0.0.1:0"]
        try await Self.withHungPull(overrides) { gateway, latch, pull in
            let admin = try await gateway.admin()
            #expect(try await admin.send("GET", "/readyz").status == 200)
            gateway.send(SIGTERM)
            let begin = try await gateway.line(with: "server.draining", #""signal":"SIGTERM""#)
            #expect(begin.contains(#""level":"notice""#) && begin.contains(#""grace_ms":60000"#))
            let ready = try await admin.send("GET", "/readyz")
            #expect(ready.outcome == "503 server.draining")
            #expect(String(decoding: ready.body, as: UTF8.self).contains("draining"))
            #expect(try await admin.send("GET", "/livez").status == 200)
            let waiting = try await gateway.line(with: "waiting for what still runs")
            for text in [
                #""level":"notice""#, #""requests":1"#, #""method":"GET""#, #""path":"/sync""#, #""duration_ms":"#,
                #""grace_left_ms":5"#, #""request_id":"#,
            ] { #expect(waiting.contains(text), "\(text)") }
            #expect(try await admin.send("GET", "/readyz").status == 503)
            await latch.open()
            #expect(try await pull.value == 200)
            #expect(try await gateway.end() == 0)
        }
    }

    @Test func `a drain under load fails no sync where a balancer has time to notice it`() async throws {
        try await GatewayStack.withBackend { backend, directory in
            try await backend.edit(.put("projects", ["id": "p-0", "name": "one"]))
            let url = try await backend.url
            let overrides = ["gateway.shutdown_delay": "2s", "admin.listen": "127.0.0.1:0"]
            try await GatewayProcess.with(backend: url, directory: directory, overrides: overrides) { gateway in
                let admin = try await gateway.admin()
                // A balancer sends clients elsewhere as soon as the gateway is not ready.
                let away = Latch()
                async let balancer: Void = {
                    try await eventually { try await admin.send("GET", "/readyz").status == 503 }
                    await away.open()
                }()
                async let loads = withThrowingTaskGroup(of: [Int].self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            var statuses: [Int] = []
                            while await !away.isOpen {
                                let answer = try await gateway.http.send(
                                    "GET", GatewayStack.pullTarget(), headers: GatewayStack.headers())
                                statuses.append(answer.status)
                            }
                            return statuses
                        }
                    }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                try await eventually { gateway.log.split(separator: "\n").count { $0.contains(#""sync""#) } > 10 }
                gateway.send(SIGTERM)
                _ = try await gateway.line(with: "server.draining", #""delay_ms":2000"#)
                try await balancer
                // Who was sent here late is served all the same.
                #expect(try await gateway.http.send("GET", "/livez").status == 200)
                let statuses = try await loads
                #expect(Set(statuses) == [200] && statuses.count > 10)
                #expect(try await gateway.end() == 0)
                #expect(!gateway.log.contains("server.cut_off"))
            }
        }
    }

    @Test func `a second signal ends the delay as well`() async throws {
        try await Self.withHungPull(["gateway.shutdown_delay": "600s"]) { gateway, _, pull in
            gateway.send(SIGTERM)
            _ = try await gateway.line(with: "server.draining")
            let waiting = try await gateway.line(with: "waiting for the delay", #""requests":1"#, #""path":"/sync""#)
            #expect(waiting.contains(#""delay_left_ms":59"#) && waiting.contains(#""code":"server.draining""#))
            gateway.send(SIGTERM)
            #expect(try await gateway.end() == 0)
            _ = try await gateway.line(with: "stopping at once", #""level":"notice""#)
            let status = try? await pull.value
            #expect(status != 200)
        }
    }

    @Test(arguments: [(SIGTERM, SIGTERM, "SIGTERM"), (SIGTERM, SIGINT, "SIGINT"), (SIGINT, SIGQUIT, "SIGQUIT")])
    func `a second signal stops at once, in good order`(first: Int32, second: Int32, name: String) async throws {
        try await Self.withHungPull(["gateway.shutdown_grace": "600s"]) { gateway, _, pull in
            gateway.send(first)
            _ = try await gateway.line(with: "server.draining")
            gateway.send(second)
            #expect(try await gateway.end() == 0)
            _ = try await gateway.line(with: "stopping at once", #""signal":"\#(name)""#, #""level":"notice""#)
            #expect(gateway.log.split(separator: "\n").last?.contains(#""message":"stopped""#) == true)
            let status = try? await pull.value
            #expect(status != 200)
        }
    }

    @Test func `SIGQUIT stops at once without draining`() async throws {
        try await Self.withHungPull(["gateway.shutdown_grace": "600s"]) { gateway, _, pull in
            gateway.send(SIGQUIT)
            let ended = try await gateway.end()
            #expect(ended == 0)
            #expect(gateway.log.contains("stopping at once") && !gateway.log.contains("draining"))
            let status = try? await pull.value
            #expect(status != 200)
        }
    }

    @Test func `what hangs longer than the grace is counted and cut`() async throws {
        let overrides = ["gateway.shutdown_grace": "100ms", "admin.listen": "127.0.0.1:0"]
        try await Self.withHungPull(overrides) { gateway, _, pull in
            gateway.send(SIGTERM)
            #expect(try await gateway.end() == 0)
            _ = try await gateway.line(with: "cut off by the shutdown", #""requests":1"#)
            let status = try? await pull.value
            #expect(status != 200)
        }
    }
}
