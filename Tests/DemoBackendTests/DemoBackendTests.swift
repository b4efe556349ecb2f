// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import Testing

@Suite struct DemoBackendTests {
    @Test func `a file keeps records, checkpoints, sessions and the order of ids over a restart`() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).db").path
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + suffix) } }
        var configuration = DemoConfiguration()
        configuration.file = file
        let clock = DemoClock()
        clock.stand(at: 1_800_000_000_000)
        let session = try await DemoBackend.withRunning(configuration, clock: clock) { backend in
            try await backend.edit(.put("tags", ["id": "a"]))
            let token = try await backend.login(as: "ada@example.com")
            try await TestClient(backend, token: token).sync("TagsV1")
            return token
        }
        try await DemoBackend.withRunning(configuration, clock: clock) { backend in
            let client = try await TestClient(backend, token: session)
            #expect(try await client.sync("TagsV1").isEmpty)
            try await backend.edit(.put("tags", ["id": "b"]))
            #expect(try await client.sync("TagsV1").map(\.id) == ["b"])
        }
    }

    @Test func `a file that cannot be opened is an error`() async throws {
        var configuration = DemoConfiguration()
        configuration.file = "/nowhere/at/all.db"
        #expect(throws: (any Error).self) { try DemoBackend(configuration: configuration) }
    }

    @Test func `a port that is taken is an error for who waits for it`() async throws {
        try await DemoBackend.withRunning { backend in
            var configuration = DemoConfiguration()
            configuration.port = try await backend.port
            await #expect(throws: (any Error).self) {
                try await DemoBackend.withRunning(configuration) { _ in }
            }
        }
    }

    @Test func `the same seed makes the same records`() async throws {
        var seed = DemoSeed()
        seed.tasks = 200
        let clock = DemoClock()
        clock.stand(at: 1_800_000_000_000)
        let first = try await Self.seeded(seed, clock)
        #expect(first["tasks"]?.count ?? 0 > 100)
        #expect(try await Self.seeded(seed, clock) == first)
        seed.seed = 2
        #expect(try await Self.seeded(seed, clock) != first)
    }

    private static func seeded(
        _ seed: DemoSeed, _ clock: DemoClock
    ) async throws -> [String: [String: DemoValue]] {
        let backend = try DemoBackend(clock: clock)
        try await backend.seed(seed)
        return try await backend.records()
    }

    @Test func `the stream carries exactly what the user sees`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.seed()
            for (email, token) in [("ada@example.com", "ada-token"), ("bob@example.com", "bob-token")] {
                let client = try await TestClient(backend, token: token)
                let lines = try await client.stream("ProjectsV2", "TasksV2", "CommentsV1", "TagsV1")
                let records = try await backend.records(of: email)
                for (type, table) in [
                    ("ProjectV2", "projects"), ("TaskV2", "tasks"), ("CommentV1", "comments"), ("TagV1", "tags"),
                ] {
                    #expect(Set(lines.filter { $0.type == type }.map(\.id)) == Set(records[table, default: [:]].keys))
                }
            }
        }
    }

    @Test func `wiping leaves accounts, and streams that are empty`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.seed()
            try await backend.wipe()
            let client = try await TestClient(backend)
            #expect(try await client.stream("ProjectsV2", "TasksV2", "TagsV1").map(\.type) == ["SyncCompleteV1"])
        }
    }

    @Test func `a token may come as Basic credentials or in a configured field`() async throws {
        var configuration = DemoConfiguration()
        configuration.accounts[0].tokens.append("dXNlcjpzZWNyZXQ=")
        configuration.tokenHeaders = ["x-jwt-token"]
        try await DemoBackend.withRunning(configuration) { backend in
            let client = try await TestClient(backend, token: nil)
            for headers in [
                ["authorization": "Basic dXNlcjpzZWNyZXQ="], ["authorization": "bearer  ada-token"],
                ["x-jwt-token": "ada-token"], ["cookie": "a=b; demo_access_token=ada-token"],
            ] {
                #expect(try await client.send("GET", "/users/me", headers: headers).status == 200, "\(headers)")
            }
            for headers in [["authorization": "Digest ada-token"], ["x-other": "ada-token"], [:]] {
                #expect(try await client.send("GET", "/users/me", headers: headers).status == 401, "\(headers)")
            }
        }
    }

    @Test func `edits that make no sense are errors and change nothing`() async throws {
        let backend = try DemoBackend()
        let edits: [DemoEdit] = [
            .put("mysteries", ["id": "a"]), .put("tags", ["label": "no id"]), .put("tags", ["id": "g", "size": 1]),
            .delete("task_tags", "only-one-part"), .share(project: "p", with: "nobody@example.com"),
        ]
        for edit in edits {
            await #expect(throws: (any Error).self) {
                try await backend.edit(.put("tags", ["id": "before"]), edit)
            }
        }
        #expect(try await backend.records()["tags"] == [:])
    }

    @Test func `steering over HTTP is there only where it is allowed`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            #expect(try await client.send("GET", "/_demo/dump").status == 404)
        }
        var configuration = DemoConfiguration()
        configuration.allowsSteering = true
        try await DemoBackend.withRunning(configuration) { backend in
            let client = try await TestClient(backend)
            let edit = #"""
                {"as":"bob@example.com","edits":[{"put":"projects","record":{"id":"p","name":"N"}},
                {"put":"tasks","record":{"id":"t","projectId":"p"}},{"share":"p","user":"ada@example.com"},
                {"delete":"tasks","id":"t"}]}
                """#
            #expect(try await client.send("POST", "/_demo/edit", body: edit).status == 204)
            let dump = try await client.send("GET", "/_demo/dump?user=ada@example.com").json
            #expect(dump?["projects"]?["p"]?["name"] == "N")
            #expect(dump?["tasks"] == [:])
            #expect(try await client.send("POST", "/_demo/edit", body: #"{"put":"nothing"}"#).status == 400)
            let fault = #"{"path":"/sync/ack","status":503,"retryAfter":3}"#
            #expect(try await client.send("POST", "/_demo/fault", body: fault).status == 204)
            #expect(try await client.send("GET", "/sync/ack").headers["retry-after"] == "3")
            let cut = #"{"cutAfterLines":1,"malformed":{"0":"duplicate"}}"#
            #expect(try await client.send("POST", "/_demo/fault", body: cut).status == 204)
            let answer = try await client.send("POST", "/sync/stream", body: #"{"types":["ProjectsV2"]}"#)
            #expect(answer.lines.map(\.id) == ["p", "p"])
            #expect(!answer.isComplete)
            let set = try await client.send("POST", "/_demo/clock", body: #"{"set":1000,"advance":2}"#)
            let now = try #require(set.json?["now"]?.number)
            #expect((3000..<60_000).contains(now))
            let retire = #"{"types":["TagsV1"],"style":"names"}"#
            #expect(try await client.send("POST", "/_demo/retire", body: retire).status == 204)
            #expect(backend.retirement == DemoRetirement(["TagsV1"], style: .names))
            for wrong in [#"{"types":["TagsV9"]}"#, #"{"types":[],"style":"loud"}"#, #"{"types":"TagsV1"}"#, "{}"] {
                #expect(try await client.send("POST", "/_demo/retire", body: wrong).status == 400)
            }
            #expect(try await client.send("POST", "/_demo/retire", body: #"{"types":[]}"#).status == 204)
            #expect(backend.retirement == DemoRetirement())
            #expect(try await client.send("POST", "/_demo/seed", body: #"{"tasks":30}"#).status == 204)
        }
    }
}
