// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Testing

@Suite struct PushTests {
    static func op(_ op: String, _ table: String, _ id: String, _ data: DemoValue = [:], base: String? = nil)
        -> DemoValue
    {
        var line: [String: DemoValue] = [
            "op": .string(op), "table": .string(table), "id": .string(id), "key": ["id": .string(id)], "data": data,
        ]
        if let base { line["base"] = .string(base) }
        return .object(line)
    }

    @Test func `operations of all tables are applied and answered line by line`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let answer = try await client.push([
                Self.op("create", "projects", "p", ["name": "P", "color": nil]),
                Self.op("create", "tasks", "t", ["name": "T", "projectId": "p", "dueAt": "2026-01-02T03:04:05.678Z"]),
                Self.op("create", "tags", "g", ["label": "red"]),
                [
                    "op": "create", "table": "task_tags", "id": "t.g", "key": ["taskId": "t", "tagId": "g"],
                    "data": ["taskId": "t", "tagId": "g"],
                ],
                Self.op("create", "comments", "c", ["body": "B", "taskId": "t"]),
            ])
            #expect(answer.status == 200)
            #expect(answer.json?["results"]?.array?.count == 5)
            #expect(answer.json?["results"]?.array?.first == ["line": 0, "outcome": "ok", "id": "p"])
            let records = try await backend.records()
            #expect(records["tasks"]?["t"]?["dueAt"] == "2026-01-02T03:04:05.678Z")
            #expect(records["task_tags"]?["t.g"] != nil)
            let types = try await client.stream("ProjectsV2", "TasksV2", "TagsV1", "TaskTagsV1", "CommentsV1")
            #expect(types.count == 6)
        }
    }

    @Test func `a create of what exists changes it, and an update of what never was creates it`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "g", "label": "old"]))
            let client = try await TestClient(backend)
            let answer = try await client.push([
                Self.op("create", "tags", "g", ["label": "new"]), Self.op("update", "tags", "h", ["label": "made"]),
                Self.op("delete", "tags", "never"),
            ])
            #expect(answer.status == 200)
            let tags = try await backend.records()["tags"]
            #expect(tags?["g"]?["label"] == "new")
            #expect(tags?["h"]?["label"] == "made")
        }
    }

    @Test func `an update changes only the members that it names`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tasks", ["id": "t", "name": "N", "position": 4, "note": "keep"]))
            let client = try await TestClient(backend)
            #expect(try await client.push([Self.op("update", "tasks", "t", ["name": "M", "note": nil])]).status == 200)
            let task = try await backend.records()["tasks"]?["t"]
            #expect(task?["name"] == "M")
            #expect(task?["position"] == 4)
            #expect(task?["note"] == DemoValue.null)
        }
    }

    @Test func `an update of a deleted record is refused, and nothing of its push is applied`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "g"]))
            try await backend.edit(.delete("tags", "g"))
            let client = try await TestClient(backend)
            let answer = try await client.push([
                Self.op("create", "tags", "h"), Self.op("update", "tags", "g", ["label": "x"]),
            ])
            #expect(answer.status == 409)
            let refusals = answer.json?["results"]?.array
            #expect(refusals?.count == 1)
            #expect(refusals?.first?["outcome"] == "missing")
            #expect(refusals?.first?["line"] == 1)
            #expect(refusals?.first?["table"] == "tags")
            #expect(refusals?.first?["id"] == "g")
            #expect(try await backend.records()["tags"] == [:])
        }
    }

    @Test func `a record that changed after the base is a conflict, for updates, creates and deletes`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            try await backend.edit(.put("tags", ["id": "g", "label": "one"]), .put("tags", ["id": "h"]))
            let base = try await client.sync("TagsV1").last?.ack
            let before = try await client.push([Self.op("update", "tags", "h", ["label": "mine"], base: base)])
            #expect(before.status == 200)
            try await backend.edit(.put("tags", ["id": "g", "label": "theirs"]))
            for operation in ["update", "create", "delete"] {
                let answer = try await client.push([Self.op(operation, "tags", "g", ["label": "mine"], base: base)])
                #expect(answer.status == 409)
                #expect(answer.json?["results"]?.array?.first?["outcome"] == "conflict")
            }
            #expect(try await backend.records()["tags"]?["g"]?["label"] == "theirs")
            let blind = try await client.push([Self.op("update", "tags", "g", ["label": "mine"])])
            #expect(blind.status == 200)
        }
    }

    static let unfit: [(operation: DemoValue, word: String)] = [
        (op("create", "tasks", "t", ["position": "high"]), "position"),
        (op("create", "tasks", "t", ["name": nil]), "name"),
        (op("create", "tasks", "t", ["name": "a\u{0}b"]), "NUL"),
        (op("create", "tasks", "t", ["dueAt": "tomorrow"]), "dueAt"),
        (op("create", "tasks", "t", ["_status": "created"]), "_status"),
        (op("create", "secrets", "t"), "table"),
        (op("explode", "tasks", "t"), "op"),
        (op("create", "tasks", ""), "id"),
        (op("update", "tags", "g", base: "nonsense"), "base"),
        (["op": "create", "table": "task_tags", "id": "t.g", "key": ["taskId": "t"]], "tagId"),
    ]

    @Test(arguments: unfit)
    func `what cannot be stored is rejected with a sentence`(operation: DemoValue, word: String) async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "g"]))
            let client = try await TestClient(backend)
            let answer = try await client.push([Self.op("create", "tags", "fine"), operation])
            #expect(answer.status == 422)
            let refusal = answer.json?["results"]?.array?.first
            #expect(refusal?["outcome"] == "rejected")
            #expect(refusal?["message"]?.string?.contains(word) == true)
            #expect(try await backend.records()["tags"]?["fine"] == nil)
        }
    }

    @Test func `a body that is no JSONL is a 400`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            #expect(try await client.send("POST", "/sync/push", body: "{\"op\":\n").status == 400)
            #expect(try await client.send("POST", "/sync/push", body: "[]\n").status == 400)
            let empty = try await client.send("POST", "/sync/push", body: "\n\r\n")
            #expect(empty.status == 200)
            #expect(empty.json == ["results": []])
        }
    }

    @Test func `the same key has the same answer and the same effect, once`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let push = [Self.op("create", "tags", "g", ["label": "a"])]
            let first = try await client.push(push, key: "k1")
            try await backend.edit(.put("tags", ["id": "g", "label": "changed since"]))
            let second = try await client.push(push, key: "k1")
            #expect(first.status == 200)
            #expect(second.body == first.body)
            #expect(try await backend.records()["tags"]?["g"]?["label"] == "changed since")
            let other = try await client.push([Self.op("create", "tags", "h")], key: "k1")
            #expect(other.status == 422)
            let refused = [Self.op("create", "tasks", "t", ["name": 1])]
            #expect(try await client.push(refused, key: "k2").body == client.push(refused, key: "k2").body)
        }
    }

    @Test func `an answer that was lost is there when the push is repeated`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            backend.inject(DemoFault("POST", "/sync/push", action: .loseAnswer))
            let push = [Self.op("create", "tags", "g", ["label": "a"])]
            let lost = try await client.push(push, key: "k")
            #expect(lost.status == 0)
            #expect(try await backend.records()["tags"]?["g"] != nil)
            #expect(try await client.push(push, key: "k").status == 200)
            #expect(backend.count("POST", "/sync/push") == 2)
        }
    }

    @Test func `nobody writes into what they may not see or only view`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(
                .put("projects", ["id": "p"]), .put("tasks", ["id": "t", "projectId": "p", "name": "hers"]),
                .put("projects", ["id": "seen"]), .share(project: "seen", with: "bob@example.com", role: "viewer"))
            let bob = try await TestClient(backend, token: "bob-token")
            let cases: [(DemoValue, Int)] = [
                (Self.op("create", "tasks", "t", ["name": "his"]), 422),
                (Self.op("update", "tasks", "t", ["name": "his"]), 409),
                (Self.op("delete", "tasks", "t"), 200),
                (Self.op("create", "tasks", "new", ["projectId": "p"]), 422),
                (Self.op("create", "tasks", "new", ["projectId": "seen"]), 422),
                (Self.op("update", "projects", "seen", ["name": "his"]), 422),
                (Self.op("create", "comments", "c", ["taskId": "t"]), 422),
            ]
            for (operation, status) in cases {
                #expect(try await bob.push([operation]).status == status, "\(operation.json)")
            }
            #expect(try await backend.records()["tasks"]?["t"]?["name"] == "hers")
        }
    }

    @Test func `ids that are told to be refused are refused`() async throws {
        try await DemoBackend.withRunning { backend in
            backend.rejectedIDs = ["bad"]
            let client = try await TestClient(backend)
            let answer = try await client.push([Self.op("create", "tags", "bad"), Self.op("create", "tags", "good")])
            #expect(answer.status == 422)
            #expect(answer.json?["results"]?.array?.map { $0["id"] } == ["bad"])
            backend.rejectedIDs = []
            #expect(try await client.push([Self.op("create", "tags", "bad")]).status == 200)
        }
    }

    @Test func `a backend that makes its own ids says which`() async throws {
        var configuration = DemoConfiguration()
        configuration.acceptsClientIDs = false
        try await DemoBackend.withRunning(configuration) { backend in
            let client = try await TestClient(backend)
            let answer = try await client.push([Self.op("create", "tags", "mine", ["label": "x"])])
            let id = try #require(answer.json?["results"]?.array?.first?["id"]?.string)
            #expect(id != "mine")
            #expect(try await backend.records()["tags"]?.keys.first == id)
        }
    }
}
