// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import JSONBytes
import Testing

/// `[push] conflicts = stream`: the gateway asks the stream before anything is applied (finding 22).
@Suite(.timeLimit(.minutes(5))) struct StreamConflictTests {
    /// A stack with records, before a backend that looks for no conflicts itself where pushes go by calls.
    private static func started(
        byCalls: Bool = true, _ overrides: [String: String] = [:],
        _ body: (GatewayStack) async throws -> Void
    ) async throws {
        var overrides = overrides
        overrides["push.conflicts"] = overrides["push.conflicts"] ?? "stream"
        let options = byCalls ? try StackOptions.pushingByCalls(overrides) : StackOptions(overrides)
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 7)
            try await body(stack)
        }
    }

    /// Pushes without pulling before, and expects this answer.
    private static func expectPush(
        _ device: inout StackDevice, _ outcome: String, _ text: String? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        do {
            let answer = try #require(try await device.push(), sourceLocation: location)
            #expect(answer.outcome == outcome, sourceLocation: location)
        } catch StackDevice.Failure.push(let answer) {
            #expect(answer.outcome == outcome, "\(answer)", sourceLocation: location)
            if let text { #expect(answer.text.contains(text), "\(answer.text)", sourceLocation: location) }
        }
    }

    @Test(arguments: [true, false])
    func `a record that another user has changed since refuses the push, and the next sync keeps both changes`(
        byCalls: Bool
    ) async throws {
        try await Self.started(byCalls: byCalls) { stack in
            var device = try await stack.quietDevices()[0]
            try device.model.update("tasks", "t-1", with: ["name": "mine"])
            try device.model.update("tasks", "t-2", with: ["name": "mine too"])
            try device.model.create("tags", id: "own", ["label": "new"])
            try await stack.backend.edit(
                .put("tasks", ["id": "t-1", "isDone": true]), .put("tasks", ["id": "t-3", "name": "theirs"]))
            let before = try await stack.records("tasks")
            try await Self.expectPush(&device, "409 push.conflict", ": tasks t-1 (")
            #expect(try await stack.records("tasks") == before)
            #expect(try await stack.records("tags")["own"] == nil)

            try await device.sync()
            let task = try await stack.records("tasks")["t-1"]
            #expect(task?["name"] == "mine" && task?["isDone"] == true)
            #expect(!device.model.hasUnsyncedChanges)
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test(arguments: [true, false])
    func `a conflict is counted by table, and one that reads JSON gets the ids`(byCalls: Bool) async throws {
        try await Self.started(byCalls: byCalls) { stack in
            var device = try await stack.quietDevices()[0]
            for id in ["t-1", "t-2"] { try device.model.update("tasks", id, with: ["name": "mine"]) }
            try await stack.backend.edit(
                .put("tasks", ["id": "t-1", "name": "theirs"]), .put("tasks", ["id": "t-2", "name": "theirs"]))
            device.headers = [("Accept", "application/json")]
            let answer = try await device.pushLosingAnswer()
            let ids = answer.json?["error"]?["details"]?["conflicts"]?["tasks"]?.array?.compactMap(\.string)
            #expect(ids?.sorted() == ["t-1", "t-2"])
            let figures = try await stack.figures(of: answer)
            #expect(figures["conflicts"] == "2" && figures["conflicts.tasks"] == "2")
        }
    }

    @Test func `what was deleted since is in conflict for an update, and fine for a deletion`() async throws {
        try await Self.started { stack in
            var device = try await stack.quietDevices()[0]
            try device.model.delete("tasks", "t-1")
            try await stack.backend.edit(.delete("tasks", "t-1"))
            try await Self.expectPush(&device, "200")
            try device.model.update("tasks", "t-2", with: ["name": "mine"])
            try await stack.backend.edit(.delete("tasks", "t-2"))
            try await Self.expectPush(&device, "409 push.conflict", ": tasks t-2 (")
            try await device.sync()
            #expect(!device.model.hasUnsyncedChanges)
            try await stack.expectEqual(device)
            #expect(try await stack.records("tasks")["t-2"] == nil)
        }
    }

    @Test func `a record that appeared under a pushed id is in conflict, and one deletion waits for its change`()
        async throws
    {
        try await Self.started { stack in
            var device = try await stack.quietDevices()[0]
            try device.model.create("tags", id: "same", ["label": "mine"])
            try device.model.delete("tasks", "t-1")
            try await stack.backend.edit(
                .put("tags", ["id": "same", "label": "theirs"]), .put("tasks", ["id": "t-1", "name": "theirs"]))
            try await Self.expectPush(&device, "409 push.conflict", ": tasks t-1; tags same (")
            for _ in 0..<2 { try await device.sync() }
            try await stack.expectEqual(device)
            #expect(!device.model.hasUnsyncedChanges)
        }
    }

    @Test(arguments: [1, 3])
    func `the body of a 409 tells what the backend has, as the app's version would get it`(version: Int) async throws {
        try await Self.started { stack in
            var device = try await stack.device(version: version)
            for _ in 0..<2 { try await device.sync() }
            let large = String(repeating: "x", count: 65 << 10)
            for number in 1...4 { try device.model.update("tasks", "t-\(number)", with: ["name": "mine"]) }
            try await stack.backend.edit(
                .put("tasks", ["id": "t-1", "name": "theirs"]), .put("tasks", ["id": "t-3", "note": .string(large)]),
                .delete("tasks", "t-2"))
            device.headers = [("Accept", "application/json")]
            let answer = try await device.pushLosingAnswer()
            let details = try #require(answer.json?["error"]?["details"])
            #expect(details["conflicts"]?["tasks"]?.array?.count == 3)
            let tasks = try #require(details["present"]?["tasks"]?.members)
            // One is deleted, and one has no room.
            #expect(Set(tasks.map(\.name)) == ["t-1", "t-2"])
            #expect(tasks.first { $0.name == "t-2" }?.value.isNull == true)
            let task = try #require(details["present"]?["tasks"]?["t-1"])
            #expect(task["name"]?.string == "theirs" && task["id"]?.string == "t-1")
            let columns = try #require(ClientSchema.quickstart.table(named: "tasks", at: version))
                .columns(at: version).map(\.name)
            #expect(Set(try #require(task.members).map(\.name)) == Set(columns + ["id"]))
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test func `22: what comes as it was is no conflict, and neither is what others change beside it`() async throws {
        try await Self.started { stack in
            var device = try await stack.quietDevices()[0]
            try device.model.update("tasks", "t-1", with: ["name": "mine"])
            let old = try #require(try await stack.records("tasks")["t-1"]?["name"]?.string)
            // There and back: a line comes, with the content that the device has.
            try await stack.backend.edit(.put("tasks", ["id": "t-1", "name": "theirs"]))
            try await stack.backend.edit(.put("tasks", ["id": "t-1", "name": .string(old)]))
            try await stack.backend.edit(.put("tasks", ["id": "t-2", "name": "theirs"]), .delete("tasks", "t-3"))
            try await Self.expectPush(&device, "200")
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test func `22: the same user's other device is another user`() async throws {
        try await Self.started { stack in
            var devices = try await stack.quietDevices(["device-a", "device-b"])
            try devices[0].model.update("tasks", "t-1", with: ["name": "mine"])
            try await Self.expectPush(&devices[0], "200")
            try devices[1].model.update("tasks", "t-1", with: ["note": "mine too"])
            try await Self.expectPush(&devices[1], "409 push.conflict", ": tasks t-1 (")
            try await devices[1].sync()
            let task = try await stack.records("tasks")["t-1"]
            #expect(task?["name"] == "mine" && task?["note"] == "mine too")
            for place in [0, 1] {
                try await devices[place].sync()
                try await stack.expectEqual(devices[place])
            }
        }
    }

    @Test func `22: an own echo gives one 409 at the most, and the next sync passes`() async throws {
        try await Self.started { stack in
            var device = try await stack.quietDevices()[0]
            try device.model.update("tasks", "t-1", with: ["name": "mine"])
            try await Self.expectPush(&device, "200")
            try device.model.update("tasks", "t-1", with: ["name": "mine again"])
            // A client that does not pull before it pushes.
            try await Self.expectPush(&device, "409 push.conflict")
            try await device.sync()
            #expect(!device.model.hasUnsyncedChanges)
            #expect(try await stack.records("tasks")["t-1"]?["name"] == "mine again")
        }
    }

    @Test func `22: a change whose line cannot be read is pushed over, and counted`() async throws {
        try await Self.started { stack in
            var device = try await stack.quietDevices()[0]
            try device.model.update("tasks", "t-1", with: ["name": "mine"])
            try await stack.backend.edit(.put("tasks", ["id": "t-1", "name": "theirs"]))
            stack.backend.inject(.stream { $0.malformed[0] = .invalidJSON })
            let answer = try #require(try await device.push())
            #expect(answer.outcome == "200")
            #expect(try await stack.figures(of: answer)["unseen"] == "1")
            #expect(try await stack.records("tasks")["t-1"]?["name"] == "mine")
        }
    }

    @Test func `22: an unknown time makes the client pull first, and then it passes`() async throws {
        try await Self.started { stack in
            var device = try await stack.quietDevices()[0]
            try device.model.update("tasks", "t-1", with: ["name": "mine"])
            let changes = device.model.fetchLocalChanges()
            let answer = try await device.send(device.shape.push(changes, lastPulledAt: 17))
            #expect(answer.outcome == "409 push.outdated")
            try await device.sync()
            #expect(try await stack.records("tasks")["t-1"]?["name"] == "mine")
            // Without one there is nothing to compare with.
            try device.model.update("tasks", "t-1", with: ["name": "mine again"])
            let untold = try await device.send(
                device.shape.push(device.model.fetchLocalChanges(), lastPulledAt: nil))
            #expect(untold.outcome == "200")
        }
    }

    @Test func `a reset that comes first makes the client pull, and is served by that pull alone`() async throws {
        try await Self.started { stack in
            var device = try await stack.quietDevices()[0]
            try device.model.update("tasks", "t-1", with: ["name": "mine"])
            try await stack.lose("tasks", ["t-3"])
            try await stack.demandReset()
            try await Self.expectPush(&device, "409 push.outdated")
            try await device.sync()
            #expect(!device.model.hasUnsyncedChanges)
            try await stack.expectEqual(device)
        }
    }

    @Test func `a push of a new session makes the client pull first`() async throws {
        try await Self.started { stack in
            var device = try await stack.quietDevices()[0]
            try device.model.update("tasks", "t-1", with: ["name": "mine"])
            device.token = "device-b"
            try await Self.expectPush(&device, "409 push.outdated")
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test func `a check disturbs no checkpoint: devices of one session go on from where they are`() async throws {
        try await Self.started { stack in
            var devices = try await stack.quietDevices(["device-a", "device-a"])
            try await stack.change()
            try await devices[1].sync()
            let held = try await stack.backend.checkpoints(token: "device-a")
            try devices[0].model.update("tags", "ada-tag-1", with: ["label": "mine"])
            stack.backend.clearRequests()
            try await Self.expectPush(&devices[0], "200")
            #expect(try await stack.backend.checkpoints(token: "device-a") != held)
            // The pull behind it finds the checkpoints as it needs them.
            stack.backend.clearRequests()
            try await devices[0].pull()
            #expect(stack.backend.count("POST", "/sync/ack") == 0)
            for place in [1, 0, 1] {
                try await devices[place].sync()
                try await stack.expectEqual(devices[place])
            }
        }
    }

    @Test func `a check that breaks off is gone on with, and one that cannot be leaves the backend as it is`()
        async throws
    {
        try await Self.started { stack in
            var device = try await stack.quietDevices()[0]
            try device.model.update("tasks", "t-1", with: ["name": "mine"])
            for number in 0..<6 {
                try await stack.backend.edit(.put("tasks", ["id": .string("t-\(number)"), "name": "theirs"]))
            }
            stack.backend.inject(.stream { $0.cutAfterLines = 1 })
            try await Self.expectPush(&device, "409 push.conflict", ": tasks t-1 (")
            stack.backend.inject(DemoFault("POST", "/sync/stream", times: 9, action: .status(500)))
            try await Self.expectPush(&device, "502 backend.stream_broken")
            stack.backend.clearFaults()
            #expect(try await stack.records("tasks")["t-1"]?["name"] == "theirs")
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test func `only the tables that want it are asked for, and tables that want none are not looked at`()
        async throws
    {
        let options = try StackOptions.pushingByCalls()
        var custom = options
        custom.configuration = options.configuration?.replacing(
            "[columns tasks]", with: "conflicts = stream\n[columns tasks]"
        ).replacing("[columns tags]", with: "conflicts = none\n[columns tags]")
        try await GatewayStack.with(custom) { stack in
            try await stack.seed(tasks: 7)
            var device = try await stack.quietDevices()[0]
            stack.backend.clearRequests()
            try device.model.update("tags", "ada-tag-0", with: ["label": "mine"])
            try await stack.backend.edit(.put("tags", ["id": "ada-tag-0", "label": "theirs"]))
            try await Self.expectPush(&device, "200")
            #expect(stack.backend.count("POST", "/sync/stream") == 0)
            try device.model.update("tasks", "t-1", with: ["name": "mine"])
            try await Self.expectPush(&device, "200")
            #expect(stack.backend.count("POST", "/sync/stream") == 1)
        }
    }

    @Test func `a push of the very same body is answered from its receipt, not by its own echo`() async throws {
        try await Self.started { stack in
            var device = try await stack.quietDevices()[0]
            try device.model.update("tasks", "t-1", with: ["name": "mine"])
            #expect(try await device.pushLosingAnswer().outcome == "200")
            try await Self.expectPush(&device, "200")
            #expect(!device.model.hasUnsyncedChanges)
        }
    }
}
