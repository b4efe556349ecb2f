// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// What hangs on a record goes with it, on every device, although the backend sends one deletion only.
@Suite(.timeLimit(.minutes(5))) struct RevocationTests {
    private static let gone = [
        "deleted comments#c-q-1", "deleted comments#c-q-2", "deleted projects#q", "deleted task_tags#q-1.ada-tag-0",
        "deleted tasks#q-1", "deleted tasks#q-2",
    ]

    /// Ada's own records, and a project of Bob's that she sees: two tasks with a comment each, one with her label.
    private static func devices(_ stack: GatewayStack, _ tokens: [String] = ["device-a"]) async throws -> [StackDevice]
    {
        try await stack.seed(tasks: 6)
        try await stack.share("q", tasks: ["q-1", "q-2"])
        try await stack.backend.edit(.put("task_tags", ["taskId": "q-1", "tagId": "ada-tag-0"]))
        return try await stack.quietDevices(tokens)
    }

    @Test func `losing a project takes its tasks, their comments and labels along in the same answer`() async throws {
        try await GatewayStack.with { stack in
            var devices = try await Self.devices(stack, ["device-a", "device-a", "device-b"])
            try devices[0].model.update("tasks", "t-0", with: ["name": "mine"])
            try await stack.backend.edit(as: bob, .revoke(project: "q", from: ada))
            for place in devices.indices {
                let (answer, _) = try await devices[place].pull()
                #expect(try PulledChanges(answer).brief == Self.gone)
                #expect(try await stack.figures(of: answer)["descendants"] == "5")
            }
            for device in devices.dropFirst() { try await stack.expectEqual(device) }
            #expect(devices[0].model.record("tasks", "t-0")?.status == .updated)
            for place in devices.indices { try await devices[place].expectPull([]) }

            // Granted again, all of it comes again, and the labels are the same as before.
            try await stack.backend.edit(as: bob, .share(project: "q", with: ada))
            for place in devices.indices {
                let brief = try await devices[place].pulled()
                #expect(brief == Self.gone.map { $0.replacing("deleted", with: "created") })
            }
            try await stack.expectEqual(devices[1])
        }
    }

    @Test func `a deleted project takes what hung on it along`() async throws {
        try await GatewayStack.with { stack in
            var device = try await Self.devices(stack)[0]
            try await stack.backend.edit(as: bob, .delete("projects", "q"))
            try await device.expectPull(Self.gone)
            try await stack.expectEqual(device)
        }
    }

    @Test(arguments: [false, true])
    func `a task that was moved to another project before the revocation stays`(_ isPulledBetween: Bool) async throws {
        try await GatewayStack.with { stack in
            var device = try await Self.devices(stack)[0]
            try await stack.backend.edit(as: bob, .put("tasks", ["id": "q-1", "projectId": "p-0"]))
            if isPulledBetween {
                let moved = try await device.pulled()
                #expect(moved == ["updated tasks#q-1"], "its comment and label came again as they were")
            }
            try await stack.backend.edit(as: bob, .revoke(project: "q", from: ada))
            var expected = ["deleted comments#c-q-2", "deleted projects#q", "deleted tasks#q-2"]
            if !isPulledBetween { expected.append("updated tasks#q-1") }
            try await device.expectPull(expected)
            #expect(device.ids("comments").contains("c-q-1") && device.ids("task_tags") == ["q-1.ada-tag-0"])
            try await stack.expectEqual(device)
        }
    }

    @Test func `a project that is revoked and granted again between two pulls costs nothing`() async throws {
        try await GatewayStack.with { stack in
            var device = try await Self.devices(stack)[0]
            try device.model.update("tasks", "q-1", with: ["note": "mine"])
            try await stack.backend.edit(
                as: bob, .revoke(project: "q", from: ada), .delete("tasks", "q-2"), .share(project: "q", with: ada))
            try await device.expectPull(["deleted comments#c-q-2", "deleted tasks#q-2"])
            #expect(device.model.record("tasks", "q-1")?.status == .updated)
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test func `a record whose parent is not there is delivered all the same`() async throws {
        try await GatewayStack.with { stack in
            var device = try await Self.devices(stack)[0]
            try await stack.backend.edit(
                .put("tasks", ["id": "loose", "projectId": "nowhere"]),
                .put("comments", ["id": "c-loose", "taskId": "not-there", "body": "said"]))
            try await device.expectPull(["created comments#c-loose", "created tasks#loose"])
            var fresh = try await stack.device(token: "device-b", seed: 7)
            try await fresh.pull()
            #expect(fresh.ids("tasks").contains("loose") && fresh.ids("comments").contains("c-loose"))
        }
    }

    @Test func `a task that a device has pushed itself goes with its project, before its echo and after`() async throws
    {
        try await GatewayStack.with { stack in
            var devices = try await Self.devices(stack, ["device-a", "device-b"])
            for place in [0, 1] {
                try devices[place].model.create("tasks", id: "own-\(place)", ["name": "mine", "project_id": "q"])
            }
            try await devices[0].sync()
            try await devices[0].sync()
            // The second one's task has not come back to anybody yet.
            try await devices[1].sync()
            try await stack.backend.edit(as: bob, .revoke(project: "q", from: ada))
            let expected = (Self.gone + ["deleted tasks#own-0", "deleted tasks#own-1"]).sorted()
            for place in [0, 1] {
                try await devices[place].expectPull(expected)
                try await stack.expectEqual(devices[place])
            }
        }
    }
}
