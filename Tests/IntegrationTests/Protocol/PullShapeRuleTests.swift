// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayConfig
import GatewayTesting
import JSONBytes
import StateStore
import SyncModel
import Testing

/// Rules 6 to 13 for the pull endpoint: migrations, and what records, ids and tables may look like.
@Suite struct PullShapeRuleTests {
    @Test(arguments: [true, false])
    func `pull rule 6: after an update of the app the new tables and columns come`(isToldBefore: Bool) async throws {
        let options = StackOptions(["backend.resume_backoff": "1ms"])
        try await GatewayStack.with(options) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p1", "name": "plain"]), .put("projects", ["id": "p2", "color": "#c00"]),
                .put("tasks", ["id": "t1", "projectId": "p1"]),
                .put("tasks", ["id": "t2", "projectId": "p1", "dueAt": 1_700_000_000_000]),
                .put("comments", ["id": "c1", "taskId": "t1", "body": "old"]), .put("tags", ["id": "g1"]))
            var options = ClientModel.Options()
            // Most apps send no migration; what is new is known from the schema version all the same.
            options.migrationsEnabledAt = isToldBefore ? 1 : nil
            var phone = try await stack.device(version: 1, options: options)
            try await phone.sync()
            #expect(try await stack.differences(of: phone) == [])
            for version in [2, 3] {
                phone.model.upgrade(to: version)
                // A pull that fails asks for the same migration again.
                stack.backend.inject(DemoFault("POST", "/sync/stream", times: 10, action: .status(500)))
                await #expect(throws: StackDevice.Failure.self) { try await phone.pull() }
                stack.backend.clearFaults()
                try await phone.sync()
                #expect(try await stack.differences(of: phone) == [])
            }
            #expect(phone.model.record("tasks", "t2")?.values["due_at"] == 1_700_000_000_000)
            #expect(phone.model.record("comments", "c1") != nil && phone.model.record("tags", "g1") != nil)
        }
    }

    @Test func `pull rule 6: a migration can't ask for anything but the configured tables and columns`() async throws {
        try await GatewayStack.with { stack in
            try await stack.backend.edit(.put("projects", ["id": "p1"]))
            let first = try await stack.pull(nil, version: 2)
            func target(_ migration: String) -> String {
                let encoded = migration.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                return "/sync?last_pulled_at=\(first.timestamp)&schema_version=3&migration=\(encoded)"
            }
            let curious = try PulledAnswer(
                try await stack.get(
                    target(
                        #"{"from":2,"tables":["users","sessions"],"columns":[{"table":"projects","columns":["ownerId"]}]}"#
                    )))
            #expect(curious.tables == ["projects", "tasks", "comments", "tags", "task_tags"])
            #expect(!curious.answer.text.contains("ownerId"))
            for name in ["__proto__", "_status", "id"] {
                let refused = try await stack.get(target(#"{"from":2,"tables":["\#(name)"],"columns":[]}"#))
                #expect(refused.status == 400 && refused.errorCode == "request.migration", "\(refused)")
            }
        }
    }

    @Test func `pull rule 7: records have the schema's columns, each of its type`() async throws {
        try await GatewayStack.with { stack in
            let id = "018f3a5e-0000-7000-8000-000000000001"
            try await stack.backend.edit(
                .put("projects", ["id": "p1", "name": "n", "isArchived": true, "color": nil]),
                .put(
                    "tasks",
                    [
                        "id": .string(id), "projectId": "p1", "name": "ü 🌙", "position": 1.5, "isDone": true,
                        "createdAt": 1_700_000_000_123, "updatedAt": 0, "note": nil, "dueAt": nil,
                    ]))
            let task = try #require(try await stack.pull(nil).record("tasks", id))
            #expect(
                task.members?.map { "\($0.name) \($0.value.kind)" } == [
                    "id string", "name string", "position number", "is_done boolean", "project_id string", "note null",
                    "created_at number", "updated_at number", "due_at null",
                ])
            #expect(task["name"]?.string == "ü 🌙" && task["position"]?.double == 1.5)
            #expect(task["created_at"]?.int64 == 1_700_000_000_123 && task["updated_at"]?.int64 == 0)
        }
    }

    @Test func `pull rule 7: a value of the wrong type is the column's default, and the record comes all the same`()
        async throws
    {
        try await GatewayStack.with { stack in
            let id = "018f3a5e-0000-7000-8000-000000000001"
            try await stack.backend.edit(
                .put("tasks", ["id": .string(id), "name": "n", "position": 7, "isDone": true, "createdAt": 5]))
            stack.backend.inject(.stream { $0.malformed = [0: .wrongTypes] })
            let task = try #require(try await stack.pull(nil).record("tasks", id))
            #expect(task["name"]?.string == "12" && task["position"]?.double == 0 && task["is_done"]?.bool == false)
            #expect(task["due_at"]?.isNull == true && task["created_at"]?.int64 == 12)
        }
    }

    @Test func `pull rule 8: no record has _status or _changed, neither pushed nor configured`() async throws {
        try await GatewayStack.with { stack in
            var phone = try await stack.device()
            try await phone.sync()
            try phone.model.create("tags", id: "g1", ["label": "new"])
            try await phone.sync()
            let all = try await stack.pull(nil)
            #expect(all.ids("tags", "created") == ["g1"])
            #expect(!all.answer.text.contains("_status") && !all.answer.text.contains("_changed"))
        }
        for name in ["_status", "_changed", "id"] { try Self.expectRefused(column: "\(name) = string label") }
    }

    @Test func `pull rule 9: an older app gets the columns of its own version only`() async throws {
        try await GatewayStack.with { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p", "color": "#c00"]),
                .put("tasks", ["id": "t", "projectId": "p", "dueAt": 5]))
            let old = try await stack.pull(nil, version: 1)
            #expect(old.record("projects", "p")?.members?.map(\.name) == ["id", "name", "is_archived"])
            #expect(old.record("tasks", "t")?["due_at"] == nil)
            // Who doesn't tell a version, as two thirds of apps, or has a newer one gets the newest that there is.
            for query in ["last_pulled_at=null", "last_pulled_at=null&schema_version=99"] {
                let newest = try await stack.pull(query)
                #expect(newest.record("projects", "p")?["color"]?.string == "#c00")
                #expect(newest.record("tasks", "t")?["due_at"]?.int64 == 5)
            }
        }
    }

    @Test func `pull rule 10: only configured columns come, and unsafe ones can't be configured`() async throws {
        try await GatewayStack.with { stack in
            try await stack.backend.edit(.put("projects", ["id": "p", "settings": ["__proto__": ["a": 1]]]))
            let answer = try await stack.pull(nil)
            #expect(
                answer.record("projects", "p")?.members?.map(\.name) == ["id", "name", "is_archived", "color"])
            for name in ["ownerId", "settings", "createdAt", "version", "__proto__"] {
                #expect(!answer.answer.text.contains(name))
            }
        }
        for name in ["__proto__", "constructor", "toString", "hasOwnProperty"] {
            try Self.expectRefused(column: "\(name) = string label")
        }
    }

    @Test func `pull rule 11: an id with unsafe characters is quarantined, and the others come`() async throws {
        try await GatewayStack.with { stack in
            let unsafe = ["a/b", "it's", "say\"", "back\\slash", "$loki", "ü", "with space", ".."]
            let safe = ["aBcDeFgHiJkLmN01", "018f3a5e-0000-7000-8000-000000000001", "a_b.c-d"]
            try await stack.backend.edit((unsafe + safe).map { .put("tags", ["id": .string($0)]) })
            try await stack.backend.edit(
                .put("tasks", ["id": "t_1"]), .put("task_tags", ["taskId": "t_1", "tagId": "a/b"]))
            let answer = try await stack.pull(nil)
            #expect(answer.ids("tags", "created") == safe.sorted())
            // The parts of a composite id are written so that they can be taken apart again.
            #expect(answer.ids("task_tags", "created") == ["t_5f1.a_2fb"])
            let quarantined = try await stack.store.inspection.quarantined(limit: 100)
            #expect(quarantined.count == unsafe.count && quarantined.allSatisfy { $0.line.reason == .unsafeID })
            // They don't come again and again, and they don't stop what comes after them.
            try await stack.backend.edit(.put("tags", ["id": "later"]))
            #expect(try await stack.pull(answer.timestamp).upserts("tags") == ["later"])
        }
    }

    @Test func `pull rule 12: tables that the app doesn't have yet are left out`() async throws {
        try await GatewayStack.with { stack in
            let (one, two) = (try await stack.pull(nil, version: 1), try await stack.pull(nil, version: 2))
            let newest = try await stack.pull("last_pulled_at=null")
            #expect(one.tables == ["projects", "tasks"])
            #expect(two.tables == ["projects", "tasks", "comments"])
            #expect(newest.tables == ["projects", "tasks", "comments", "tags", "task_tags"])
        }
    }

    @Test func `pull rule 13: tables of the backend's making don't come, and unsafe ones can't be configured`()
        async throws
    {
        try await GatewayStack.with { stack in
            try await stack.backend.edit(.put("tags", ["id": "g1"]))
            stack.backend.inject(.stream { $0.malformed = [0: .unknownTypeBefore] })
            let answer = try await stack.pull(nil)
            #expect(answer.tables == ["projects", "tasks", "comments", "tags", "task_tags"])
            #expect(answer.ids("tags", "created") == ["g1"] && !answer.answer.text.contains("Mystery"))
        }
        let text = try StackConfiguration.quickstart()
        for name in ["__proto__", "constructor"] {
            let changed = text.replacing("[table tags]", with: "[table \(name)]")
                .replacing("[columns tags]", with: "[columns \(name)]").replacing("tag_id tags", with: "tag_id \(name)")
                .replacing("ref tags", with: "ref \(name)")
            #expect(throws: ConfigurationError.self) { try Configuration.load(changed) }
        }
    }

    private static func expectRefused(column: String) throws {
        let text = try StackConfiguration.quickstart()
        #expect(throws: Never.self) { try Configuration.load(text) }
        let changed = text.replacing("label = string", with: "label = string\n\(column)")
        #expect(throws: ConfigurationError.self, "\(column)") { try Configuration.load(changed) }
    }
}
