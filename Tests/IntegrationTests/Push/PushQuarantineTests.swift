// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import JSONBytes
import StateStore
import SyncModel
import Testing

/// `[push] rejected = quarantine`: what the backend refuses for ever is quarantined, and comes through once it is
/// retried.
@Suite(.timeLimit(.minutes(5))) struct PushQuarantineTests {
    private static func started(
        _ style: PushStyle, _ overrides: [String: String] = [:],
        _ body: (GatewayStack, inout StackDevice) async throws -> Void
    ) async throws {
        let usual = ["push.rejected": "quarantine", "pull.repeat_window": "0s", "push.retry_budget": "0s"]
        try await GatewayStack.with(style.options(usual.merging(overrides) { $1 })) { stack in
            try await stack.seed(tasks: 6)
            var device = try await stack.device(token: "device-a")
            for _ in 0..<2 { try await device.sync() }
            try await stack.expectEqual(device)
            try await body(stack, &device)
        }
    }

    private static func entries(_ stack: GatewayStack) async throws -> [QuarantinedPush] {
        let store = stack.store
        return try await store.inspection.quarantinedPushes(of: nil, after: 0, limit: 99)
    }

    private static func mark(_ stack: GatewayStack) async throws {
        let store = stack.store
        #expect(try await !store.commands.scheduleRetries(nil, of: nil, at: 1_800_000_000_000).isEmpty)
    }

    @Test(arguments: PushStyle.allCases)
    func `a record that the backend refuses for ever stops no other, and comes through after a retry`(
        _ style: PushStyle
    ) async throws {
        try await Self.started(style) { stack, device in
            stack.backend.rejectedIDs = ["n-2"]
            for number in 1...3 { try device.model.create("tags", id: "n-\(number)", ["label": "new"]) }
            try await device.sync()
            #expect(!device.model.hasUnsyncedChanges)
            let tags = try await stack.records("tags")
            #expect(tags["n-1"] != nil && tags["n-2"] == nil && tags["n-3"] != nil)
            let entry = try #require(try await Self.entries(stack).first)
            #expect(entry.push.key == PushedRecordKey(table: "tags", id: "n-2") && entry.push.kind == .create)
            #expect(entry.push.reason.code == "push.rejected")
            #expect(entry.push.reason.status == (style == .calls ? 400 : nil))
            let logged = try #require(stack.logged("push.quarantined").first)
            #expect("\(logged.level)" == "error" && logged.metadata["entries"] == "push-\(entry.id)")

            // Later syncs go on, in both directions.
            try device.model.create("tags", id: "n-4", ["label": "later"])
            try await stack.backend.edit(.put("tasks", ["id": "t-0", "name": "theirs"]))
            for _ in 0..<2 { try await device.sync() }
            #expect(try await stack.differences(of: device) == ["tags#n-2 is on the device only"])

            // Asked for too early: it stays.
            try await Self.mark(stack)
            try await device.sync()
            let again = try #require(try await Self.entries(stack).first)
            #expect(again.count == 2 && again.markedAt == nil)
            #expect(try await stack.records("tags")["n-2"] == nil)

            stack.backend.rejectedIDs = []
            try await device.sync()
            #expect(try await stack.records("tags")["n-2"] == nil, "nobody has asked for it")
            try await Self.mark(stack)
            // The pull that applies it brings what came of it: never in 'created'.
            try await device.expectPull(["updated tags#n-2"])
            #expect(try await stack.records("tags")["n-2"]?["label"] == "new")
            #expect(try await Self.entries(stack).isEmpty)
            try await stack.expectEqual(device)
            try await device.expectPull([])
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `a mark is taken up by a push too, and by any device of the principal`(_ style: PushStyle) async throws {
        try await Self.started(style) { stack, device in
            stack.backend.rejectedIDs = ["n-1", "n-2"]
            for number in 1...2 { try device.model.create("tags", id: "n-\(number)", ["label": "old"]) }
            try await device.sync()
            stack.backend.rejectedIDs = []
            try await Self.mark(stack)
            let pushed = DemoValue.changes("tags", updated: [["id": "n-2", "label": "newer"]])
            #expect(try await stack.sendPush(nil, pushed, token: "device-b").status == 200)
            let tags = try await stack.records("tags")
            #expect(tags["n-1"]?["label"] == "old" && tags["n-2"]?["label"] == "newer")
            #expect(try await Self.entries(stack).isEmpty)
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `14f: no reset and no full comparison deletes or reverts what is quarantined`(_ style: PushStyle) async throws
    {
        try await Self.started(style, ["ledger.resweep_every": "1ms"]) { stack, device in
            // One that was accepted a moment ago, and whose echo has come.
            try device.model.create("tags", id: "n-0", ["label": "accepted"])
            for _ in 0..<2 { try await device.sync() }
            stack.backend.rejectedIDs = ["n-0", "n-1", "t-1", "t-2"]
            try device.model.update("tags", "n-0", with: ["label": "mine"])
            try device.model.create("tags", id: "n-1", ["label": "mine"])
            try device.model.update("tasks", "t-1", with: ["name": "mine"])
            try device.model.delete("tasks", "t-2")
            try await device.sync()
            let kinds = try await Self.entries(stack).map(\.push.kind.rawValue).sorted()
            #expect(kinds == ["create", "delete", "update", "update"])
            for _ in 0..<2 {
                try await stack.demandReset()
                for _ in 0..<7 { try await device.sync() }
            }
            #expect(device.model.contents["tags"]?["n-0"]?["label"] == "mine")
            #expect(device.model.contents["tags"]?["n-1"] != nil)
            #expect(device.model.contents["tasks"]?["t-1"]?["name"] == "mine")
            #expect(device.model.contents["tasks"]?["t-2"] == nil)
            // What really changes at the backend comes as ever.
            try await stack.backend.edit(.put("tasks", ["id": "t-1", "name": "theirs"]))
            try await device.sync()
            #expect(device.model.contents["tasks"]?["t-1"]?["name"] == "theirs")
            stack.backend.rejectedIDs = []
            try await Self.mark(stack)
            for _ in 0..<2 { try await device.sync() }
            #expect(try await Self.entries(stack).isEmpty)
            #expect(try await stack.records("tasks")["t-1"]?["name"] == "mine")
            try await stack.expectEqual(device)
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `what refers to a record that is quarantined goes on by itself`(_ style: PushStyle) async throws {
        try await Self.started(style) { stack, device in
            stack.backend.rejectedIDs = ["n-p", "n-c"]
            try device.model.create("projects", id: "n-p", ["name": "new"])
            try device.model.create("tasks", id: "n-t", ["name": "new", "project_id": "n-p"])
            try device.model.create("comments", id: "n-c", ["body": "new", "task_id": "n-t"])
            try await device.sync()
            #expect(try await Self.entries(stack).map(\.push.key.id) == ["n-p", "n-c"])
            stack.backend.rejectedIDs = []
            try await Self.mark(stack)
            for _ in 0..<2 { try await device.sync() }
            #expect(try await Self.entries(stack).isEmpty)
            try await stack.expectEqual(device)
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `a later push of the record takes the entry's place, or removes it`(_ style: PushStyle) async throws {
        try await Self.started(style, ["push.send": "changed"]) { stack, device in
            stack.backend.rejectedIDs = ["t-1", "n-1"]
            try device.model.update("tasks", "t-1", with: ["name": "first"])
            try device.model.create("tags", id: "n-1", ["label": "first"])
            try await device.sync()
            try device.model.update("tasks", "t-1", with: ["note": "second"])
            try device.model.update("tags", "n-1", with: ["label": "second"])
            try await device.sync()
            let entries = try await Self.entries(stack)
            #expect(entries.map(\.count) == [2, 2])
            #expect(Set(entries.map(\.push.kind)) == [.create, .update])
            // The backend has got nothing of the first change, so the third brings all of it.
            stack.backend.rejectedIDs = []
            try device.model.update("tasks", "t-1", with: ["position": 9])
            try device.model.delete("tags", "n-1")
            try await device.sync()
            #expect(try await Self.entries(stack).isEmpty)
            let task = try #require(try await stack.records("tasks")["t-1"])
            #expect(task["name"] == "first" && task["note"] == "second" && task["position"] == 9)
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `without room the push fails as without quarantine, and says so in the log`(_ style: PushStyle) async throws {
        try await Self.started(style, ["push.quarantine_entries": "1", "push.quarantine_record": "1KiB"]) { stack, _ in
            stack.backend.rejectedIDs = ["n-1", "n-2", "n-3"]
            var outcomes: [String] = []
            // The first is too large; the second one has its place already when it comes again.
            for (id, length) in [("n-3", 2_000), ("n-1", 1), ("n-2", 1), ("n-1", 2)] {
                let label = String(repeating: "x", count: length)
                let changes = DemoValue.changes("tags", created: [["id": .string(id), "label": .string(label)]])
                outcomes.append(try await stack.sendPush(nil, changes).outcome)
            }
            #expect(outcomes == ["422 push.rejected", "200", "422 push.rejected", "200"])
            #expect(stack.logged("push.quarantine_too_large").count == 1)
            #expect(stack.logged("push.quarantine_full").count == 1)
            let entries = try await Self.entries(stack)
            #expect(entries.map(\.push.key.id) == ["n-1"])
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `a push that fails quarantines nothing`(_ style: PushStyle) async throws {
        try await Self.started(style) { stack, device in
            stack.backend.rejectedIDs = ["n-1"]
            for number in 1...2 { try device.model.create("tags", id: "n-\(number)", ["label": "new"]) }
            let path = style == .calls ? "/tags" : "/sync/push"
            stack.backend.inject(DemoFault("POST", path, action: .delay(0)))
            stack.backend.inject(DemoFault("POST", path, action: .status(429)))
            await #expect(throws: StackDevice.Failure.self) { try await device.sync() }
            #expect(try await Self.entries(stack).isEmpty)
            try await device.sync()
            #expect(try await Self.entries(stack).map(\.push.key.id) == ["n-1"])
            #expect(try await stack.records("tags")["n-2"] != nil)
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `what cannot be applied now keeps its mark, and holds nobody up`(_ style: PushStyle) async throws {
        try await Self.started(style) { stack, device in
            stack.backend.rejectedIDs = ["n-1"]
            try device.model.create("tags", id: "n-1", ["label": "new"])
            try await device.sync()
            stack.backend.rejectedIDs = []
            try await Self.mark(stack)
            let path = style == .calls ? "/tags" : "/sync/push"
            stack.backend.inject(DemoFault("POST", path, action: .status(429, retryAfter: 60)))
            try await device.expectPull([])
            let entry = try #require(try await Self.entries(stack).first)
            #expect(entry.count == 1 && entry.markedAt != nil)
            // A backend that breaks over it: the outcome is unknown, and it is not asked for ever.
            stack.backend.inject(DemoFault("POST", path, times: 5, action: .status(500)))
            for _ in 0..<4 {
                try await device.expectPull([])
                let entry = try #require(try await Self.entries(stack).first)
                #expect(entry.count == 1 && entry.markedAt != nil)
            }
            try await device.expectPull([])
            let broken = try #require(try await Self.entries(stack).first)
            #expect(broken.count == 2 && broken.markedAt == nil)
            #expect(broken.push.reason.code == "push.unknown_outcome")
        }
    }

    @Test func `what is quarantined is nobody else's, and comes back from no other's request`() async throws {
        try await Self.started(.calls) { stack, device in
            stack.backend.rejectedIDs = ["n-1"]
            try device.model.create("tags", id: "n-1", ["label": "secret"])
            try await device.sync()
            stack.backend.rejectedIDs = []
            try await Self.mark(stack)
            var other = try await stack.device(of: "bob@example.com", seed: 9)
            try await other.sync()
            #expect(try await Self.entries(stack).first?.markedAt != nil)
            #expect(!stack.log.lines.contains { $0.description.contains("secret") })
        }
    }

    @Test func `a receipt says nothing before the record is safe`() async throws {
        try await Self.started(.stream) { stack, device in
            stack.backend.rejectedIDs = ["n-1"]
            let cursor = Int64(try #require(device.model.lastPulledAt))
            let changes = DemoValue.changes("tags", created: [["id": "n-1", "label": "new"]])
            for _ in 0..<2 {
                let answer = try await stack.sendPush(cursor, changes, token: "device-a")
                #expect(answer.outcome == "200" && answer.text == "{}")
            }
            #expect(try await Self.entries(stack).map(\.count) == [1])
        }
    }
}
