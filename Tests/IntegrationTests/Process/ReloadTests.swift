// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import Gateway
import GatewayTesting
import Testing

/// What `rind serve` makes of a changed configuration on SIGHUP.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"))
struct ReloadTests {
    /// A gateway, its backend, and the directory with its file.
    private struct Stage {
        let gateway: GatewayProcess
        let backend: DemoBackend
        let directory: String
        private var file: URL { URL(filePath: directory).appending(path: "rind.ini") }

        /// Writes the configuration, as editors do: whole.
        func write(_ text: String) throws { try Data(text.utf8).write(to: file, options: .atomic) }

        /// Makes the file unreadable, or a directory.
        func remove(puttingDirectory: Bool = false) throws {
            try? FileManager.default.removeItem(at: file)
            if puttingDirectory {
                try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            }
        }

        /// Asks for a reload and waits for its end.
        func reload() async throws {
            func ended() -> Int {
                gateway.log.split(separator: "\n").count {
                    $0.contains(#""code":"config.reloaded""#) || $0.contains(#""code":"config.not_reloaded""#)
                }
            }
            let before = ended()
            gateway.send(SIGHUP)
            try await eventually { ended() > before || !gateway.isRunning }
        }

        func pull(_ cursor: Int64? = nil) async throws -> RawAnswer {
            try await gateway.http.send("GET", GatewayStack.pullTarget(cursor), headers: GatewayStack.headers())
        }
    }

    private static func with(
        _ overrides: [String: String] = [:], _ body: (Stage) async throws -> Void
    ) async throws {
        try await GatewayStack.withBackend { backend, directory in
            let url = try await backend.url
            try await GatewayProcess.with(backend: url, directory: directory, overrides: overrides) { gateway in
                try await body(Stage(gateway: gateway, backend: backend, directory: directory))
            }
        }
    }

    private static func edited(_ old: String, _ new: String) throws -> String {
        let text = try StackConfiguration.quickstart()
        let place = try #require(text.firstRange(of: old), "\(old)")
        return text.replacingCharacters(in: place, with: new)
    }

