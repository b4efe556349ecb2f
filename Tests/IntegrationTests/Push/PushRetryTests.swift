// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// What a backend puts off, and what it will never take.
@Suite(.timeLimit(.minutes(5))) struct PushRetryTests {
    /// A stack whose pushes go as one stream or as calls.
    private static func started(
        byCalls: Bool, _ overrides: [String: String] = [:],
        _ body: (GatewayStack, inout StackDevice) async throws -> Void
    ) async throws {
        let options = byCalls ? try StackOptions.pushingByCalls(overrides) : StackOptions(overrides)
        try await GatewayStack.with(options) { stack in
            var device = try await stack.device()
            try await device.sync()
            stack.backend.clearRequests()
            try await body(stack, &device)
        }
    }

    private static func path(_ byCalls: Bool) -> String { byCalls ? "/tags" : "/sync/push" }

    @Test(arguments: [true, false], [429, 503])
    func `what the backend puts off is tried again, and the app hears nothing of it`(
        _ byCalls: Bool, _ status: Int
    ) async throws {
        try await Self.started(byCalls: byCalls) { stack, device in
            for number in 1...2 { try device.model.create("tags", id: "n-\(number)", ["label": "new"]) }
            for _ in 0..<2 {
                stack.backend.inject(
                    DemoFault("POST", Self.path(byCalls), action: .status(status, retryAfter: status == 429 ? 0 : nil)))
            }
            try await device.sync()
            #expect(!device.model.hasUnsyncedChanges)
            #expect(stack.backend.count("POST", Self.path(byCalls)) == (byCalls ? 4 : 3))
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test(arguments: [true, false])
    func `a backend that stays busy is a 503 that says when to come again, and nothing is applied twice`(
        _ byCalls: Bool
    ) async throws {
        try await Self.started(byCalls: byCalls, ["push.retry_budget": "2s"]) { stack, device in
            try device.model.create("tags", id: "n-1", ["label": "new"])
            stack.backend.inject(DemoFault("POST", Self.path(byCalls), action: .status(429, retryAfter: 7)))
            do {
                try await device.sync()
                Issue.record("the push was answered with success")
            } catch StackDevice.Failure.push(let answer) {
                #expect(answer.outcome == "503 backend.busy" && answer["Retry-After"] == "7")
            }
            #expect(stack.backend.count("POST", Self.path(byCalls)) == 1)
            for _ in 0..<2 { try await device.sync() }
            try await stack.expectEqual(device)
        }
    }

    @Test(arguments: [true, false])
    func `with 'report' one record that the backend never takes stops no other one`(_ byCalls: Bool) async throws {
        try await Self.started(byCalls: byCalls, ["push.rejected": "report"]) { stack, device in
            stack.backend.rejectedIDs = ["n-2"]
            let changes = DemoValue.changes(
                "tags", created: (1...3).map { ["id": .string("n-\($0)"), "label": "new"] })
            let answer = try await stack.sendPush(nil, changes)
            #expect(answer.status == 200)
            #expect(answer.text.contains(#""experimentalRejectedIds":{"tags":["n-2"]}"#))
            let tags = try await stack.backend.records()["tags"]
            #expect(tags?["n-1"] != nil && tags?["n-2"] == nil && tags?["n-3"] != nil)
            stack.backend.rejectedIDs = []
            let again = try await stack.sendPush(nil, .changes("tags", created: [["id": "n-2", "label": "new"]]))
            #expect(again.status == 200 && !again.text.contains("experimentalRejectedIds"))
            #expect(try await stack.backend.records()["tags"]?["n-2"] != nil)
        }
    }

    @Test func `a push without a time is refused where the configuration wants one`() async throws {
        try await Self.started(byCalls: false, ["push.without_cursor": "refuse"]) { stack, device in
            let changes = DemoValue.changes("tags", created: [["id": "n-1", "label": "new"]])
            #expect(try await stack.sendPush(nil, changes).outcome == "400 push.without_cursor")
            #expect(try await stack.backend.records()["tags"]?["n-1"] == nil)
            try device.model.create("tags", id: "n-2", ["label": "new"])
            try await device.sync()
            #expect(try await stack.backend.records()["tags"]?["n-2"] != nil)
        }
    }
}
