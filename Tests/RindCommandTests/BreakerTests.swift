// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import Testing

/// A gateway whose backend goes away and comes back.
@Suite(.timeLimit(.minutes(3))) struct BreakerTests {
    @Test func `a backend that is gone is left alone, and syncs go on when it is back`() async throws {
        var configuration = DemoConfiguration()
        // Below the ports that the system gives to listeners and connections while this one is free.
        configuration.port = Int.random(in: 20_000..<32_000)
        // On a busy machine the backend takes longer to go than a client waits for the first byte, and an answer that has
        // begun could only be cut.
        let environment = [
            "RIND_BACKEND_BREAKER_FAILURES": "3", "RIND_BACKEND_BREAKER_OPEN": "1s", "RIND_PULL_FIRST_BYTE_AFTER": "0s",
        ]
        try await Place.withDirectory { directory in
            configuration.file = directory.appending(path: "demo.db").path(percentEncoded: false)
            let variables = environment.merging(["RIND_ADMIN_LISTEN": "127.0.0.1:0"]) { $1 }
            let command = try ServedGateway.start(
                in: directory, backend: "http://127.0.0.1:\(configuration.port)", environment: variables)
            defer { command.signal(SIGKILL) }
            let gateway = try await Self.listener("clients", of: command, directory)
            let admin = try await Self.listener("admin", of: command, directory)
            func pull() async throws -> (status: Int, body: String) {
                try await gateway.get("/sync?last_pulled_at=null", token: "ada-token")
            }
            func state(_ name: String) async throws -> Bool {
                try await admin.get("/metrics").body.contains("rind_breaker_state{state=\"\(name)\"} 1")
            }
            let first = try await DemoBackend.withRunning(configuration) { _ in try await pull().status }
            #expect(first == 200)
            #expect(try await state("closed"))

            for _ in 0..<3 where try await !state("open") { #expect(try await pull().status == 502) }
            #expect(try await state("open"))
            let refused = try await pull()
            #expect(refused.status == 503 && refused.body.hasPrefix("The server cannot be reached"))
            #expect(try await admin.get("/metrics").body.contains("rind_breaker_refused_calls_total 1"))
            let line = try #require(await command.errorMatch("the backend does not answer.*"))
            #expect(line.contains("code=backend.circuit_open") && line.contains("cause=backend.connect"))
            #expect(await command.errorMatch("sync .*code=backend.circuit_open") != nil)
            #expect(try await admin.get("/readyz").status == 200, "another gateway has the same backend")
            #expect(try await gateway.get("/users/me", token: "ada-token").status == 502, "what passes is tried")

            // A trial fails while it is still gone.
            try await Self.until { try await pull().status == 502 }
            #expect(try await admin.get("/metrics").body.contains("rind_breaker_openings_total 2"))
            try await DemoBackend.withRunning(configuration) { _ in
                try await Self.until { try await pull().status == 200 }
                #expect(try await state("closed"))
                #expect(await command.errorMatch("the backend answers again") != nil)
            }
        }
    }

    /// Tries until something holds, for at most ten seconds.
    private static func until(_ body: () async throws -> Bool) async throws {
        for _ in 0..<100 {
            if try await body() { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        Issue.record("it has not come about")
    }

    private static func listener(
        _ name: String, of command: RunningCommand, _ directory: URL
    ) async throws -> ServedGateway {
        let text = await command.errorMatch("listener=\(name) port=[0-9]+")
        let port = try #require(text.flatMap { Int($0.drop { !$0.isNumber }) }, "\(command.errorText)")
        return ServedGateway(command: command, port: port, directory: directory)
    }
}
