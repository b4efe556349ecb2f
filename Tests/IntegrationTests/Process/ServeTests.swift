// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import Testing

/// How `rind serve` starts, stops, and refuses to start.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"))
struct ServeTests {
    /// A mistake in a configuration.
    static let mistakes: [(old: String, new: String)] = [
        ("[state]", "[stat]"), ("principal =", "principle ="), ("backend:GET /users/me id", "whoever"),
        ("checkpoints = server", "checkpoints = nowhere"), ("upsert = TagV1", "upsert ="),
        ("label = string", "label = text"), ("parent = task_id tasks\n", "parent = task_id nothing\n"),
        ("key = ", "key = short ;"), ("[gateway]", "[gateway]\nlisten = nowhere"),
        ("version = 3", "version = 3\nversion = 3"),
        ("[gateway]", "\u{0}"), ("[gateway]", String(repeating: "x", count: 100_000)),
    ]

    @Test func `a configuration with a mistake stops the start with status 78 and says where`() async throws {
        try await GatewayStack.withBackend { backend, directory in
            for (old, new) in Self.mistakes {
                let text = try StackConfiguration.quickstart()
                let place = try #require(text.firstRange(of: old), "\(old)")
                do {
                    let process = try await GatewayProcess.start(
                        backend: try await backend.url, directory: directory,
                        configuration: text.replacingCharacters(in: place, with: new))
                    try await process.kill()
                    Issue.record("it started with \(new.prefix(40))")
                } catch GatewayProcess.Failure.ended(let status, let said) {
                    #expect(status == 78, "\(new.prefix(40)): \(said.prefix(300))")
                    #expect(said.contains(#""code":"config.error""#), "\(said.prefix(300))")
                    #expect(said.contains("rind.ini") && said.contains(#""line":"#))
                }
                #expect(!FileManager.default.fileExists(atPath: "\(directory)/state.db"))
            }
        }
    }

    @Test func `a state of a newer gateway stops the start and is left alone`() async throws {
        try await GatewayStack.withBackend { backend, directory in
            let url = try await backend.url
            try await GatewayProcess.with(backend: url, directory: directory) { _ in }
            let path = "\(directory)/state.db"
            try StateDump.execute("PRAGMA user_version = 99", path: path)
            let before = try Data(contentsOf: URL(filePath: path))
            do {
                try await GatewayProcess.with(backend: url, directory: directory) { _ in }
                Issue.record("it started")
            } catch GatewayProcess.Failure.ended(let status, let said) {
                #expect(status == 74 && said.contains("state.schema_newer"), "\(said)")
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
        }
    }

    @Test func `SIGTERM cuts what takes longer than its grace`() async throws {
        try await GatewayStack.withBackend { backend, directory in
            let gateway = try await GatewayProcess.start(
                backend: try await backend.url, directory: directory, overrides: ["gateway.shutdown_grace": "100ms"])
            let latch = Latch()
            backend.holdStreams(with: latch)
            async let pulled = gateway.http.send(
                "GET", GatewayStack.pullTarget(), headers: GatewayStack.headers())
            try await eventually { await latch.arrivals == 1 }
            gateway.send(SIGTERM)
            #expect(try await gateway.end() == 0)
            #expect(try await pulled.status != 200)
            await latch.open()
        }
    }
}
