// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Testing

@Suite struct RecordStreamTests {
    /// A kind of record, and how its lines are named.
    struct Kind: CustomTestStringConvertible, Sendable {
        let request: String
        let upsert: String
        let delete: String
        let key: [String: DemoValue]
        let edits: [DemoEdit]
        let change: DemoEdit
        let remove: DemoEdit
        var testDescription: String { request }
    }

    static let task: DemoEdit = .put("tasks", ["id": "t", "projectId": "p", "name": "a"])
    static let kinds = [
        Kind(
            request: "ProjectsV1", upsert: "ProjectV1", delete: "ProjectDeleteV1", key: ["projectId": "p"], edits: [],
            change: .put("projects", ["id": "p", "name": "new"]), remove: .delete("projects", "p")),
        Kind(
            request: "ProjectsV2", upsert: "ProjectV2", delete: "ProjectDeleteV1", key: ["projectId": "p"], edits: [],
            change: .put("projects", ["id": "p", "name": "new"]), remove: .delete("projects", "p")),
        Kind(
            request: "TasksV1", upsert: "TaskV1", delete: "TaskDeleteV1", key: ["taskId": "t"], edits: [task],
            change: .put("tasks", ["id": "t", "isDone": true]), remove: .delete("tasks", "t")),
        Kind(
            request: "TasksV2", upsert: "TaskV2", delete: "TaskDeleteV1", key: ["taskId": "t"], edits: [task],
            change: .put("tasks", ["id": "t", "position": 2.5]), remove: .delete("tasks", "t")),
        Kind(
            request: "CommentsV1", upsert: "CommentV1", delete: "CommentDeleteV1", key: ["commentId": "c"],
            edits: [task, .put("comments", ["id": "c", "taskId": "t", "body": "a"])],
            change: .put("comments", ["id": "c", "body": "b"]), remove: .delete("comments", "c")),
        Kind(
            request: "TagsV1", upsert: "TagV1", delete: "TagDeleteV1", key: ["tagId": "g"],
            edits: [.put("tags", ["id": "g", "label": "a"])], change: .put("tags", ["id": "g", "label": "b"]),
            remove: .delete("tags", "g")),
        Kind(
            request: "SharedTasksV1", upsert: "SharedTaskV1", delete: "SharedTaskDeleteV1", key: ["taskId": "t"],
            edits: [task, .shareTask("t", with: "ada@example.com")], change: .put("tasks", ["id": "t", "name": "b"]),
            remove: .unshareTask("t", from: "ada@example.com")),
    ]

    @Test(arguments: kinds)
    func `a record comes when it is new, when it changes, and as a delete`(kind: Kind) async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            try await backend.edit([.put("projects", ["id": "p", "name": "old"])] + kind.edits)
            #expect(try await client.sync(kind.request).map(\.type) == [kind.upsert])
            try await backend.edit(kind.change)
            #expect(try await client.sync(kind.request).map(\.type) == [kind.upsert])
            try await backend.edit(kind.remove)
            let lines = try await client.sync(kind.request)
            #expect(lines.map(\.type) == [kind.delete])
            #expect(lines.first?.data == .object(kind.key))
            #expect(try await client.sync(kind.request).isEmpty)
        }
    }

    @Test(arguments: kinds)
    func `a user who may not see a record gets neither it nor its delete`(kind: Kind) async throws {
        try await DemoBackend.withRunning { backend in
            let bob = try await TestClient(backend, token: "bob-token")
            try await backend.edit([.put("projects", ["id": "p", "name": "old"])] + kind.edits)
            #expect(try await bob.sync(kind.request).isEmpty)
            try await backend.edit(kind.change)
            try await backend.edit(kind.remove)
            #expect(try await bob.sync(kind.request).isEmpty)
        }
    }

    @Test func `a label on a task has a composite key in its line and in its delete`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            try await backend.edit(
                Self.task, .put("tags", ["id": "g"]), .put("task_tags", ["taskId": "t", "tagId": "g"]))
            let key: DemoValue = ["taskId": "t", "tagId": "g"]
            #expect(try await client.sync("TaskTagsV1").map(\.data) == [key])
            try await backend.edit(.delete("task_tags", ["t", "g"]))
            let lines = try await client.sync("TaskTagsV1")
            #expect(lines.map(\.type) == ["TaskTagDeleteV1"])
            #expect(lines.first?.data == key)
        }
    }

    @Test func `deleting a project tells of the project alone`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let types = ["ProjectsV2", "TasksV2", "CommentsV1", "TaskTagsV1"]
            try await backend.edit(
                .put("projects", ["id": "p"]), Self.task, .put("comments", ["id": "c", "taskId": "t"]),
                .put("tags", ["id": "g"]), .put("task_tags", ["taskId": "t", "tagId": "g"]))
            try await client.ack(try await client.stream(types))
            try await backend.edit(.delete("projects", "p"))
            let lines = try await client.stream(types)
            #expect(lines.map(\.type) == ["ProjectDeleteV1", "SyncCompleteV1"])
            #expect(try await backend.records()["tasks"] == [:])
            #expect(try await backend.records()["comments"] == [:])
        }
    }

    @Test func `deleting a task tells of its labels but not of its comments`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            try await backend.edit(
                .put("projects", ["id": "p"]), Self.task, .put("comments", ["id": "c", "taskId": "t"]),
                .put("tags", ["id": "g"]), .put("task_tags", ["taskId": "t", "tagId": "g"]))
            try await client.sync("TasksV2", "CommentsV1", "TaskTagsV1")
            try await backend.edit(.delete("tasks", "t"))
            let lines = try await client.sync("TasksV2", "CommentsV1", "TaskTagsV1")
            #expect(lines.map(\.type) == ["TaskDeleteV1", "TaskTagDeleteV1"])
        }
    }

    @Test func `deletes come before upserts of their type`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "a"]), .put("tags", ["id": "b"]))
            try await backend.edit(.delete("tags", "a"))
            let lines = try await TestClient(backend).stream("TagsV1")
            #expect(lines.map(\.type) == ["TagDeleteV1", "TagV1", "SyncCompleteV1"])
        }
    }

    @Test func `a task in an unknown project is its creator's until the project is there`() async throws {
        try await DemoBackend.withRunning { backend in
            let (ada, bob) = (try await TestClient(backend), try await TestClient(backend, token: "bob-token"))
            try await backend.edit(.put("tasks", ["id": "t", "projectId": "p"]), .put("tasks", ["id": "u"]))
            #expect(try await ada.sync("TasksV2").map(\.id) == ["t", "u"])
            #expect(try await bob.sync("TasksV2").isEmpty)
            try await backend.edit(.put("projects", ["id": "p"]), .share(project: "p", with: "bob@example.com"))
            let lines = try await bob.stream("TasksV2")
            #expect(lines.map(\.id).contains("t"))
            try await backend.edit(.delete("tasks", "u"))
            #expect(try await ada.sync("TasksV2").map(\.type).contains("TaskDeleteV1"))
        }
    }

    @Test func `a new task touches its project where the configuration says so`() async throws {
        var configuration = DemoConfiguration()
        configuration.touchesProjects = true
        try await DemoBackend.withRunning(configuration) { backend in
            let client = try await TestClient(backend)
            try await backend.edit(.put("projects", ["id": "p"]))
            try await client.sync("ProjectsV2")
            try await backend.edit(Self.task)
            #expect(try await client.sync("ProjectsV2").map(\.type) == ["ProjectV2"])
        }
    }
}
