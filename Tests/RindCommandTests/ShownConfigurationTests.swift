// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import DemoBackend
import Foundation
import GatewayConfig
import HTTPTypes
import NIOCore
import SyncModel
import Testing

/// Every configuration that the documents, the samples and the examples show, held against lines as backends send them.
@Suite struct ShownConfigurationTests {
    /// A file, or a block of a document.
    struct Shown: Sendable, CustomTestStringConvertible {
        var name: String
        var text: String
        var testDescription: String { name }

        /// The text with what a block that shows only tables leaves out.
        var whole: String {
            let identity = "[identity]\nprincipal = backend:GET /users/me id\nkey = @file:/etc/rind/identity.key\n"
            return (text.contains("[identity]") ? "" : identity)
                + (text.contains("[backend]") ? "" : "[backend]\nurl = http://127.0.0.1:8791\n") + text
        }
    }

    static let all: [Shown] = {
        // The one that grows has a backend and a test of its own.
        let documents =
            ["README.md"] + files(in: "docs").filter { $0.hasSuffix(".md") && !$0.hasSuffix("AFTERNOON.md") }
        let blocks = documents.flatMap { path in
            ((try? Place.text(path)) ?? "").components(separatedBy: "\n```ini\n").dropFirst().enumerated().map {
                Shown(name: "\(path), block \($0 + 1)", text: $1.components(separatedBy: "```")[0])
            }
        }
        let samples = (files(in: "config") + files(in: "examples").flatMap(files)).filter { $0.hasSuffix(".ini") }
        return blocks + samples.map { Shown(name: $0, text: (try? Place.text($0)) ?? "") }
    }()

    private static func files(in folder: String) -> [String] {
        let path = Place.root.appending(path: folder).path(percentEncoded: false)
        return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted().map { "\(folder)/\($0)" }
    }

    @Test func `there are as many as are known to be shown`() {
        let names = Self.all.map(\.name)
        for name in [
            "README.md, block 1", "docs/BACKEND-PROTOCOL.md, block 2", "docs/IDS.md, block 1",
            "docs/SCHEMA.md, block 1",
            "config/rind.ini", "config/rind-minimal.ini", "examples/quickstart/rind.ini", "examples/systemd/rind.ini",
            "examples/integer-ids/rind.ini", "examples/python-backend/rind.ini",
        ] { #expect(names.contains(name)) }
    }

    /// It takes neither an idempotency key nor an id of the client's.
    private static func isTrueOfImmich(_ warning: Substring) -> Bool {
        warning.hasSuffix("a creation whose answer is lost is found again by 'match' alone")
    }

    @Test func `each loads without a warning, and names only members that the lines of its backend have`() async throws
    {
        try await Self.withLines { lines in
            for shown in Self.all {
                for (version, result) in try await Self.check(shown, against: lines) {
                    let said = result.error.split(separator: "\n").filter { $0.contains(": warning: ") }
                    // Types of other backends may look like mistakes.
                    #expect(
                        [0, 1].contains(result.status) && said.allSatisfy(Self.isTrueOfImmich), "\(shown.name): \(said)"
                    )
                    #expect(Self.warnings(in: result) == [], "\(shown.name), schema version \(version)")
                }
            }
        }
    }

    @Test func `a member that no line has is found`() async throws {
        var shown = try #require(Self.all.first { $0.name == "README.md, block 1" })
        shown.text = shown.text.replacing("string name send albumName", with: "string albumName")
        let wrong = shown
        try await Self.withLines { lines in
            for (_, result) in try await Self.check(wrong, against: lines) {
                #expect(Self.warnings(in: result).contains { $0.hasPrefix("warning: albums.name: never present") })
            }
        }
    }

    /// What looks wrong, but for lines of other backends' types.
    private static func warnings(in result: Finished) -> [String] {
        result.out.split(separator: "\n").map(String.init).filter {
            $0.hasPrefix("warning: ") && !$0.contains("that nobody gets")
        }
    }

    /// Runs `rind check --sample` for the oldest and the newest app that a configuration serves.
    private static func check(_ shown: Shown, against lines: String) async throws -> [(Int, Finished)] {
        let schema = try Configuration.load(shown.whole, environment: SchemaUpdateTests.key).schema
        return try await Place.withDirectory { directory in
            for (name, text) in ["rind.ini": shown.whole, "lines.jsonl": lines] {
                try text.write(to: directory.appending(path: name), atomically: true, encoding: .utf8)
            }
            // Nothing of this machine matters.
            let path = directory.path(percentEncoded: false)
            let places = ["RIND_SPOOL_DIR": path, "RIND_STATE_URL": "sqlite:\(path)/state.db"]
            var results: [(Int, Finished)] = []
            for version in Set([schema.oldest, schema.version]) {
                let result = try await RunningCommand.run(
                    ["check", "--config", "rind.ini", "--sample", "lines.jsonl", "--schema-version", "\(version)"],
                    environment: SchemaUpdateTests.key.merging(places) { $1 }, directory: directory)
                results.append((version, result))
            }
            return results
        }
    }

    /// Lines of Immich and of the backend in Python as they were replayed, and of the demo backend as it streams them.
    private static func withLines(_ body: (String) async throws -> Void) async throws {
        let replayed = try Place.text("Tests/RindCommandTests/Fixtures/shapes.jsonl")
        try await DemoBackend.withRunning { backend in
            try await backend.edit(
                .put("projects", ["id": "p"]), .put("tasks", ["id": "t", "projectId": "p"]),
                .put("comments", ["id": "c", "taskId": "t"]), .put("tags", ["id": "g", "label": "Red"]),
                .put("task_tags", ["taskId": "t", "tagId": "g"]))
            let reactor = try CurlReactor.start()
            let result: Result<String, any Error>
            do {
                let url = try await backend.url
                _ = try await post(url + "/folders", #"{"name":"Kitchen"}"#, reactor)
                _ = try await post(url + "/notes", #"{"title":"Soup","folderId":1}"#, reactor)
                // It sends one version of a type at a time.
                let older = #"{"types":["ProjectsV1","TasksV1","CommentsV1","TagsV1","TaskTagsV1"]}"#
                let newer = #"{"types":["ProjectsV2","TasksV2","FoldersV1","NotesV1"]}"#
                let first = try await post(url + "/sync/stream", older, reactor)
                result = .success(first + (try await post(url + "/sync/stream", newer, reactor)))
            } catch {
                result = .failure(error)
            }
            await reactor.shutdown()
            try await body(replayed + result.get())
        }
    }

    private static func post(_ url: String, _ body: String, _ reactor: CurlReactor) async throws -> String {
        var request = CurlRequest(method: .post, url: url)
        request.fields[.contentType] = "application/json"
        request.fields[.authorization] = "Bearer ada-token"
        request.body = .bytes(ByteBuffer(string: body))
        let response = try await reactor.execute(request)
        #expect(response.status.kind == .successful, "\(url)")
        return String(buffer: try await response.body.collect(upTo: 1 << 20))
    }
}
