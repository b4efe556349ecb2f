// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import JSONBytes
import StateStore
import Testing

/// Without a ledger, for a table or for all, things are as the backend tells them.
@Suite(.timeLimit(.minutes(5))) struct LedgerModeTests {
    /// The quickstart without a ledger for tags.
    private static func withoutTags(_ overrides: [String: String] = [:]) throws -> StackOptions {
        var options = StackOptions(overrides)
        options.configuration = try StackConfiguration.quickstart()
            .replacing("request = TagsV1\n", with: "request = TagsV1\nledger = off\n")
            .replacing("parent = task_id tasks, tag_id tags\n", with: "parent = task_id tasks\n")
        return options
    }

    /// Ada's device before a backend on which a task and a tag have changed and others are gone.
    private static func changed(_ stack: GatewayStack) async throws -> StackDevice {
        try await stack.seed(tasks: 6)
        var options = ClientModel.Options()
        options.passesWholeAnswer = true
        var device = try await stack.device(token: "device-a", options: options)
        for _ in 0..<2 { try await device.sync() }
        let label = try #require(try await stack.records("tags")["ada-tag-0"]?["label"])
        try await stack.backend.edit(
            .put("tags", ["id": "ada-tag-0", "label": label]), .put("tags", ["id": "new", "label": "new"]),
            .put("tags", ["id": "brief"]), .put("tasks", ["id": "t-new", "projectId": "p-0"]),
            .put("tasks", ["id": "brief", "projectId": "p-0"]))
        try await stack.backend.edit(
            .delete("tags", "ada-tag-1"), .delete("tags", "brief"), .delete("tasks", "brief"))
        return device
    }

    @Test func `with mode off everything that comes is updated, and every deletion is passed on`() async throws {
        try await GatewayStack.with(StackOptions(["ledger.mode": "off"])) { stack in
            var device = try await Self.changed(stack)
            try await device.expectPull([
                "deleted tags#ada-tag-1", "deleted tags#brief", "deleted tasks#brief", "updated tags#ada-tag-0",
                "updated tags#new", "updated tasks#t-new",
            ])
            try await stack.expectEqual(device)
            // Nothing is known of what hung on a project.
            try await stack.share("q", tasks: ["q-1"])
            try await device.sync()
            try await stack.backend.edit(as: bob, .revoke(project: "q", from: ada))
            try await device.expectPull(["deleted projects#q"])
            #expect(try await stack.differences(of: device).count == 2)
            let dump = try StateDump(path: stack.statePath, kinds: [.chunk, .note])
            #expect(dump.rows.values.joined().isEmpty)
        }
    }

    @Test(arguments: ["adopt", "replacement", "refuse"])
    func `with mode off a reset goes by unknown_cursor`(_ rule: String) async throws {
        try await GatewayStack.with(StackOptions(["ledger.mode": "off", "pull.unknown_cursor": rule])) { stack in
            var device = try await Self.changed(stack)
            try await device.sync()
            try await stack.lose("tasks", ["t-1"])
            try await stack.demandReset()
            if rule == "refuse" {
                #expect(try await device.pullLosingAnswer().outcome == "409 pull.unknown_cursor")
                return
            }
            let pulled = try PulledChanges(await device.pull().answer)
            #expect(pulled.strategy == (rule == "replacement" ? "replacement" : nil))
            #expect(pulled.created == [:] && pulled.deleted == [:])
            let left = rule == "replacement" ? [] : ["tasks#t-1 is on the device only"]
            #expect(try await stack.differences(of: device) == left)
        }
    }

    @Test func `a table without a ledger stands beside others that have one`() async throws {
        try await GatewayStack.with(Self.withoutTags()) { stack in
            var device = try await Self.changed(stack)
            try await device.expectPull([
                "created tasks#t-new", "deleted tags#ada-tag-1", "deleted tags#brief", "updated tags#ada-tag-0",
                "updated tags#new",
            ])
            try await stack.expectEqual(device)
            try await stack.lose("tasks", ["t-1"])
            try await stack.lose("tags", ["new"])
            try await stack.demandReset()
            // What no ledger knows of is adopted.
            try await device.expectPull(["deleted tasks#t-1", "updated tags#ada-tag-0"])
            #expect(try await stack.differences(of: device) == ["tags#new is on the device only"])
        }
    }

    @Test func `by the rule replacement only the table without a ledger is replaced`() async throws {
        try await GatewayStack.with(Self.withoutTags(["pull.unknown_cursor": "replacement"])) { stack in
            var device = try await Self.changed(stack)
            try await device.sync()
            try device.model.create("tags", id: "own", ["label": "mine"])
            try device.model.update("tasks", "t-2", with: ["note": "mine"])
            try await stack.lose("tasks", ["t-1"])
            try await stack.lose("tags", ["new"])
            try await stack.demandReset()
            let (answer, _) = try await device.pull()
            let strategy = try #require(answer.json?["experimentalStrategy"])
            #expect(
                String(decoding: strategy.serialised, as: UTF8.self)
                    == #"{"default":"incremental","override":{"tags":"replacement"}}"#)
            #expect(try PulledChanges(answer).brief == ["deleted tasks#t-1", "updated tags#ada-tag-0"])
            #expect(device.model.record("tags", "own")?.status == .created)
            #expect(device.model.record("tasks", "t-2")?.status == .updated)
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test func `by the rule refuse a reset is refused where a table has no ledger, and served where all have one`()
        async throws
    {
        try await GatewayStack.with(Self.withoutTags(["pull.unknown_cursor": "refuse"])) { stack in
            let device = try await Self.changed(stack)
            try await stack.demandReset()
            #expect(try await device.pullLosingAnswer().outcome == "409 pull.unknown_cursor")
        }
        try await GatewayStack.with(StackOptions(["pull.unknown_cursor": "refuse"])) { stack in
            var device = try await Self.changed(stack)
            try await stack.demandReset()
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test func `a ledger that is switched on later is made type by type, and nothing is lost`() async throws {
        let off = StackOptions(["ledger.mode": "off"])
        try await GatewayStack.withBackend(off) { backend, directory in
            var device = try await GatewayStack.with(off, backend: backend, directory: directory) { stack in
                try await stack.seed(tasks: 6)
                try await stack.share("q", tasks: ["q-1"])
                return try await stack.quietDevices()[0]
            }
            try await backend.edit(.delete("tasks", "t-1"))
            try await backend.forgetDeletions()
            try await backend.edit(
                .delete("tasks", "t-2"), .put("tasks", ["id": "t-3", "name": "changed"]), .put("tags", ["id": "new"]))
            try await GatewayStack.with(StackOptions(), backend: backend, directory: directory) { stack in
                device.http = stack.http
                try device.model.update("tasks", "t-4", with: ["note": "mine"])
                var types: [String] = []
                for _ in 0..<5 {
                    let (answer, _) = try await device.pull()
                    #expect(try PulledChanges(answer).created == [:])
                    types.append(try #require(try await stack.figures(of: answer)["sweep"]))
                }
                #expect(types.sorted() == ["CommentsV1", "ProjectsV2", "TagsV1", "TaskTagsV1", "TasksV2"])
                #expect(device.model.record("tasks", "t-4")?.status == .updated)
                #expect(device.model.record("tags", "new") != nil)
                // What was lost before there was a ledger is known to nobody.
                #expect(try await stack.differences(of: device).contains("tasks#t-1 is on the device only"))
                try await device.sync()
                try await device.expectPull(["updated tasks#t-4"])

                // From now on it is as exact as any.
                try await stack.backend.edit(as: bob, .revoke(project: "q", from: ada))
                try await stack.backend.edit(
                    .put("tasks", ["id": "t-5", "name": "changed"]), .put("tags", ["id": "n"]))
                try await device.expectPull([
                    "created tags#n", "deleted comments#c-q-1", "deleted projects#q", "deleted tasks#q-1",
                    "updated tasks#t-5",
                ])
            }
        }
    }
}
