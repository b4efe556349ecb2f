// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayConfig
import GatewayTesting
import JSONBytes
import StateStore
import SyncModel
import Testing

/// Rules 1 to 7 for the pull endpoint of WatermelonDB's "Implementing your Sync backend", as that page numbers them.
@Suite struct PullRuleTests {
    @Test func `pull rule 1: the documented parameters are answered with changes and a timestamp`() async throws {
        try await GatewayStack.with { stack in
            try await stack.backend.edit(.put("projects", ["id": "p1", "name": "one"]))
            let first = try await stack.pull("last_pulled_at=null&schema_version=3&migration=null")
            #expect(first.body.members?.map(\.name) == ["changes", "timestamp"])
            #expect(first.tables == ["projects", "tasks", "comments", "tags", "task_tags"])
            let migration = "%7B%22from%22%3A2%2C%22tables%22%3A%5B%22tags%22%5D%2C%22columns%22%3A%5B%5D%7D"
            let next = try await stack.pull(
                "last_pulled_at=\(first.timestamp)&schema_version=3&migration=\(migration)")
            #expect(next.body.members?.map(\.name) == ["changes", "timestamp"])
        }
    }

    @Test func `pull rule 1: names and wrapping of the answer can be negotiated`() async throws {
        let options = StackOptions(["wire.timestamp": "latestVersion", "wire.wrap": "data.result"])
        try await GatewayStack.with(options) { stack in
            let answer = try await stack.get("/sync")
            let inner = try #require(answer.json?["data"]?["result"], "\(answer)")
            #expect(inner.members?.map(\.name) == ["changes", "latestVersion"])
            #expect(try #require(inner["latestVersion"]?.int64) > 0)
        }
    }

    @Test func `pull rule 2: everything that was created, updated and deleted since comes, each id once`() async throws
    {
        try await GatewayStack.with { stack in
            let backend = stack.backend
            try await backend.edit(
                .put("projects", ["id": "p"]), .put("tasks", ["id": "kept", "projectId": "p"]),
                .put("tasks", ["id": "changed", "projectId": "p"]), .put("tasks", ["id": "gone", "projectId": "p"]),
                .put("tasks", ["id": "changedThenGone", "projectId": "p"]),
                .put("tasks", ["id": "goneThenBack", "projectId": "p", "name": "old"]))
            let first = try await stack.pull(nil)
            #expect(first.upserts("tasks") == ["changed", "changedThenGone", "gone", "goneThenBack", "kept"])

            try await backend.edit(.put("tasks", ["id": "new", "projectId": "p"]))
            for name in ["a", "b", "c"] {
                try await backend.edit(.put("tasks", ["id": "changed", "name": .string(name)]))
            }
            try await backend.edit(.put("tasks", ["id": "changedThenGone", "name": "x"]))
            try await backend.edit(.delete("tasks", "changedThenGone"), .delete("tasks", "gone"))
            try await backend.edit(.delete("tasks", "goneThenBack"))
            try await backend.edit(.put("tasks", ["id": "goneThenBack", "projectId": "p", "name": "back"]))
            try await backend.edit(.put("comments", ["id": "c1", "taskId": "new", "body": "b"]))
            // The stream says some of it twice.
            backend.inject(.stream { $0.malformed = [0: .duplicate, 1: .duplicate, 2: .duplicate, 3: .duplicate] })
            let next = try await stack.pull(first.timestamp)
            #expect(next.upserts("tasks") == ["changed", "goneThenBack", "new"])
            #expect(next.ids("tasks", "deleted") == ["changedThenGone", "gone"])
            #expect(next.upserts("comments") == ["c1"])
            #expect(next.record("tasks", "changed")?["name"]?.string == "c")
            #expect(next.record("tasks", "goneThenBack")?["name"]?.string == "back")
        }
    }

    @Test func `pull rule 2: no echo of a push stands in created, where it would bring back what a user deletes`()
        async throws
    {
        try await GatewayStack.with { stack in
            var phone = try await stack.device()
            try await phone.sync()
            let id = try phone.model.create("projects", ["name": "mine"])
            try await phone.sync()
            try phone.model.delete("projects", id)
            let synced = try await phone.sync()
            #expect(try PulledAnswer(synced.pull).ids("projects", "created") == [])
            #expect(try await stack.records("projects").isEmpty)
            try await phone.sync()
            #expect(phone.model.record("projects", id) == nil)
        }
    }

