// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Testing

@Suite struct StreamTests {
    @Test func `an empty stream is one complete line`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let lines = try await client.stream("ProjectsV2", "TasksV2", "CommentsV1", "TagsV1", "TaskTagsV1")
            #expect(lines.map(\.type) == ["SyncCompleteV1"])
            #expect(lines[0].data == [:])
        }
    }

    @Test func `a line has type, data and ack in this order and its token carries the change's id`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "a", "label": "red \"ink\"\n"]))
            let answer = try await TestClient(backend).send("POST", "/sync/stream", body: #"{"types":["TagsV1"]}"#)
            #expect(answer.headers["content-type"] == "application/jsonlines+json")
            let line = try #require(answer.text.split(separator: "\n").first)
            #expect(line.hasPrefix(#"{"type":"TagV1","data":{"id":"a","label":"red \"ink\"\n"},"ack":"TagV1|0"#))
        }
    }

    @Test func `after everything is confirmed only the complete line comes`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.seed()
            let client = try await TestClient(backend)
            let types = ["ProjectsV2", "TasksV2", "CommentsV1", "TagsV1", "TaskTagsV1", "SharedTasksV1"]
            let first = try await client.stream(types)
            #expect(first.count > 1000)
            try await client.ack(first)
            let second = try await client.stream(types)
            #expect(second.map(\.type) == ["SyncCompleteV1"])
            #expect(second[0].ack != first.last?.ack)
        }
    }

    @Test func `the order of types is the server's, parents first`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(
                .put("projects", ["id": "p"]), .put("tasks", ["id": "t", "projectId": "p"]),
                .put("comments", ["id": "c", "taskId": "t"]), .put("tags", ["id": "g"]),
                .put("task_tags", ["taskId": "t", "tagId": "g"]))
            let lines = try await TestClient(backend)
                .stream("TaskTagsV1", "TagsV1", "CommentsV1", "TasksV1", "ProjectsV1", "TasksV1")
            #expect(
                lines.map(\.type)
                    == ["ProjectV1", "TaskV1", "CommentV1", "TagV1", "TaskTagV1", "SyncCompleteV1"])
        }
    }

    @Test func `many pages carry every record once, in the order of change`() async throws {
        var configuration = DemoConfiguration()
        configuration.pageSize = 7
        try await DemoBackend.withRunning(configuration) { backend in
            try await backend.edit((0..<50).map { .put("tags", ["id": .string("g\($0)")]) })
            let lines = try await TestClient(backend).stream("TagsV1").dropLast()
            #expect(lines.map(\.id) == (0..<50).map { "g\($0)" })
            #expect(lines.map(\.ack) == lines.map(\.ack).sorted())
        }
    }

    @Test func `a record that changed many times comes once, as it is`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "g", "label": "a"]))
            try await backend.edit(.put("tags", ["id": "g", "label": "b"]))
            let lines = try await TestClient(backend).stream("TagsV1")
            #expect(lines.count == 2)
            #expect(lines[0].data["label"] == "b")
        }
    }

    @Test func `two versions of a type have their own lines and their own checkpoints`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(
                .put("projects", ["id": "p", "name": "N", "color": "red", "settings": ["view": "board"]]))
            let client = try await TestClient(backend)
            let first = try await client.sync("ProjectsV1")
            #expect(first.map(\.type) == ["ProjectV1"])
            #expect(first[0].data["color"] == nil)
            #expect(first[0].data["ownerId"]?.string == DemoConfiguration.Account.ada.id)
            let second = try await client.sync("ProjectsV2")
            #expect(second.map(\.type) == ["ProjectV2"])
            #expect(second[0].data["color"] == "red")
            #expect(second[0].data["settings"] == ["view": "board"])
            #expect(try await client.sync("ProjectsV1").isEmpty)
            #expect(try await client.sync("ProjectsV2").isEmpty)
        }
    }

    @Test func `dates are ISO 8601 where they can be, and numbers where not`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(
                .put("tasks", ["id": "t", "dueAt": 1_700_000_000_005, "createdAt": "2024-02-29T23:59:59.5+01:00"]),
                .put("tasks", ["id": "u", "dueAt": 8.64e15, "createdAt": 0.5]))
            let lines = try await TestClient(backend).stream("TasksV2")
            #expect(lines[0].data["dueAt"] == "2023-11-14T22:13:20.005Z")
            #expect(lines[0].data["createdAt"] == "2024-02-29T22:59:59.500Z")
            #expect(lines[1].data["dueAt"] == 8.64e15)
            #expect(lines[1].data["createdAt"] == 0.5)
        }
    }

    @Test(arguments: [
        #"{"types":["TasksV1","TasksV2"]}"#, #"{"types":["TagsV1","ProjectsV2","ProjectsV1"]}"#,
        #"{"types":["TasksV2","NonsenseV1"]}"#, #"{"types":"TasksV2"}"#, #"{"types":[1]}"#, "{}", "[]", "", "{",
        #"{"types":["TasksV2"],"reset":"yes"}"#, #"{"types":["TasksV2"],"checkpoints":[]}"#,
        #"{"types":["TasksV2"],"checkpoints":{"TaskV2":1}}"#,
    ])
    func `a request that is not understood is a 400 as a whole`(body: String) async throws {
        try await DemoBackend.withRunning { backend in
            let answer = try await TestClient(backend).send("POST", "/sync/stream", body: body)
            #expect(answer.status == 400)
            #expect(answer.json?["statusCode"] == 400)
            #expect(answer.json?["message"]?.string?.isEmpty == false)
        }
    }

    @Test func `a retired type is a 400 before the first line and a hang after it`() async throws {
        var configuration = DemoConfiguration()
        configuration.retirement = DemoRetirement(["TasksV1"])
        try await DemoBackend.withRunning(configuration) { backend in
            let client = try await TestClient(backend)
            let body = #"{"types":["ProjectsV2","TasksV1"]}"#
            #expect(try await client.send("POST", "/sync/stream", body: body).status == 400)
            try await backend.edit(.put("projects", ["id": "p"]))
            let answer = try await client.send("POST", "/sync/stream", body: body, patience: 300)
            #expect(answer.status == 200)
            #expect(!answer.isComplete)
            #expect(answer.lines.map(\.type) == ["ProjectV2"])
        }
    }

    @Test func `types that were given up are refused by name, or by a list of the others`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let body = #"{"types":["TagsV1","TasksV1","ProjectsV1"]}"#
            #expect(try await client.send("POST", "/sync/stream", body: body).status == 200)
            backend.retirement = DemoRetirement(["TasksV1", "ProjectsV1"], style: .names)
            var answer = try await client.send("POST", "/sync/stream", body: body)
            #expect(answer.status == 400)
            #expect(answer.json == ["message": "ProjectsV1 is not supported any more", "statusCode": 400])
            backend.retirement.style = .lists
            answer = try await client.send("POST", "/sync/stream", body: body)
            #expect(answer.status == 400)
            let message = answer.json?["message"]?.array?.first?.string ?? ""
            #expect(message.hasPrefix("each value in types must be one of the following values: ProjectsV2, TasksV2, "))
            let taken = message.split(whereSeparator: { ",: ".contains($0) })
            #expect(taken.contains("TagsV1") && !taken.contains("TasksV1") && !taken.contains("ProjectsV1"))
            #expect(try await client.stream("TagsV1").count == 1)
            backend.retirement = DemoRetirement()
            #expect(try await client.send("POST", "/sync/stream", body: body).status == 200)
        }
    }

    @Test func `what was sent is counted by type`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "g"]), .put("tags", ["id": "h"]), .put("projects", ["id": "p"]))
            _ = try await TestClient(backend).stream("TagsV1", "ProjectsV2")
            #expect(backend.takeSentLines() == ["TagV1": 2, "ProjectV2": 1, "SyncCompleteV1": 1])
            #expect(backend.takeSentLines() == [:])
        }
    }

    @Test func `a stream is compressed for who accepts gzip`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.seed()
            let client = try await TestClient(backend)
            let body = #"{"types":["TasksV2"]}"#
            let plain = try await client.send("POST", "/sync/stream", body: body)
            let packed = try await client.send(
                "POST", "/sync/stream", body: body, headers: ["accept-encoding": "gzip, br"])
            #expect(packed.headers["content-encoding"] == "gzip")
            #expect(packed.body.count * 3 < plain.body.count)
            let unpacked = try gunzip(packed.body)
            #expect(unpacked.split(separator: 0x0A).count == plain.lines.count)
        }
    }

    @Test func `bulk rows need no database, are numbered, and go on after a token`() async throws {
        var configuration = DemoConfiguration()
        configuration.bulkRows = 1000
        try await DemoBackend.withRunning(configuration) { backend in
            let client = try await TestClient(backend)
            let lines = try await client.stream("BulkTasksV1")
            #expect(lines.count == 1001)
            #expect(Set(lines.dropLast().map(\.id)).count == 1000)
            #expect(Set(lines.dropLast().map { $0.data["projectId"]?.string ?? "" }).count == 9)
            try await client.ack([lines[700].ack])
            let rest = try await client.stream("BulkTasksV1")
            #expect(rest.count == 300)
            #expect(rest[0].id == lines[701].id)
        }
    }
}
