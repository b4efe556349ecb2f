// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// A push to a backend that has no push: one REST call for each record, by the configuration's templates.
@Suite(.timeLimit(.minutes(5))) struct CallPushTests {
    /// A stack with records, and a device in sync.
    static func started(_ body: (GatewayStack, inout StackDevice) async throws -> Void) async throws {
        // With one call at a time it is known what was sent before a failure.
        let overrides = ["pull.repeat_window": "0s", "push.retry_budget": "0s", "push.parallel": "1"]
        try await GatewayStack.with(try StackOptions.pushingByCalls(overrides)) { stack in
            try await stack.seed(tasks: 6)
            var device = try await stack.device()
            try await device.sync()
            stack.backend.clearRequests()
            try await body(stack, &device)
        }
    }

    static func writes(_ stack: GatewayStack) -> [String] {
        stack.backend.requests.filter { !$0.path.hasPrefix("/sync") && $0.path != "/users/me" }
            .map { "\($0.method) \($0.path)" }
    }

    @Test func `records are created, changed and deleted by the templates of their tables`() async throws {
        try await Self.started { stack, device in
            try device.model.create("projects", id: "n-p", ["name": "new", "color": "#123456"])
            try device.model.create(
                "tasks", id: "n-t", ["name": "new", "project_id": "n-p", "position": 2.5, "due_at": 1_700_000_000_000])
            try device.model.create("tags", id: "n-g", ["label": "new"])
            try device.model.create("task_tags", id: "n-t.n-g", ["task_id": "n-t", "tag_id": "n-g"])
            try device.model.update("tasks", "t-0", with: ["name": "mine", "note": .null])
            try device.model.delete("tasks", "t-3")
            try await device.sync()
            #expect(
                Set(Self.writes(stack)) == [
                    "POST /projects", "POST /tasks", "POST /tags", "PUT /tasks/n-t/tags", "PATCH /tasks/t-0",
                    "DELETE /tasks/t-3",
                ])
            for _ in 0..<2 { try await device.sync() }
            try await stack.expectEqual(device)
            try device.model.delete("task_tags", "n-t.n-g")
            for _ in 0..<2 { try await device.sync() }
            try await stack.expectEqual(device)
        }
    }

    @Test func `a created record that exists is updated, an updated one that is missing is created`() async throws {
        try await Self.started { stack, device in
            try await stack.backend.edit(.put("tags", ["id": "twice", "label": "theirs"]))
            let changes = DemoValue.changes(
                "tags", created: [["id": "twice", "label": "mine"]], updated: [["id": "missing", "label": "mine"]],
                deleted: ["never-was"])
            let answer = try await stack.sendPush(nil, changes)
            #expect(answer.status == 200)
            let tags = try await stack.backend.records()["tags"]
            #expect(tags?["twice"]?["label"] == "mine" && tags?["missing"]?["label"] == "mine")
            #expect(
                Self.writes(stack) == [
                    "POST /tags", "PATCH /tags/twice", "PATCH /tags/missing", "POST /tags", "DELETE /tags/never-was",
                ])
        }
    }

    /// What happens to the second of three creates, and what the client hears.
    struct Stop: Sendable, CustomTestStringConvertible {
        let action: DemoFault.Action?
        let outcome: String
        var testDescription: String { outcome }

        static let all = [
            Stop(action: nil, outcome: "422 push.rejected"),
            Stop(action: .status(412), outcome: "409 push.conflict"),
            Stop(action: .status(403), outcome: "422 push.rejected"),
            Stop(action: .status(401), outcome: "401 backend.credential"),
            Stop(action: .status(429, retryAfter: 4), outcome: "503 backend.busy"),
            Stop(action: .status(500), outcome: "502 push.unknown_outcome"),
            Stop(action: .loseAnswer, outcome: "502 push.unknown_outcome"),
        ]
    }

    @Test(arguments: Stop.all)
    func `it stops at the first failure with a clear error, and the next sync makes all equal`(
        _ stop: Stop
    ) async throws {
        try await Self.started { stack, device in
            for number in 1...3 { try device.model.create("tags", id: "n-\(number)", ["label": "new"]) }
            if let action = stop.action {
                stack.backend.inject(DemoFault("POST", "/tags", action: .delay(0)))
                stack.backend.inject(DemoFault("POST", "/tags", action: action))
            } else {
                stack.backend.rejectedIDs = ["n-2"]
            }
            do {
                try await device.sync()
                Issue.record("the push was answered with success")
            } catch StackDevice.Failure.push(let answer) {
                #expect(answer.outcome == stop.outcome)
                if ["422", "409"].contains(stop.outcome.prefix(3)) { #expect(answer.text.contains("tags n-2")) }
            }
            #expect(Self.writes(stack) == ["POST /tags", "POST /tags"])
            #expect(try await stack.backend.records()["tags"]?["n-3"] == nil)

            stack.backend.rejectedIDs = []
            stack.backend.clearFaults()
            for _ in 0..<2 { try await device.sync() }
            #expect(!device.model.hasUnsyncedChanges)
            try await stack.expectEqual(device)
        }
    }

    @Test func `ids cannot leave their place in a template's path`() async throws {
        try await Self.started { stack, _ in
            for id in ["../projects/p-0", "..", "a/b", "x?y=1", "%2e%2e", "a b", "é"] {
                _ = try await stack.sendPush(nil, .changes("tags", deleted: [id]))
            }
            #expect(stack.backend.requests.filter { $0.method == "DELETE" }.allSatisfy { $0.path.hasPrefix("/tags/") })
            #expect(try await stack.backend.records()["projects"]?["p-0"] != nil)
        }
    }
}