    @Test func `reloads of broken and sound files under load fail no request, and the old ones stay in use`()
        async throws
    {
        try await Self.with(["admin.listen": "127.0.0.1:0"]) { stage in
            try await stage.backend.edit(.put("projects", ["id": "p-0", "name": "one"]))
            let done = Latch()
            async let loads = withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var outcomes: [String] = []
                        while await !done.isOpen { outcomes.append(try await stage.pull().outcome) }
                        return outcomes
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            for (old, new) in ServeTests.mistakes {
                try stage.write(try Self.edited(old, new))
                try await stage.reload()
                try stage.write(try StackConfiguration.quickstart() + "\n# another one\n")
                try await stage.reload()
            }
            try stage.remove()
            try await stage.reload()
            try stage.remove(puttingDirectory: true)
            try await stage.reload()
            for _ in 0..<50 { stage.gateway.send(SIGHUP) }
            await done.open()
            let outcomes = try await loads
            #expect(Set(outcomes) == ["200"] && outcomes.count >= 4)
            #expect(stage.gateway.isRunning)
            _ = try await stage.gateway.line(with: #""code":"config.error""#, "rind.ini", #""line":"#, #""column":"#)
            _ = try await stage.gateway.line(with: "config.not_reloaded", #""level":"error""#, #""mistakes":"#)
            let metrics = try await stage.gateway.admin().send("GET", "/metrics").text
            let failed = metrics.split(separator: "\n").first { $0.hasPrefix(#"rind_reloads_total{result="failed"}"#) }
            #expect(Int(failed?.split(separator: " ").last ?? "") ?? 0 >= ServeTests.mistakes.count + 2)
            #expect(metrics.contains(#"rind_reloads_total{result="ok"}"#))
            stage.gateway.send(SIGTERM)
            #expect(try await stage.gateway.end() == 0)
        }
    }

    @Test func `the status page has the digest of the file that was read last, and says if one was refused since`()
        async throws
    {
        try await Self.with(["admin.listen": "127.0.0.1:0"]) { stage in
            let text = try StackConfiguration.quickstart()
            func page() async throws -> String { try await stage.gateway.admin().send("GET", "/status").text }
            func shows(_ text: String) async throws -> Bool {
                try await page().contains(FileDigest.beginning(of: text.utf8))
            }
            #expect(try await shows(text))
            try stage.write(text + "# a comment\n")
            #expect(try await shows(text))
            try await stage.reload()
            #expect(try await shows(text + "# a comment\n"))
            #expect(try await !page().contains("and refused"))
            try stage.write("[broken")
            try await stage.reload()
            #expect(try await shows(text + "# a comment\n"))
            try await eventually { try await page().contains("and refused") }
            try stage.write(text)
            try await stage.reload()
            try await eventually { try await !page().contains("and refused") }
        }
    }

    @Test func `a reload is for new requests, and one that runs finishes as it began`() async throws {
        try await Self.with { stage in
            try await stage.backend.edit(.put("projects", ["id": "p-0", "name": "one"]))
            #expect(try await stage.gateway.http.send("GET", "/v2/pull").outcome != "401 request.not_signed_in")
            let latch = Latch()
            stage.backend.holdStreams(with: latch)
            async let held = stage.pull()
            try await eventually { await latch.arrivals == 1 }
            try stage.write(
                try Self.edited("[gateway]\n", "[log]\nlevel = debug\n[gateway]\nsync_path = /v2/sync\n"))
            try await stage.reload()
            let moved = try await stage.gateway.http.send("GET", "/v2/sync")
            #expect(moved.outcome == "401 request.not_signed_in")
            let gone = try await stage.gateway.http.send("GET", "/sync?last_pulled_at=null")
            #expect(gone["Rind-Error"] == nil)
            _ = try await stage.gateway.line(with: #""level":"debug""#)
            await latch.open()
            let answer = try await held
            #expect(answer.status == 200 && answer.text.contains("p-0"))
        }
    }

    @Test func `what needs a restart keeps its value and is named`() async throws {
        try await Self.with { stage in
            try await stage.backend.edit(.put("projects", ["id": "p-0", "name": "one"]))
            let cursor = try PulledChanges(await stage.pull()).cursor
            let key = "another-key-that-is-no-secret-at-all-either"
            try stage.write(
                try Self.edited("quickstart-key-that-is-no-secret-at-all", key) + "\n[limits]\npulls = 7\n")
            try await stage.reload()
            let line = try await stage.gateway.line(with: "config.needs_restart")
            #expect(line.contains("identity.key, limits.pulls") && line.contains(#""level":"warning""#))
            #expect(!stage.gateway.log.contains(key))
            // With another key the cursor would be unknown.
            #expect(try await stage.pull(cursor).status == 200)
            _ = try await stage.gateway.line(with: #""message":"sync""#, #""mode":"idle""#, "\"presented\":\(cursor)")
        }
    }

    @Test func `lines that were kept before a change of the mapping are not taken over after it`() async throws {
        try await Self.with { stage in
            try await stage.backend.edit(.put("projects", ["id": "p-0", "name": "one"]))
            try await stage.backend.edit(
                (0..<1_500).map {
                    .put("tasks", ["id": .string("t-\($0)"), "name": .string("name \($0)"), "projectId": "p-0"])
                })
            func lastSync() async throws -> String {
                let lines = stage.gateway.log.split(separator: "\n").filter { $0.contains(#""message":"sync""#) }
                return String(try #require(lines.last))
            }
            #expect(try await stage.pull().status == 200)
            #expect(try await stage.pull().status == 200)
            try await eventually { try await lastSync().contains("lines_kept") }
            try stage.write(try Self.edited("name = string\nposition", "name = string note\nposition"))
            try await stage.reload()
            let answer = try await stage.pull()
            #expect(answer.status == 200 && !answer.text.contains("name 7"))
            _ = try await stage.gateway.line(with: #""message":"sync""#, answer["X-Request-Id"] ?? "none")
            #expect(try await !lastSync().contains("lines_kept"))
        }
    }
}
