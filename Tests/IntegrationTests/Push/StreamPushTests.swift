// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// A push that is one transaction of the backend: all of it, or nothing and a clear error.
@Suite(.timeLimit(.minutes(5))) struct StreamPushTests {
    @Test func `a conflict names tables and ids, as text and as JSON, and nothing is applied`() async throws {
        try await PushReceiptTests.started { stack, cursor in
            try await stack.backend.edit(
                .put("tasks", ["id": "t-0", "name": "theirs"]), .put("tags", ["id": "ada-tag-0", "label": "theirs"]))
            let push = DemoValue.changes(
                "tasks", created: [["id": "n-1", "name": "new"]],
                updated: [["id": "t-0", "name": "mine"], ["id": "t-3", "name": "mine"]]
            ).with("tags", updated: [["id": "ada-tag-0", "label": "mine"]])

            let text = try await stack.sendPush(cursor, push)
            #expect(text.outcome == "409 push.conflict" && text["Content-Type"]?.hasPrefix("text/plain") == true)
            for part in ["tasks t-0", "tags ada-tag-0"] { #expect(text.text.contains(part)) }
            #expect(!text.text.contains("t-3") && !text.text.contains("has changed since"))

            let json = try await stack.sendPush(cursor, push, ["Accept": "application/json"])
            #expect(json.outcome == "409 push.conflict")
            let error = DemoValue(parsing: json.body)?["error"]
            #expect(error?["code"] == "push.conflict")
            #expect(error?["details"]?["conflicts"] == ["tasks": ["t-0"], "tags": ["ada-tag-0"]])

            let records = try await stack.backend.records()
            #expect(records["tasks"]?["n-1"] == nil)
            #expect(records["tasks"]?["t-3"]?["name"] != "mine" && records["tasks"]?["t-0"]?["name"] == "theirs")
        }
    }

    @Test func `a device whose push was in conflict pulls, merges, and gets its edit through`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            var devices = [try await stack.device(seed: 1), try await stack.device(seed: 2)]
            for place in [0, 1] { try await devices[place].sync() }
            for place in [0, 1] {
                try devices[place].model.update("tasks", "t-0", with: ["name": .string("by \(place)")])
            }
            try await devices[0].sync()
            // Only the push: what an app does whose pull came before the other's push.
            let refused = try await devices[1].pushLosingAnswer()
            #expect(refused.outcome == "409 push.conflict")
            try await devices[1].sync()
            for place in [1, 0] {
                try await devices[place].sync()
                try await stack.expectEqual(devices[place])
            }
            #expect(try await stack.backend.records()["tasks"]?["t-0"]?["name"] == "by 1")
        }
    }

    @Test func `an update of a record that the backend has deleted is a conflict`() async throws {
        try await PushReceiptTests.started { stack, cursor in
            try await stack.backend.edit(.delete("tasks", "t-0"))
            let answer = try await stack.sendPush(cursor, .changes("tasks", updated: [["id": "t-0", "name": "mine"]]))
            #expect(answer.outcome == "409 push.conflict" && answer.text.contains("tasks t-0"))
            #expect(try await stack.backend.records()["tasks"]?["t-0"] == nil)
        }
    }

    @Test func `a rejection names what the backend will not take, and nothing is applied`() async throws {
        try await PushReceiptTests.started { stack, cursor in
            stack.backend.rejectedIDs = ["n-2"]
            let push = DemoValue.changes(
                "tasks", created: ["n-1", "n-2", "n-3"].map { ["id": .string($0), "name": "new"] })
            let answer = try await stack.sendPush(cursor, push)
            #expect(answer.outcome == "422 push.rejected" && answer.text.contains("tasks n-2"))
            #expect(!answer.text.contains("n-1") && !answer.text.contains("this id is refused"))
            #expect(try await stack.backend.records()["tasks"]?.keys.contains("n-1") == false)
            stack.backend.rejectedIDs = []
            #expect(try await stack.sendPush(cursor, push).status == 200)
        }
    }

    @Test(arguments: [
        (DemoFault.Action.status(401), "401 backend.credential"), (.status(403), "403 backend.credential"),
        (.status(400), "502 backend.refused"), (.status(404), "502 backend.refused"),
    ])
    func `a push that the backend does not carry out changes nothing and is not asked for again`(
        _ action: DemoFault.Action, _ outcome: String
    ) async throws {
        try await PushReceiptTests.started { stack, cursor in
            let before = try stack.clientState()
            stack.backend.inject(DemoFault("POST", "/sync/push", action: action))
            let answer = try await stack.sendPush(cursor, PushReceiptTests.created)
            #expect(answer.outcome == outcome)
            #expect(stack.backend.count("POST", "/sync/push") == 1)
            #expect(try await stack.backend.records()["tasks"]?["n-1"] == nil)
            #expect(try stack.clientState() == before)
            #expect(try await stack.sendPush(cursor, PushReceiptTests.created).status == 200)
        }
    }

    @Test func `parents are applied before their children and deleted after them, whatever the order`() async throws {
        try await PushReceiptTests.started { stack, cursor in
            let push = DemoValue.changes("comments", created: [["id": "n-c", "task_id": "n-t"]], deleted: ["c-0"])
                .with("task_tags", created: [["id": "n-t.n-g", "task_id": "n-t", "tag_id": "n-g"]])
                .with("tags", created: [["id": "n-g", "label": "new"]])
                .with("tasks", created: [["id": "n-t", "project_id": "n-p"]], deleted: ["t-0"])
                .with("projects", created: [["id": "n-p", "name": "new"]], deleted: ["p-1"])
            #expect(try await stack.sendPush(cursor, push).status == 200)
            let lines = try #require(stack.backend.requests.last { $0.path == "/sync/push" }).body
                .split(separator: "\n").compactMap { DemoValue(parsing: $0.utf8) }
            let order = lines.map { "\($0["op"]?.string ?? "") \($0["table"]?.string ?? "")" }
            func place(_ line: String) throws -> Int { try #require(order.firstIndex(of: line)) }
            #expect(try place("create projects") < place("create tasks"))
            #expect(try place("create tasks") < place("create comments"))
            #expect(try place("create tasks") < place("create task_tags"))
            #expect(try place("create tags") < place("create task_tags"))
            #expect(try place("delete comments") < place("delete tasks"))
            #expect(try place("delete tasks") < place("delete projects"))
            #expect(lines.first { $0["table"] == "task_tags" }?["key"] == ["taskId": "n-t", "tagId": "n-g"])
        }
    }

    @Test func `odd texts are repaired, and unknown tables and columns are dropped and counted`() async throws {
        try await PushReceiptTests.started { stack, cursor in
            let body = #"""
                {"tasks":{"created":[{"id":"n-1","_status":"created","_changed":"name","name":"a\u0000b\ud800c",
                "project_id":"p-0","position":"high","is_done":1,"secret":true,"__proto__":{"x":1},"note":"\udc00"}],
                "updated":[],"deleted":[]},"nowhere":{"created":[{"id":"x"}],"updated":[],"deleted":["y"]}}
                """#
            let answer = try await stack.send(
                "POST", GatewayStack.pushTarget(cursor), body: Array(body.utf8))
            #expect(answer.status == 200)
            let task = try #require(await stack.backend.records()["tasks"]?["n-1"])
            #expect(task["name"] == "a\u{FFFD}b\u{FFFD}c" && task["note"] == "\u{FFFD}")
            #expect(task["position"] == 0 && task["isDone"] == true)
            let pushed = try #require(stack.backend.requests.last { $0.path == "/sync/push" }).body
            for word in ["secret", "__proto__", "nowhere", "_status", "_changed"] { #expect(!pushed.contains(word)) }
            #expect(try await stack.figures(of: answer)["dropped"] == "4")
            let told = stack.log.lines.filter { $0.metadata["code"] == "push.unknown_names" }
            #expect(told.count == 1)
            #expect(told.first?.metadata["tables"] == "nowhere" && told.first?.metadata["dropped"] == "4")
            #expect(told.first?.metadata["columns"] == "tasks.secret tasks.__proto__")
        }
    }

    @Test func `however many unknown columns a push has, one line names the first few`() async throws {
        try await PushReceiptTests.started { stack, cursor in
            let name = String(repeating: "x", count: 500)
            let members = (0..<100).map { #""\#(name)\#($0)":1"# }.joined(separator: ",")
            let records = (0..<3).map { #"{"id":"m-\#($0)","label":"l",\#(members)}"# }.joined(separator: ",")
            let body = #"{"tags":{"created":[\#(records)],"updated":[],"deleted":[]}}"#
            let answer = try await stack.send("POST", GatewayStack.pushTarget(cursor), body: Array(body.utf8))
            #expect(answer.status == 200)
            #expect(try await stack.figures(of: answer)["dropped"] == "300")
            let told = stack.log.lines.filter { $0.metadata["code"] == "push.unknown_names" }
            #expect(told.count == 1)
            #expect((1...20).contains(told.first?.metadata["columns"]?.split(separator: " ").count ?? 0))
            #expect((told.first?.metadata["columns"]?.utf8.count ?? .max) < 20 * 80)
        }
    }

    @Test func `a push of nothing says who is calling and is done`() async throws {
        try await PushReceiptTests.started { stack, cursor in
            let answer = try await stack.sendPush(cursor, .changes("tasks"))
            #expect(answer.status == 200)
            #expect(stack.backend.count("POST", "/sync/push") == 0)
        }
    }
}
