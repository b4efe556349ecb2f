// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Weeks of work in one push: in batches where the backend wants that, and in bounded memory.
@Suite(.timeLimit(.minutes(5))) struct LargePushTests {
    private static func requests(_ stack: GatewayStack) -> [DemoRequest] {
        stack.backend.requests.filter { $0.path == "/sync/push" }
    }

    /// A project with tasks and a comment on each: operations that need each other over the bounds of batches.
    private static func push(tasks: Int) -> DemoValue {
        .changes("comments", created: (0..<tasks).map { ["id": .string("n-c-\($0)"), "task_id": .string("n-\($0)")] })
            .with(
                "tasks", created: (0..<tasks).map { ["id": .string("n-\($0)"), "project_id": "n-p"] }, deleted: ["t-0"]
            )
            .with("projects", created: [["id": "n-p", "name": "new"]])
    }

    @Test func `with 'batch' a larger push is several requests in order, each with its own key`() async throws {
        try await PushReceiptTests.started(StackOptions(["push.batch": "3"])) { stack, cursor in
            #expect(try await stack.sendPush(cursor, Self.push(tasks: 4)).status == 200)
            let requests = Self.requests(stack)
            #expect(requests.map { $0.body.split(separator: "\n").count } == [3, 3, 3, 1])
            #expect(Set(requests.compactMap { $0.headers["idempotency-key"] }).count == 4)
            #expect(requests.first?.body.contains(#""table":"projects""#) == true)
            #expect(requests.last?.body.contains(#""op":"delete""#) == true)
            let records = try await stack.backend.records()
            for place in 0..<4 {
                #expect(records["tasks"]?["n-\(place)"] != nil && records["comments"]?["n-c-\(place)"] != nil)
            }
            #expect(records["tasks"]?["t-0"] == nil)
        }
    }

    @Test func `a batch whose answer is lost is asked for again under its key, and applied once`() async throws {
        let options = StackOptions(["push.batch": "3", "backend.resume_backoff": "10ms"])
        try await PushReceiptTests.started(options) { stack, cursor in
            stack.backend.inject(DemoFault("POST", "/sync/push", action: .loseAnswer))
            let answer = try await stack.sendPush(cursor, Self.push(tasks: 2))
            #expect(answer.status == 200)
            let requests = Self.requests(stack)
            let (bodies, keys) = (requests.map(\.body), requests.map { $0.headers["idempotency-key"] })
            #expect(bodies.count == 3 && bodies[0] == bodies[1] && bodies[1] != bodies[2])
            #expect(keys.count == 3 && keys[0] == keys[1] && keys[1] != keys[2])
        }
    }

    @Test func `a batch that is refused says that part was taken, and the next sync converges`() async throws {
        try await GatewayStack.with(StackOptions(["push.batch": "3"])) { stack in
            try await stack.seed(tasks: 6)
            var device = try await stack.device()
            try await device.sync()
            for place in 0..<7 {
                _ = try device.model.create("tasks", id: "n-\(place)", ["name": "new", "project_id": "p-0"])
            }
            stack.backend.rejectedIDs = ["n-4"]
            let answer = try await device.pushLosingAnswer()
            #expect(answer.outcome == "422 push.rejected")
            #expect(answer.text.contains("did not accept all of your changes") && answer.text.contains("n-4"))
            let tasks = try await stack.backend.records()["tasks"] ?? [:]
            #expect((0..<7).filter { tasks["n-\($0)"] != nil } == [0, 1, 2])

            stack.backend.rejectedIDs = []
            try await device.sync()
            try await device.sync()
            try await stack.expectEqual(device)
            #expect(try await stack.backend.records()["tasks"]?.keys.count { $0.hasPrefix("n-") } == 7)
        }
    }

    @Test func `a push of more records than are noted at once is in the ledger of notes as a whole`() async throws {
        try await PushReceiptTests.started { stack, cursor in
            let push = DemoValue.changes(
                "tasks", created: (0..<4_500).map { ["id": .string("n-\($0)"), "project_id": "p-0"] })
            #expect(try await stack.sendPush(cursor, push).status == 200)
            let pull = try PulledChanges(await stack.sendPull(cursor))
            #expect(pull.created["tasks"]?.isEmpty != false)
            #expect(pull.updated["tasks"]?.keys.count { $0.hasPrefix("n-") } == 4_500)
        }
    }
}
