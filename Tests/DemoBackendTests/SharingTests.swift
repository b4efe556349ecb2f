// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Testing

@Suite struct SharingTests {
    static let types = ["ProjectsV2", "TasksV2", "CommentsV1", "TaskTagsV1"]

    /// Ada's project `p` with two tasks, a comment and a label; Bob has synced a project of his own.
    static func prepare(_ backend: DemoBackend, _ bob: TestClient) async throws {
        try await backend.edit(
            .put("projects", ["id": "p"]), .put("tasks", ["id": "t1", "projectId": "p"]),
            .put("tasks", ["id": "t2", "projectId": "p"]), .put("comments", ["id": "c", "taskId": "t1"]),
            .put("tags", ["id": "g"]), .put("task_tags", ["taskId": "t1", "tagId": "g"]))
        try await backend.edit(
            as: "bob@example.com", .put("projects", ["id": "q"]), .put("tasks", ["id": "u", "projectId": "q"]),
            .put("comments", ["id": "d", "taskId": "u"]), .put("tags", ["id": "h"]),
            .put("task_tags", ["taskId": "u", "tagId": "h"]))
        try await bob.ack(try await bob.stream(types))
    }

    @Test func `a project that is shared brings what is in it as backfill, with a line that ends it`() async throws {
        try await DemoBackend.withRunning { backend in
            let bob = try await TestClient(backend, token: "bob-token")
            try await Self.prepare(backend, bob)
            try await backend.edit(.share(project: "p", with: "bob@example.com"))
            let lines = try await bob.stream(Self.types)
            #expect(
                lines.map(\.type) == [
                    "ProjectV2", "TaskBackfillV2", "TaskBackfillV2", "SyncAckV1", "CommentBackfillV1", "SyncAckV1",
                    "TaskTagBackfillV1", "SyncAckV1", "SyncCompleteV1",
                ])
            let marker = lines[3]
            #expect(marker.data == [:])
            let parts = marker.ack.split(separator: "|")
            #expect(parts[0] == "TaskBackfillV2")
            #expect(parts[2] == "complete")
            #expect(lines[1].ack.hasPrefix("TaskBackfillV2|\(parts[1])|0"))
            try await bob.ack(lines)
            #expect(try await bob.stream(Self.types).map(\.type) == ["SyncCompleteV1"])
        }
    }

    @Test func `a backfill that broke off goes on with the row that was confirmed last`() async throws {
        try await DemoBackend.withRunning { backend in
            let bob = try await TestClient(backend, token: "bob-token")
            try await Self.prepare(backend, bob)
            try await backend.edit(.share(project: "p", with: "bob@example.com"))
            let first = try await bob.stream("TasksV2")
            #expect(first.map(\.id).prefix(2) == ["t1", "t2"])
            try await bob.ack([first[1].ack])
            let second = try await bob.stream("TasksV2")
            #expect(second.map(\.type) == ["TaskBackfillV2", "SyncAckV1", "SyncCompleteV1"])
            #expect(second[0].id == "t2")
        }
    }

    @Test func `rows of a shared project that are newer than the checkpoint are ordinary lines`() async throws {
        try await DemoBackend.withRunning { backend in
            let bob = try await TestClient(backend, token: "bob-token")
            try await Self.prepare(backend, bob)
            try await backend.edit(.share(project: "p", with: "bob@example.com"))
            try await backend.edit(.put("tasks", ["id": "t2", "name": "new"]))
            let lines = try await bob.stream("TasksV2")
            #expect(lines.map(\.type) == ["TaskBackfillV2", "SyncAckV1", "TaskV2", "SyncCompleteV1"])
            #expect(lines.map(\.id) == ["t1", "", "t2", ""])
        }
    }

    @Test func `a first sync has no backfill, and the backend notes its position by itself`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("projects", ["id": "p"]), .put("tasks", ["id": "t", "projectId": "p"]))
            let ada = try await TestClient(backend)
            let lines = try await ada.stream("TasksV2")
            #expect(lines.map(\.type) == ["TaskV2", "SyncCompleteV1"])
            let checkpoints = try await backend.checkpoints(token: "ada-token")
            #expect(checkpoints.keys.sorted() == ["TaskBackfillV2"])
            #expect(checkpoints["TaskBackfillV2"]?.hasSuffix("|complete") == true)
            let listed = try await ada.send("GET", "/sync/ack").json
            #expect(listed == [["type": "TaskBackfillV2", "ack": .string(checkpoints["TaskBackfillV2"] ?? "")]])
        }
    }

    @Test func `two projects are backfilled in the order of joining, each with its own end`() async throws {
        try await DemoBackend.withRunning { backend in
            let bob = try await TestClient(backend, token: "bob-token")
            try await Self.prepare(backend, bob)
            try await backend.edit(.put("projects", ["id": "o"]), .put("tasks", ["id": "x", "projectId": "o"]))
            try await bob.sync("TasksV2")
            try await backend.edit(
                as: "bob@example.com", .put("tasks", ["id": "u", "name": "so that the checkpoint moves on"]))
            try await bob.sync("TasksV2")
            try await backend.edit(.share(project: "o", with: "bob@example.com"))
            try await backend.edit(.share(project: "p", with: "bob@example.com"))
            let lines = try await bob.stream("TasksV2")
            #expect(lines.map(\.id) == ["x", "", "t1", "t2", "", ""])
            try await bob.ack([lines[1].ack])
            #expect(try await bob.stream("TasksV2").map(\.id) == ["t1", "t2", "", ""])
        }
    }

    @Test func `who is taken out of a project gets the project's delete and nothing else`() async throws {
        try await DemoBackend.withRunning { backend in
            let bob = try await TestClient(backend, token: "bob-token")
            try await Self.prepare(backend, bob)
            try await backend.edit(.share(project: "p", with: "bob@example.com"))
            try await bob.ack(try await bob.stream(Self.types))
            try await backend.edit(.revoke(project: "p", from: "bob@example.com"))
            let lines = try await bob.stream(Self.types)
            #expect(lines.map(\.type) == ["ProjectDeleteV1", "SyncCompleteV1"])
            #expect(lines[0].data == ["projectId": "p"])
        }
    }

    @Test func `who is let in again gets everything again`() async throws {
        try await DemoBackend.withRunning { backend in
            let bob = try await TestClient(backend, token: "bob-token")
            try await Self.prepare(backend, bob)
            try await backend.edit(.share(project: "p", with: "bob@example.com"))
            try await bob.ack(try await bob.stream(Self.types))
            try await backend.edit(.revoke(project: "p", from: "bob@example.com"))
            try await backend.edit(.share(project: "p", with: "bob@example.com"))
            let lines = try await bob.stream(Self.types)
            #expect(lines.map(\.type).prefix(3) == ["ProjectDeleteV1", "ProjectV2", "TaskBackfillV2"])
            #expect(lines.map(\.id).contains("t2"))
        }
    }

    @Test func `a new member makes the project's line come again to all`() async throws {
        try await DemoBackend.withRunning { backend in
            let ada = try await TestClient(backend)
            try await backend.edit(.put("projects", ["id": "p"]))
            try await ada.sync("ProjectsV2")
            try await backend.edit(.share(project: "p", with: "bob@example.com"))
            #expect(try await ada.sync("ProjectsV2").map(\.type) == ["ProjectV2"])
        }
    }

    @Test func `a task that moves out of sight is a delete for who loses it`() async throws {
        try await DemoBackend.withRunning { backend in
            let (ada, bob) = (try await TestClient(backend), try await TestClient(backend, token: "bob-token"))
            try await Self.prepare(backend, bob)
            try await backend.edit(.share(project: "p", with: "bob@example.com"), .put("projects", ["id": "own"]))
            try await ada.sync("TasksV2")
            try await bob.sync("TasksV2")
            try await backend.edit(.put("tasks", ["id": "t1", "projectId": "own"]))
            #expect(try await bob.sync("TasksV2").map(\.type) == ["TaskDeleteV1"])
            #expect(try await ada.sync("TasksV2").map(\.type).last == "TaskV2")
        }
    }

    @Test func `what hangs on a task comes along when it moves into sight`() async throws {
        try await DemoBackend.withRunning { backend in
            let bob = try await TestClient(backend, token: "bob-token")
            try await Self.prepare(backend, bob)
            try await backend.edit(.put("projects", ["id": "both"]), .share(project: "both", with: "bob@example.com"))
            try await bob.sync("ProjectsV2", "TasksV2", "CommentsV1", "TaskTagsV1")
            try await backend.edit(.put("tasks", ["id": "t1", "projectId": "both"]))
            let lines = try await bob.sync("TasksV2", "CommentsV1", "TaskTagsV1")
            #expect(lines.map(\.type) == ["TaskV2", "CommentV1", "TaskTagV1"])
        }
    }

    @Test func `without the rule for moves the task just stays with who lost it`() async throws {
        var configuration = DemoConfiguration()
        configuration.announcesMoves = false
        try await DemoBackend.withRunning(configuration) { backend in
            let bob = try await TestClient(backend, token: "bob-token")
            try await Self.prepare(backend, bob)
            try await backend.edit(.share(project: "p", with: "bob@example.com"), .put("projects", ["id": "own"]))
            try await bob.sync("TasksV2")
            try await backend.edit(.put("tasks", ["id": "t1", "projectId": "own"]))
            #expect(try await bob.sync("TasksV2").isEmpty)
        }
    }

    @Test func `a task can come from two feeds and go from each by itself`() async throws {
        try await DemoBackend.withRunning { backend in
            let bob = try await TestClient(backend, token: "bob-token")
            try await Self.prepare(backend, bob)
            try await backend.edit(
                .share(project: "p", with: "bob@example.com"), .shareTask("t1", with: "bob@example.com"))
            let lines = try await bob.sync("TasksV2", "SharedTasksV1")
            #expect(lines.filter { $0.id == "t1" }.map(\.type) == ["TaskBackfillV2", "SharedTaskV1"])
            try await backend.edit(.unshareTask("t1", from: "bob@example.com"))
            #expect(try await bob.sync("TasksV2", "SharedTasksV1").map(\.type) == ["SharedTaskDeleteV1"])
            #expect(try await backend.records(of: "bob@example.com")["tasks"]?["t1"] != nil)
        }
    }
}
