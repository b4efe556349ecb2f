// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// `delete = … where`: one line takes every record whose column has its value.
@Suite(.timeLimit(.minutes(5))) struct DeletionByColumnTests {
    /// The quickstart, but comments go by delete lines with their task's id and not by `parent`.
    private static func options() throws -> StackOptions {
        var options = StackOptions(["ledger.resweep_every": "10m"])
        options.configuration = try StackConfiguration.quickstart()
            .replacing("parent = task_id tasks\n", with: "")
            .replacing(
                "delete = CommentDeleteV1 by commentId",
                with: "delete = CommentDeleteV1 by commentId, CommentsDeleteV1 where task_id = taskId")
        options.backend.clearsComments = true
        return options
    }

    @Test func `a line takes every record with its value, and rows that come after it stay`() async throws {
        try await GatewayStack.with(Self.options()) { stack in
            try await stack.share("q", tasks: ["q-1", "q-2"])
            var devices = try await stack.quietDevices(["device-a", "device-b"])
            try await stack.backend.edit(as: bob, .delete("tasks", "q-1"))
            for place in [0, 1] {
                try await devices[place].expectPull(["deleted comments#c-q-1", "deleted tasks#q-1"])
                try await stack.expectEqual(devices[place])
            }
            // A task is deleted and made anew with other comments before anybody looks.
            try await stack.backend.edit(
                as: bob, .delete("tasks", "q-2"), .put("tasks", ["id": "q-2", "projectId": "q", "name": "again"]),
                .put("comments", ["id": "c-again", "taskId": "q-2", "body": "said"]))
            let expected = ["created comments#c-again", "deleted comments#c-q-2", "updated tasks#q-2"]
            for place in [0, 1] {
                try await devices[place].expectPull(expected)
                try await stack.expectEqual(devices[place])
            }
        }
    }

    @Test func `a row in front of a deletion by column stays, and the next pull looks again`() async throws {
        var options = try Self.options()
        options.backend.sendsDeletesLast = true
        try await GatewayStack.with(options) { stack in
            try await stack.share("q", tasks: ["q-1", "q-2"])
            var device = try await stack.quietDevices()[0]
            try await stack.backend.edit(
                as: bob, .delete("tasks", "q-2"), .put("tasks", ["id": "q-2", "projectId": "q", "name": "again"]),
                .put("comments", ["id": "c-again", "taskId": "q-2", "body": "said"]))
            try await device.expectPull(
                ["created comments#c-again", "deleted comments#c-q-2", "updated tasks#q-2"])
            try await stack.expectEqual(device)
            #expect(stack.logged("ledger.sweep_suspended").first?.metadata["types"]?.contains("CommentsV1") == true)
            for _ in 0..<2 { try await device.expectPull([]) }
            try await stack.expectEqual(device)
        }
    }

    @Test func `what has come since a deletion stays when everything is compared, and when everything is streamed`()
        async throws
    {
        let clock = ManualClock()
        var options = try Self.options()
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            try await stack.share("q", tasks: ["q-1", "q-2"])
            var device = try await stack.quietDevices()[0]
            try await stack.backend.edit(as: bob, .delete("tasks", "q-1"))
            try await device.sync()
            try await stack.backend.edit(
                as: bob, .put("tasks", ["id": "q-1", "projectId": "q"]),
                .put("comments", ["id": "c-again", "taskId": "q-1", "body": "said"]))
            try await device.sync()
            clock.advance(byMilliseconds: 600_000)
            for _ in 0..<6 { try await device.expectPull([]) }
            #expect(stack.repairs.isEmpty)
            // The backend streams the old deletion once more, before the rows.
            try await stack.demandReset()
            _ = try await device.pulled()
            try await stack.expectEqual(device)
        }
    }

    @Test func `without a ledger the meaning of a line is unknown, and the log says so`() async throws {
        var options = try Self.options()
        options.overrides["ledger.mode"] = "off"
        try await GatewayStack.with(options) { stack in
            try await stack.share("q", tasks: ["q-1"])
            var device = try await stack.device(token: "device-a")
            try await device.sync()
            try await device.sync()
            try await stack.backend.edit(as: bob, .delete("tasks", "q-1"))
            try await device.expectPull(["deleted tasks#q-1"])
            #expect(stack.logged("ledger.unresolved_deletes").map { $0.metadata["lines"] } == ["1"])
        }
    }
}
