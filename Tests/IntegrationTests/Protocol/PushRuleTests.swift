// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import JSONBytes
import Testing

/// How pushed records reach the backend.
enum PushStyle: String, CaseIterable, Sendable {
    /// All in one request and one transaction.
    case stream
    /// Each by a call of its own.
    case calls

    func options(_ overrides: [String: String] = [:]) throws -> StackOptions {
        self == .stream ? StackOptions(overrides) : try .pushingByCalls(overrides)
    }
}

/// Rules 1 to 7 for the push endpoint of WatermelonDB's "Implementing your Sync backend", as that page numbers them.
@Suite struct PushRuleTests {
    @Test(arguments: PushStyle.allCases)
    func `push rule 1: what was created, updated and deleted is in the backend afterwards`(style: PushStyle)
        async throws
    {
        try await GatewayStack.with(style.options()) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p"]), .put("tasks", ["id": "t1", "projectId": "p", "note": "n"]),
                .put("tasks", ["id": "t2", "projectId": "p"]), .put("tags", ["id": "g"]),
                .put("task_tags", ["taskId": "t1", "tagId": "g"]))
            var phone = try await stack.device()
            try await phone.sync()
            let task = try phone.model.create(
                "tasks", ["name": "new 🌙", "position": 0.5, "project_id": "p", "due_at": 1_700_000_000_123], now: 1)
            try phone.model.create("comments", id: "c", ["body": "b", "task_id": .string(task)])
            try phone.model.create("task_tags", id: "\(task).g", ["task_id": .string(task), "tag_id": "g"])
            try phone.model.update("tasks", "t1", with: ["is_done": true, "note": .null], now: 2)
            try phone.model.delete("tasks", "t2")
            try phone.model.delete("task_tags", "t1.g")
            try await phone.sync()
            #expect(!phone.model.hasUnsyncedChanges)
            #expect(try await stack.differences(of: phone) == [])
            let tasks = try await stack.records("tasks")
            #expect(Set(tasks.keys) == ["t1", task])
            #expect(tasks[task]?["dueAt"] == "2023-11-14T22:13:20.123Z" && tasks[task]?["position"] == 0.5)
            #expect(tasks["t1"]?["isDone"] == true && tasks["t1"]?["note"] == .null)
            #expect(Set(try await stack.records("task_tags").keys) == ["\(task).g"])
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `push rule 2: a created record that exists is updated`(style: PushStyle) async throws {
        try await GatewayStack.with(style.options()) { stack in
            var phone = try await stack.device()
            try await phone.sync()
            try phone.model.create("projects", id: "p", ["name": "first"])
            // The push is applied and its answer lost; the record is edited and pushed again, still as created.
            #expect(try await phone.pushLosingAnswer().isSuccess)
            try phone.model.update("projects", "p", with: ["name": "second"])
            try await phone.sync()
            #expect(!phone.model.hasUnsyncedChanges)
            let projects = try await stack.records("projects")
            #expect(projects.count == 1 && projects["p"]?["name"] == "second")
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `push rule 2: the very same push once more is fine`(style: PushStyle) async throws {
        try await GatewayStack.with(style.options()) { stack in
            var phone = try await stack.device()
            try await phone.sync()
            try phone.model.create("projects", id: "p", ["name": "first"])
            for _ in 0..<3 { #expect(try await phone.pushLosingAnswer().isSuccess) }
            #expect(try await stack.records("projects").count == 1)
            #expect(stack.log.lines(containing: "came again").count == 2)
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `push rule 3: an update of a record that never was creates it`(style: PushStyle) async throws {
        try await GatewayStack.with(style.options()) { stack in
            let first = try await stack.pull(nil)
            let answer = try await stack.push(
                #"{"tags":{"created":[],"updated":[{"id":"g","_status":"updated","_changed":"label","label":"l"}],"deleted":[]}}"#,
                at: first.timestamp)
            #expect(answer.isSuccess, "\(answer)")
            #expect(try await stack.records("tags")["g"]?["label"] == "l")
        }
    }

    @Test func `push rule 3: an update of a record that is known to be deleted is refused, and the next sync is fine`()
        async throws
    {
        try await GatewayStack.with { stack in
            try await stack.backend.edit(.put("tags", ["id": "g", "label": "l"]), .put("tags", ["id": "h"]))
            var phone = try await stack.device()
            try await phone.sync()
            try phone.model.update("tags", "g", with: ["label": "mine"])
            try phone.model.update("tags", "h", with: ["label": "mine too"])
            try await stack.backend.edit(.delete("tags", "g"))
            let refused = try await phone.pushLosingAnswer()
            #expect(refused.status == 409 && refused.text.contains("tags g"), "\(refused)")
            #expect(try await stack.records("tags")["h"]?["label"] == "")
            try await phone.sync()
            #expect(try await stack.differences(of: phone) == [])
            #expect(try await stack.records("tags")["h"]?["label"] == "mine too")
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `push rule 4: a delete of nothing is fine`(style: PushStyle) async throws {
        try await GatewayStack.with(style.options()) { stack in
            try await stack.backend.edit(.put("tags", ["id": "gone"]), .put("tags", ["id": "there"]))
            try await stack.backend.edit(.put("tasks", ["id": "t"]))
            let first = try await stack.pull(nil)
            try await stack.backend.edit(.delete("tags", "gone"))
            let answer = try await stack.push(
                #"{"tags":{"deleted":["never","gone","there"]},"task_tags":{"deleted":["t.never","t.there"]}}"#,
                at: first.timestamp)
            #expect(answer.isSuccess, "\(answer)")
            #expect(try await stack.records("tags").isEmpty)
        }
    }

    /// Pushes tell no schema version, so the older ones are where a gateway could look for the wrong checkpoints.
    @Test(arguments: [1, 2, 3])
    func `push rule 5: a record that another user has changed since refuses the whole push and names the record`(
        version: Int
    ) async throws {
        try await GatewayStack.with { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p"]), .put("tasks", ["id": "t1", "projectId": "p", "name": "old"]),
                .put("tasks", ["id": "t2", "projectId": "p", "name": "old"]))
            var phone = try await stack.device(version: version)
            try await phone.sync()
            try phone.model.update("tasks", "t1", with: ["name": "mine", "position": 3])
            try phone.model.update("tasks", "t2", with: ["name": "mine"])
            try phone.model.create("projects", id: "new", ["name": "mine"])
            try await stack.backend.edit(.put("tasks", ["id": "t1", "name": "theirs", "isDone": true]))
            let before = try await stack.snapshot()
            phone.headers = [("Accept", "application/json")]
            let refused = try await phone.pushLosingAnswer()
            #expect(refused.status == 409, "\(refused)")
            #expect(refused.json?["error"]?["details"]?["conflicts"]?["tasks"]?.array?.map(\.string) == ["t1"])
            #expect(try await stack.snapshot() == before)
            // The next sync merges: the client's own columns stay, the others are theirs.
            try await phone.sync()
            #expect(try await stack.differences(of: phone) == [])
            let task = try await stack.records("tasks")["t1"]
            #expect(task?["name"] == "mine" && task?["isDone"] == true && task?["position"] == 3)
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `push rule 5: the gateway finds by itself what another user has changed since`(
        style: PushStyle
    ) async throws {
        var options = try style.options()
        options.overrides["push.conflicts"] = "stream"
        try await GatewayStack.with(options) { stack in
            try await stack.backend.edit(
                .put("tags", ["id": "g", "label": "old"]), .put("tags", ["id": "h", "label": "h"]))
            let first = try await stack.pull(nil)
            try await stack.backend.edit(.put("tags", ["id": "g", "label": "theirs"]))
            let before = try await stack.snapshot()
            let answer = try await stack.push(
                #"{"tags":{"updated":[{"id":"h","label":"mine"},{"id":"g","label":"mine"}]}}"#, at: first.timestamp)
            #expect(answer.status == 409 && answer.errorCode == "push.conflict")
            #expect(try await stack.snapshot() == before)
        }
    }

    @Test func `push rule 5: the text of a 409 is a sentence that apps can show`() async throws {
        try await GatewayStack.with { stack in
            try await stack.backend.edit(.put("tags", ["id": "g", "label": "old"]))
            let first = try await stack.pull(nil)
            try await stack.backend.edit(.put("tags", ["id": "g", "label": "theirs"]))
            let answer = try await stack.push(
                #"{"tags":{"updated":[{"id":"g","label":"mine"}]}}"#, at: first.timestamp)
            #expect(answer.status == 409 && answer.errorCode == "push.conflict")
            #expect(answer["Content-Type"] == "text/plain; charset=utf-8")
            let requestID = try #require(answer["X-Request-Id"])
            #expect(
                answer.text
                    == "Somebody else has changed this in the meantime. Please sync again: tags g (\(requestID))")
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `push rule 6: a push that is applied is answered with 200 and an empty object`(style: PushStyle) async throws {
        try await GatewayStack.with(style.options()) { stack in
            let first = try await stack.pull(nil)
            for changes in [
                #"{"tags":{"created":[{"id":"g","label":"l"}],"updated":[],"deleted":[]}}"#, #"{"changes":{}}"#,
            ] {
                let answer = try await stack.push(changes, at: first.timestamp)
                #expect(answer.status == 200 && answer.isComplete && answer.text == "{}", "\(answer)")
                #expect(answer["Content-Type"] == "application/json; charset=utf-8")
            }
        }
    }

    @Test func `push rule 7: a push of which one record is refused changes nothing`() async throws {
        try await GatewayStack.with { stack in
            try await stack.backend.edit(.put("tags", ["id": "old", "label": "l"]))
            let first = try await stack.pull(nil)
            let before = try await stack.snapshot()
            stack.backend.rejectedIDs = ["bad"]
            let answer = try await stack.push(
                """
                {"tags":{"created":[{"id":"good","label":"a"},{"id":"bad","label":"b"}],\
                "updated":[{"id":"old","label":"c"}],"deleted":[]},"projects":{"created":[{"id":"p","name":"n"}]}}
                """, at: first.timestamp)
            #expect(answer.status == 422 && answer.errorCode == "push.rejected", "\(answer)")
            #expect(try await stack.snapshot() == before)
        }
    }

    @Test(arguments: [500, 503, 429, 401, 403, 404])
    func `push rule 7: a push that the backend fails at is an error and changes nothing`(status: Int) async throws {
        let overrides = ["backend.resume_backoff": "1ms", "push.retry_budget": "20ms"]
        try await GatewayStack.with(StackOptions(overrides)) { stack in
            let first = try await stack.pull(nil)
            let before = try await stack.snapshot()
            stack.backend.inject(DemoFault("POST", "/sync/push", times: 10, action: .status(status)))
            let push = #"{"tags":{"created":[{"id":"g","label":"l"}],"updated":[],"deleted":[]}}"#
            let answer = try await stack.push(push, at: first.timestamp)
            #expect(answer.status >= 400 && answer.errorCode != nil && answer.isComplete, "\(answer)")
            #expect(try await stack.snapshot() == before)
            stack.backend.clearFaults()
            #expect(try await stack.push(push, at: first.timestamp).isSuccess)
            #expect(try await stack.records("tags").count == 1)
        }
    }

    @Test func `push rule 7: a push whose answer the gateway loses is applied once`() async throws {
        try await GatewayStack.with(StackOptions(["backend.resume_backoff": "1ms"])) { stack in
            let first = try await stack.pull(nil)
            stack.backend.inject(DemoFault("POST", "/sync/push", action: .loseAnswer))
            let answer = try await stack.push(
                #"{"tags":{"created":[{"id":"g","label":"l"}],"updated":[],"deleted":[]}}"#, at: first.timestamp)
            #expect(answer.isSuccess, "\(answer)")
            #expect(stack.backend.count("POST", "/sync/push") == 2)
            #expect(try await stack.records("tags").count == 1)
        }
    }

    /// The deviation: a backend without transactions keeps what came before the failure.
    @Test func `push rule 7: call by call, a push stops at the first failure and converges with the next sync`()
        async throws
    {
        try await GatewayStack.with(.pushingByCalls(["push.retry_budget": "0s", "push.parallel": "1"])) { stack in
            var phone = try await stack.device()
            try await phone.sync()
            try phone.model.create("projects", id: "p", ["name": "parent"])
            try phone.model.create("tasks", id: "t1", ["project_id": "p"], now: 1)
            try phone.model.create("tasks", id: "t2", ["project_id": "p"], now: 1)
            stack.backend.inject(DemoFault("POST", "/tasks", action: .status(500)))
            let failure = await #expect(throws: StackDevice.Failure.self) { try await phone.push() }
            guard case .push(let answer)? = failure else { return }
            #expect(answer.status >= 500, "\(answer)")
            #expect(Set(try await stack.records("projects").keys) == ["p"])
            #expect(try await stack.records("tasks").isEmpty)
            #expect(phone.model.fetchLocalChanges().tables.map(\.created.count).reduce(0, +) == 3)
            try await phone.sync()
            #expect(try await stack.differences(of: phone) == [])
            #expect(!phone.model.hasUnsyncedChanges)
        }
    }
}
