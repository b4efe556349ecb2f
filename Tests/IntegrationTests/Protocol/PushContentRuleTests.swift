// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import JSONBytes
import Testing

/// Rules 8 to 11 for the push endpoint: what a record may hold, and what goes with a deleted one.
@Suite struct PushContentRuleTests {
    @Test(arguments: PushStyle.allCases)
    func `push rule 8: _status and _changed are neither believed nor passed on`(style: PushStyle) async throws {
        try await GatewayStack.with(style.options()) { stack in
            try await stack.backend.edit(.put("tags", ["id": "old", "label": "before"]))
            let first = try await stack.pull(nil)
            stack.backend.clearRequests()
            let answer = try await stack.push(
                """
                {"tags":{"created":[{"id":"a","_status":"deleted","_changed":"nonsense,__proto__","label":"1"},\
                {"id":"b","label":"2"},{"id":"c","_status":7,"_changed":null,"label":"3"}],\
                "updated":[{"id":"old","_status":"synced","_changed":"","label":"after"}],"deleted":[]}}
                """, at: first.timestamp)
            #expect(answer.isSuccess, "\(answer)")
            let labels = try await stack.records("tags").mapValues { $0["label"]?.string }
            #expect(labels == ["a": "1", "b": "2", "c": "3", "old": "after"])
            let sent = stack.backend.requests.map(\.body).joined()
            #expect(sent.contains("after") && !sent.contains("_status") && !sent.contains("_changed"))
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `push rule 9: unknown tables and columns are dropped, and counted`(style: PushStyle) async throws {
        try await GatewayStack.with(style.options()) { stack in
            let first = try await stack.pull(nil)
            stack.backend.clearRequests()
            let answer = try await stack.push(
                """
                {"sessions":{"created":[{"id":"s","token":"x"}],"updated":[],"deleted":["y"]},\
                "projects":{"created":[{"id":"p","name":"n","owner_id":"bob","ownerId":"bob","settings":{"a":1}}]}}
                """, at: first.timestamp)
            #expect(answer.isSuccess, "\(answer)")
            #expect(Set(try await stack.records("projects").keys) == ["p"])
            let sent = stack.backend.requests.map(\.body).joined()
            for word in ["sessions", "token", "owner", "settings"] { #expect(!sent.contains(word), "\(word)") }
            let told = try #require(stack.logged("push.unknown_names").first)
            #expect(told.metadata["dropped"] == "5" && told.metadata["tables"] == "sessions")
        }
    }

    @Test(arguments: [
        #"{"tags":{"created":[{"id":"","label":"l"}]}}"#, #"{"tags":{"created":[{"label":"l"}]}}"#,
        #"{"tags":{"created":[{"id":7,"label":"l"}]}}"#, #"{"tags":{"created":["g"]}}"#,
        #"{"tags":{"deleted":[{"id":7}]}}"#, #"{"tags":{"created":[{"id":"g"}],"deleted":["g"]}}"#,
        #"{"__proto__":{"created":[],"updated":[],"deleted":["x"]}}"#,
        #"{"tags":{"created":[{"id":"TOO-LONG","label":"l"}]}}"#,
    ])
    func `push rule 9: ids that no record can have and shapes that no push has are refused`(changes: String)
        async throws
    {
        let changes = changes.replacing("TOO-LONG", with: String(repeating: "x", count: 256))
        try await GatewayStack.with { stack in
            let first = try await stack.pull(nil)
            let before = try await stack.snapshot()
            let answer = try await stack.push(changes, at: first.timestamp)
            #expect(answer.status == 400 && answer.errorCode?.hasPrefix("request.") == true, "\(answer)")
            #expect(try await stack.snapshot() == before)
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `push rule 9: what belongs to another user stays as it is`(style: PushStyle) async throws {
        try await GatewayStack.with(style.options()) { stack in
            try await stack.backend.edit(
                as: "bob@example.com", .put("projects", ["id": "bobs", "name": "mine"]),
                .put("tasks", ["id": "bobs-task", "projectId": "bobs", "name": "mine"]))
            let first = try await stack.pull(nil)
            let before = try await stack.snapshot()
            for changes in [
                #"{"projects":{"updated":[{"id":"bobs","name":"taken"}]}}"#,
                #"{"projects":{"created":[{"id":"bobs","name":"taken"}]}}"#,
                #"{"tasks":{"updated":[{"id":"bobs-task","name":"taken"}]}}"#,
            ] {
                let answer = try await stack.push(changes, at: first.timestamp)
                #expect(!answer.isSuccess && answer.status < 500, "\(changes): \(answer)")
            }
            // As of a delete of nothing: the answer must not tell that there is something.
            #expect(try await stack.push(#"{"projects":{"deleted":["bobs"]}}"#, at: first.timestamp).isSuccess)
            #expect(try await stack.snapshot() == before)
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `push rule 10: what is slightly wrong is repaired, not refused`(style: PushStyle) async throws {
        var options = try style.options()
        var text = try options.configuration ?? StackConfiguration.quickstart()
        text = text.replacing(
            "color = string? since 3", with: "color = string? color oneof red green else red since 3")
        options.configuration = text
        try await GatewayStack.with(options) { stack in
            let first = try await stack.pull(nil)
            let answer = try await stack.push(
                #"""
                {"projects":{"created":[{"id":"p","name":null,"is_archived":1,"color":"purple"}]},
                "tasks":{"created":[{"id":"t1","name":"nul \u0000, half \ud83c","position":"first","is_done":"perhaps",
                "project_id":"p","note":[17],"created_at":"in 2023","updated_at":null,"due_at":false},
                {"id":"t2","name":"n","position":1e400,"is_done":0,"project_id":"p","created_at":1.9,"updated_at":5}]}}
                """#, at: first.timestamp)
            #expect(answer.isSuccess, "\(answer)")
            let project = try #require(try await stack.records("projects")["p"])
            #expect(project["name"] == "" && project["isArchived"] == true && project["color"] == "red")
            let tasks = try await stack.records("tasks")
            #expect(tasks["t1"]?["name"] == "nul \u{FFFD}, half \u{FFFD}" && tasks["t1"]?["position"] == 0)
            #expect(tasks["t1"]?["isDone"] == false && tasks["t1"]?["note"] == .null)
            #expect(tasks["t1"]?["dueAt"] == .null && tasks["t1"]?["createdAt"] == "1970-01-01T00:00:00.000Z")
            #expect(tasks["t2"]?["isDone"] == false && tasks["t2"]?["createdAt"] == "1970-01-01T00:00:00.001Z")
            let told = try #require(stack.logged("push.repaired_values").first)
            #expect(told.metadata["repaired"] == "10")
            #expect("\(told.metadata["columns"] ?? "")".hasPrefix("projects.name projects.color tasks."), "\(told)")
            #expect(try await stack.figures(of: answer)["repaired"] == "10")
        }
    }

    /// The gateway relies on the backend here; `docs/PROTOCOL.md` says what that leaves to do.
    @Test(arguments: PushStyle.allCases)
    func `push rule 11: the backend deletes what hangs on a deleted record`(style: PushStyle) async throws {
        try await GatewayStack.with(style.options()) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p"]), .put("tasks", ["id": "t", "projectId": "p"]),
                .put("comments", ["id": "c", "taskId": "t"]), .put("tags", ["id": "g"]),
                .put("task_tags", ["taskId": "t", "tagId": "g"]))
            var phone = try await stack.device()
            try await phone.sync()
            // A careless app deletes only the parent.
            try phone.model.delete("projects", "p")
            try await phone.sync()
            let records = try await stack.backend.records(of: "ada@example.com")
            #expect(records.mapValues(\.count).filter { $0.value > 0 } == ["tags": 1])
            // A new device sees none of it.
            var tablet = try await stack.device(seed: 2)
            try await tablet.sync()
            #expect(try await stack.differences(of: tablet) == [])
        }
    }
}
