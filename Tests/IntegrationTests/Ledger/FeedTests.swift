// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// A task that reaches a device in two ways, as one of a project and as one that was shared by itself.
@Suite(.timeLimit(.minutes(5))) struct FeedTests {
    private static func options() throws -> StackOptions {
        var options = StackOptions()
        options.configuration = try StackConfiguration.quickstart()
            .replacing(
                "request = TasksV1 then TasksV2 since 2",
                with: "request = TasksV1 then TasksV2 since 2, SharedTasksV1 since 2"
            )
            .replacing(
                "upsert = TaskV1, TaskV2, TaskBackfillV1, TaskBackfillV2",
                with: "upsert = TaskV1, TaskV2, TaskBackfillV1, TaskBackfillV2, SharedTaskV1, SharedTaskBackfillV1"
            )
            .replacing(
                "delete = TaskDeleteV1 by taskId",
                with: "delete = TaskDeleteV1 by taskId, SharedTaskDeleteV1 by taskId")
        return options
    }

    /// Two tasks of Bob's in a project that Ada sees; the second was shared with her as well.
    private static func quiesced(_ stack: GatewayStack) async throws -> StackDevice {
        try await stack.share("q", tasks: ["q-1", "q-2"])
        try await stack.backend.edit(as: bob, .put("projects", ["id": "hidden"]), .shareTask("q-2", with: ada))
        var device = try await stack.device(token: "device-a")
        for _ in 0..<2 { try await device.sync() }
        #expect(device.ids("tasks") == ["q-1", "q-2"])
        return device
    }

    @Test func `it stays until the last feed has gone`() async throws {
        try await GatewayStack.with(Self.options()) { stack in
            var device = try await Self.quiesced(stack)
            // Both leave Ada's sight as tasks of a project.
            try await stack.backend.edit(
                as: bob, .put("tasks", ["id": "q-1", "projectId": "hidden"]),
                .put("tasks", ["id": "q-2", "projectId": "hidden"]))
            let brief = try await device.pulled()
            #expect(brief.filter { $0.contains(" tasks#") } == ["deleted tasks#q-1", "updated tasks#q-2"])
            #expect(device.ids("tasks") == ["q-2"])
            try await stack.backend.edit(as: bob, .unshareTask("q-2", from: ada))
            try await device.expectPull(["deleted comments#c-q-2", "deleted tasks#q-2"])
        }
    }

    @Test func `a feed that comes and goes while another one lasts changes nothing`() async throws {
        try await GatewayStack.with(Self.options()) { stack in
            var device = try await Self.quiesced(stack)
            try await stack.backend.edit(as: bob, .unshareTask("q-2", from: ada))
            try await device.expectPull([])
            try await stack.backend.edit(as: bob, .shareTask("q-2", with: ada))
            try await device.expectPull([])
            try await stack.backend.edit(as: bob, .unshareTask("q-2", from: ada), .delete("tasks", "q-2"))
            try await device.expectPull(["deleted comments#c-q-2", "deleted tasks#q-2"])
        }
    }

    @Test func `a reset knows what came by which feed`() async throws {
        try await GatewayStack.with(Self.options()) { stack in
            var device = try await Self.quiesced(stack)
            try await stack.backend.edit(
                as: bob, .put("tasks", ["id": "q-1", "projectId": "hidden"]),
                .put("tasks", ["id": "q-2", "projectId": "hidden"]))
            try await stack.backend.forgetDeletions()
            try await stack.demandReset()
            let brief = try await device.pulled()
            #expect(brief.filter { $0.contains(" tasks#") } == ["deleted tasks#q-1", "updated tasks#q-2"])
            try await stack.backend.edit(as: bob, .unshareTask("q-2", from: ada))
            try await stack.backend.forgetDeletions()
            try await stack.demandReset()
            #expect(try await device.pulled().contains("deleted tasks#q-2"))
            #expect(device.ids("tasks") == [])
        }
    }
}