    @Test(
        arguments: [
            "last_pulled_at=null", "last_pulled_at=0", "last_pulled_at=", "last_pulled_at=undefined", "",
            "lastPulledAt=0", "last_pulled_at=1970-01-01T00:00:00Z",
        ])
    func `pull rule 3: without a time all records that the user may see come`(query: String) async throws {
        try await GatewayStack.with { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p1"]), .put("tasks", ["id": "t1", "projectId": "p1"]),
                .put("tasks", ["id": "t2", "projectId": "p1"]), .put("tags", ["id": "g"]),
                .put("task_tags", ["taskId": "t1", "tagId": "g"]), .delete("tasks", "t2"))
            try await stack.backend.edit(
                as: "bob@example.com", .put("projects", ["id": "secret"]), .put("projects", ["id": "shared"]),
                .share(project: "shared", with: "ada@example.com"))
            // A user has pulled before: that must not be taken for this device's place.
            _ = try await stack.pull(nil)
            let answer = try await stack.pull(query)
            #expect(answer.ids("projects", "created") == ["p1", "shared"])
            #expect(answer.ids("tasks", "created") == ["t1"])
            #expect(answer.ids("task_tags", "created") == ["t1.g"])
            for table in answer.tables {
                #expect(answer.ids(table, "updated") == [] && answer.ids(table, "deleted") == [])
            }
        }
    }

    @Test func `pull rule 4: a timestamp that is passed again brings what happened since, however often`() async throws
    {
        try await GatewayStack.with { stack in
            let backend = stack.backend
            try await backend.edit(.put("projects", ["id": "p1"]))
            let first = try await stack.pull(nil)
            try await backend.edit(.put("projects", ["id": "p2"]))
            let second = try await stack.pull(first.timestamp)
            #expect(second.upserts("projects") == ["p2"] && second.timestamp > first.timestamp)
            // The answer got lost.
            let repeated = try await stack.pull(first.timestamp)
            #expect(repeated.upserts("projects") == ["p2"])
            // Something changes before the client tries once more.
            try await backend.edit(.put("projects", ["id": "p3"]))
            let third = try await stack.pull(repeated.timestamp)
            #expect(third.upserts("projects") == ["p3"])
            let idle = try await stack.pull(third.timestamp)
            #expect(idle.upserts("projects") == [] && idle.timestamp == third.timestamp)
            // An old backup of the device: it may get the old answer again, and the rest with the next pull.
            let restored = try await stack.pull(first.timestamp)
            let rest = try await stack.pull(restored.timestamp)
            #expect(Set(restored.upserts("projects") + rest.upserts("projects")) == ["p2", "p3"])
        }
    }

    @Test func `pull rule 4: devices of one session don't take each other's changes away`() async throws {
        try await GatewayStack.with { stack in
            let phone = try await stack.pull(nil)
            let tablet = try await stack.pull(nil)
            #expect(phone.timestamp != tablet.timestamp)
            try await stack.backend.edit(.put("tags", ["id": "g"]))
            #expect(try await stack.pull(phone.timestamp).upserts("tags") == ["g"])
            #expect(try await stack.pull(tablet.timestamp).upserts("tags") == ["g"])
        }
    }

    @Test func `pull rule 5: what changes while a pull runs comes with the next one`() async throws {
        try await GatewayStack.with { stack in
            let backend = stack.backend
            try await backend.edit(
                .put("projects", ["id": "p"]), .put("tasks", ["id": "t1", "projectId": "p", "name": "old"]),
                .put("tasks", ["id": "t2", "projectId": "p"]), .put("comments", ["id": "c", "taskId": "t2"]))
            backend.streamHook = { point in
                guard point == StreamPoint(request: "TasksV2", part: .upserts) else { return }
                try await backend.edit(
                    .put("projects", ["id": "p", "name": "renamed"]),
                    .put("tasks", ["id": "t1", "name": "new"]), .put("tasks", ["id": "t3", "projectId": "p"]),
                    .delete("comments", "c"))
            }
            var phone = try await stack.device()
            try await phone.pull()
            backend.streamHook = nil
            try await phone.pull()
            #expect(try await stack.differences(of: phone) == [])
            #expect(phone.model.record("tasks", "t1")?.values["name"] == "new")
        }
    }

    @Test func `pull rule 5: a stream that breaks off is gone on with, and one that can't be is no half answer`()
        async throws
    {
        let options = StackOptions(["backend.resume_backoff": "1ms", "backend.resume_attempts": "2"])
        try await GatewayStack.with(options) { stack in
            try await stack.backend.edit((0..<20).map { .put("tags", ["id": .string("g\($0)")]) })
            let before = try await stack.snapshot()
            var fault = DemoFault.Stream()
            fault.cutAfterLines = 1
            stack.backend.inject(DemoFault("POST", "/sync/stream", times: 3, action: .stream(fault)))
            let answer = try await stack.get("/sync?last_pulled_at=null")
            #expect(answer.status == 502 && answer.errorCode == "backend.stream_broken", "\(answer)")
            #expect(try await stack.snapshot() == before)
            // An end in good order, but without the line that says that it is complete, is a break as well.
            fault = DemoFault.Stream()
            fault.omitsComplete = true
            stack.backend.inject(DemoFault("POST", "/sync/stream", times: 1, action: .stream(fault)))
            fault = DemoFault.Stream()
            fault.cutAfterLines = 5
            stack.backend.inject(DemoFault("POST", "/sync/stream", times: 1, action: .stream(fault)))
            #expect(try await stack.pull(nil).upserts("tags").count == 20)
        }
    }
}
