// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import StateStore
import SyncModel
import Testing

/// New records of a project that their user has lost meanwhile, with `[push] rejected = fail`.
@Suite(.timeLimit(.minutes(5))) struct OrphanTests {
    private static func started(
        _ style: PushStyle, _ overrides: [String: String] = [:],
        _ body: (GatewayStack, inout StackDevice) async throws -> Void
    ) async throws {
        let usual = ["pull.repeat_window": "0s", "push.retry_budget": "0s"]
        try await GatewayStack.with(style.options(usual.merging(overrides) { $1 })) { stack in
            try await stack.seed(tasks: 6)
            try await stack.share("q", tasks: ["q-1"])
            var device = try await stack.quietDevices()[0]
            try await body(stack, &device)
        }
    }

    private static func entries(_ stack: GatewayStack) async throws -> [QuarantinedPush] {
        let store = stack.store
        return try await store.inspection.quarantinedPushes(of: nil, after: 0, limit: 99)
    }

    /// Makes a task of the project with a comment, and an edit of another one, and takes the project away.
    private static func loseProject(_ stack: GatewayStack, _ device: inout StackDevice) async throws {
        try device.model.create("tasks", id: "new", ["name": "new", "project_id": "q"])
        try device.model.create("comments", id: "c-new", ["body": "new", "task_id": "new"])
        try device.model.update("tasks", "t-0", with: ["name": "mine"])
        try await stack.backend.edit(as: bob, .revoke(project: "q", from: ada))
    }

    @Test(arguments: PushStyle.allCases)
    func `they go into quarantine with what hangs on them, and block nothing`(_ style: PushStyle) async throws {
        try await Self.started(style) { stack, device in
            try await Self.loseProject(stack, &device)
            // Most backends have no comments of tasks that they do not have.
            stack.backend.rejectedIDs = ["c-new"]
            try await device.sync()
            #expect(!device.model.hasUnsyncedChanges)
            #expect(try await stack.records("tasks")["t-0"]?["name"] == "mine")
            let entries = try await Self.entries(stack)
            #expect(Set(entries.map(\.push.key.id)) == ["new", "c-new"])
            #expect(entries.allSatisfy { $0.push.reason.code == "push.parent_gone" })
            #expect(stack.logged("push.quarantined").count == 1)

            // Later syncs go on, and once the project is back a retry brings both.
            try device.model.update("tasks", "t-1", with: ["name": "later"])
            try await device.sync()
            try await stack.backend.edit(as: bob, .share(project: "q", with: ada))
            stack.backend.rejectedIDs = []
            let store = stack.store
            #expect(try await store.commands.scheduleRetries(nil, of: nil, at: 1_800_000_000_000).count == 2)
            for _ in 0..<3 { try await device.sync() }
            #expect(try await Self.entries(stack) == [])
            try await stack.expectEqual(device)
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `what the backend refuses for another reason still fails the push`(_ style: PushStyle) async throws {
        try await Self.started(style) { stack, device in
            stack.backend.rejectedIDs = ["n-1"]
            try await Self.loseProject(stack, &device)
            try device.model.create("tags", id: "n-1", ["label": "new"])
            try await device.pull()
            let answer = try await device.pushLosingAnswer()
            #expect(answer.outcome == "422 push.rejected")
            #expect(try await Self.entries(stack) == [])
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `with report the answer names them`(_ style: PushStyle) async throws {
        try await Self.started(style, ["push.rejected": "report"]) { stack, device in
            try await Self.loseProject(stack, &device)
            let answer = try #require(try await device.sync().push)
            #expect(String(decoding: answer.body, as: UTF8.self).contains(#""tasks":["new"]"#))
            #expect(try await stack.records("tasks")["t-0"]?["name"] == "mine")
            #expect(try await Self.entries(stack) == [])
        }
    }
}
