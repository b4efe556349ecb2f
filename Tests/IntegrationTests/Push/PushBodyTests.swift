// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// What of a record a push carries to the backend.
@Suite(.timeLimit(.minutes(5))) struct PushBodyTests {
    /// A device that edits a task's name while another user edits its note, whichever way operations go.
    private static func edited(byCalls: Bool, send: String, _ body: (GatewayStack, DemoValue?) async throws -> Void)
        async throws
    {
        var options = StackOptions()
        if byCalls { options = try StackOptions.pushingByCalls() }
        options.overrides["push.send"] = send
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 2)
            var device = try await stack.device()
            try await device.sync()
            let task = try #require(try await stack.backend.records()["tasks"]?["t-0"])
            try await stack.backend.edit(.put("tasks", ["id": "t-0", "note": "theirs"]))
            let changes = DemoValue.changes(
                "tasks",
                updated: [
                    [
                        "id": "t-0", "name": "mine", "note": "mine", "project_id": task["projectId"] ?? .null,
                        "_changed": "name,unknown", "_status": "updated",
                    ]
                ])
            let answer = try await stack.sendPush(nil, changes)
            #expect(answer.status == 200)
            try await body(stack, try await stack.backend.records()["tasks"]?["t-0"])
        }
    }

    @Test(arguments: [true, false])
    func `with 'changed' an update carries only what the client has changed`(byCalls: Bool) async throws {
        try await Self.edited(byCalls: byCalls, send: "changed") { _, task in
            #expect(task?["name"] == "mine" && task?["note"] == "theirs")
        }
    }

    @Test(arguments: [true, false])
    func `with 'row' an update carries all that the client has`(byCalls: Bool) async throws {
        try await Self.edited(byCalls: byCalls, send: "row") { _, task in
            #expect(task?["name"] == "mine" && task?["note"] == "mine")
        }
    }

    @Test(arguments: [("backend", true), ("none", false)])
    func `a call tells the version that the client had seen, where the backend looks for conflicts`(
        conflicts: String, isTold: Bool
    ) async throws {
        var options = try StackOptions.pushingByCalls(["push.conflicts": conflicts])
        options.configuration = options.configuration?
            .replacing("update = PATCH /tasks/{id} missing", with: "update = PATCH /tasks/{id}?seen={base} missing")
            .replacing(
                "updated_at = timestamp updatedAt", with: "updated_at = timestamp updatedAt readonly version as millis")
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 2)
            var device = try await stack.device()
            try await device.sync()
            guard case .number(let seen)? = device.model.contents["tasks"]?["t-0"]?["updated_at"] else {
                Issue.record("the task has no time")
                return
            }
            try device.model.update("tasks", "t-0", with: ["name": "mine"])
            try await device.push()
            let request = try #require(stack.backend.requests.last { $0.method == "PATCH" })
            #expect(request.query == "seen=" + (isTold ? "\(Int64(seen))" : ""))
        }
    }
}
