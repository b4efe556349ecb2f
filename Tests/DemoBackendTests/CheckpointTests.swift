// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Testing

@Suite struct CheckpointTests {
    @Test func `a complete line of forty days ago is answered with a reset, one of seven is not`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            try await client.sync("TagsV1")
            backend.clock.advance(by: DemoClock.days(7))
            #expect(try await client.stream("TagsV1").map(\.type) == ["SyncCompleteV1"])
            backend.clock.advance(by: DemoClock.days(33))
            #expect(try await client.stream("TagsV1").map(\.type) == ["SyncResetV1"])
        }
    }

    @Test func `a pending reset is one line, until it is confirmed`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "g"]))
            let client = try await TestClient(backend)
            try await client.sync("TagsV1")
            let flag = try await client.send("PUT", "/sessions/me", body: #"{"isPendingSyncReset":true}"#)
            #expect(flag.status == 200)
            for _ in 0..<2 {
                let lines = try await client.stream("TagsV1")
                #expect(lines.map(\.description) == ["SyncResetV1 {} SyncResetV1|reset"])
            }
            try await client.ack(["SyncResetV1|reset"])
            #expect(try await client.stream("TagsV1").map(\.type) == ["TagV1", "SyncCompleteV1"])
        }
    }

    @Test func `confirming a reset drops every other token of the request`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "g"]))
            let client = try await TestClient(backend)
            let lines = try await client.stream("TagsV1")
            try await client.ack([lines[0].ack, "SyncResetV1|reset", lines[1].ack])
            #expect(try await backend.checkpoints(token: "ada-token").isEmpty)
        }
    }

    @Test func `reset in the request swallows a pending reset and streams everything`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "g"]))
            let client = try await TestClient(backend)
            try await client.sync("TagsV1")
            try await backend.setPendingReset(true, token: "ada-token")
            let lines = try await client.stream("TagsV1", reset: true)
            #expect(lines.map(\.type) == ["TagV1", "SyncCompleteV1"])
            try await client.ack(lines)
            #expect(try await client.stream("TagsV1").map(\.type) == ["SyncCompleteV1"])
        }
    }

    @Test func `checkpoints move back as well, and of two for one namespace the last counts`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "a"]), .put("tags", ["id": "b"]))
            let client = try await TestClient(backend)
            let lines = try await client.stream("TagsV1")
            try await client.ack([lines[1].ack, lines[0].ack])
            #expect(try await client.stream("TagsV1").map(\.id) == ["b", ""])
            try await client.ack([lines[1].ack])
            #expect(try await client.stream("TagsV1").map(\.id) == [""])
            try await client.ack([lines[0].ack])
            #expect(try await client.stream("TagsV1").map(\.id) == ["b", ""])
        }
    }

    @Test func `sessions of one user have checkpoints of their own`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "a"]))
            let client = try await TestClient(backend)
            try await client.sync("TagsV1")
            let other = try await TestClient(backend, token: try await backend.login(as: "ada@example.com"))
            #expect(try await other.stream("TagsV1").map(\.id) == ["a", ""])
            #expect(try await client.stream("TagsV1").map(\.id) == [""])
        }
    }

    @Test func `checkpoints are forgotten by namespace or all at once`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "a"]), .put("projects", ["id": "p"]))
            let client = try await TestClient(backend)
            try await client.sync("TagsV1", "ProjectsV2")
            let answer = try await client.send("DELETE", "/sync/ack", body: #"{"types":["TagV1"]}"#)
            #expect(answer.status == 204)
            #expect(try await client.stream("TagsV1", "ProjectsV2").map(\.type) == ["TagV1", "SyncCompleteV1"])
            #expect(try await client.send("DELETE", "/sync/ack").status == 204)
            #expect(try await client.send("GET", "/sync/ack").json == [])
        }
    }

    @Test func `a token of nonsense is taken, and then poisons the stream`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "a"]), .put("projects", ["id": "p"]))
            let client = try await TestClient(backend)
            try await client.ack(["TagV1|nonsense"])
            let body = #"{"types":["TagsV1"]}"#
            #expect(try await client.send("POST", "/sync/stream", body: body).status == 500)
            let both = #"{"types":["ProjectsV2","TagsV1"]}"#
            let hanging = try await client.send("POST", "/sync/stream", body: both, patience: 300)
            #expect(hanging.status == 200)
            #expect(hanging.lines.map(\.type) == ["ProjectV2"])
            #expect(!hanging.isComplete)
            _ = try await client.send("DELETE", "/sync/ack", body: #"{"types":["TagV1"]}"#)
            #expect(try await client.stream("TagsV1").count == 2)
        }
    }

    @Test func `a thousand tokens are taken at once, one more is not`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let token = "TagV1|018f3a5e-0000-7000-8000-000000000000"
            try await client.ack(Array(repeating: token, count: 1000))
            let many: DemoValue = ["acks": .array(Array(repeating: .string(token), count: 1001))]
            #expect(try await client.send("POST", "/sync/ack", body: many.json).status == 400)
        }
    }

    @Test(arguments: [
        (#"{"acks":["MysteryV1|x"]}"#, 400), (#"{"acks":"TagV1|x"}"#, 400), (#"{"acks":[1]}"#, 400), ("{}", 400),
        (#"{"acks":[]}"#, 500),
    ])
    func `acks that are not understood are refused`(body: String, status: Int) async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            #expect(try await client.send("POST", "/sync/ack", body: body).status == status)
        }
    }

    @Test func `a client that keeps checkpoints itself sends them along, and nothing is kept here`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("projects", ["id": "p"]), .put("tasks", ["id": "t", "projectId": "p"]))
            let client = try await TestClient(backend)
            func stream(_ tokens: [String: String]) async throws -> [Line] {
                let body: DemoValue = [
                    "types": ["TasksV2"], "checkpoints": .object(tokens.mapValues(DemoValue.string)),
                ]
                return try await client.send("POST", "/sync/stream-from", body: body.json).lines
            }
            let first = try await stream([:])
            #expect(first.map(\.type) == ["SyncAckV1", "TaskV2", "SyncCompleteV1"])
            #expect(first[0].ack.hasPrefix("TaskBackfillV2|"))
            var tokens = Dictionary(first.map { (String($0.ack.prefix { $0 != "|" }), $0.ack) }) { $1 }
            #expect(try await stream(tokens).map(\.type) == ["SyncCompleteV1"])
            tokens["TaskV2"] = nil
            #expect(try await stream(tokens).contains { $0.id == "t" })
            #expect(try await backend.checkpoints(token: "ada-token").isEmpty)
        }
    }

    @Test func `deletions are forgotten after thirty-one days`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "a"]))
            let client = try await TestClient(backend)
            let lines = try await client.stream("TagsV1")
            try await client.ack([lines[0].ack])
            try await backend.edit(.delete("tags", "a"))
            backend.clock.advance(by: DemoClock.days(30))
            try await backend.prune()
            #expect(try await client.stream("TagsV1").map(\.type) == ["TagDeleteV1", "SyncCompleteV1"])
            backend.clock.advance(by: DemoClock.days(2))
            #expect(try await client.stream("TagsV1").map(\.type) == ["SyncCompleteV1"])
        }
    }
}
