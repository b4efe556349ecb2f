// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Push rules 2 to 5 where pushes meet each other or come late: afterwards client and backend hold the same.
@Suite(.timeLimit(.minutes(5))) struct LatePushTests {
    private static func started(
        _ style: PushStyle, _ overrides: [String: String] = [:],
        _ body: (GatewayStack, inout StackDevice) async throws -> Void
    ) async throws {
        try await GatewayStack.with(style.options(overrides)) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p"]), .put("tasks", ["id": "t", "projectId": "p", "name": "old"]),
                .put("tags", ["id": "g", "label": "g"]), .put("tags", ["id": "h", "label": "h"]))
            var device = try await stack.quietDevices()[0]
            stack.backend.clearRequests()
            try await body(stack, &device)
        }
    }

    /// Syncs until nothing waits any more, as a user would who is told to, and expects that all is equal then.
    private static func quiesce(
        _ device: inout StackDevice, _ stack: GatewayStack, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        for _ in 0..<3 where device.model.hasUnsyncedChanges {
            do {
                try await device.sync()
            } catch StackDevice.Failure.push(let answer) {
                #expect(answer.status == 409, "\(answer)", sourceLocation: location)
            }
        }
        #expect(!device.model.hasUnsyncedChanges, sourceLocation: location)
        try await device.sync()
        try await stack.expectEqual(device, location)
    }

    private static func edit(_ device: inout StackDevice) throws {
        try device.model.create("tasks", id: "n", ["name": "new", "project_id": "p"], now: 1)
        try device.model.update("tasks", "t", with: ["name": "mine"])
        try device.model.delete("tags", "h")
    }

    @Test(arguments: PushStyle.allCases, ["backend", "stream"])
    func `push rule 2: two synchronize() at the same time with the same changes are one`(
        style: PushStyle, conflicts: String
    ) async throws {
        try await Self.started(style, ["push.conflicts": conflicts]) { stack, device in
            try Self.edit(&device)
            let one = device
            async let first = one.pushLosingAnswer()
            async let second = one.pushLosingAnswer()
            let statuses = try await [first.status, second.status]
            #expect(statuses == [200, 200])
            #expect(stack.backend.count("POST", style == .stream ? "/sync/push" : "/tasks") == 1)
            try await Self.quiesce(&device, stack)
            #expect(Set(try await stack.records("tasks").keys) == ["t", "n"])
        }
    }

    @Test(arguments: PushStyle.allCases, ["backend", "stream"])
    func `push rule 2: two synchronize() of which one has pulled in between are one, too`(
        style: PushStyle, conflicts: String
    ) async throws {
        try await Self.started(style, ["push.conflicts": conflicts]) { stack, device in
            try Self.edit(&device)
            var twin = device
            try await stack.backend.edit(.put("tags", ["id": "g", "label": "theirs"]))
            try await twin.pull()
            try await device.push()
            do {
                try await twin.push()
            } catch StackDevice.Failure.push(let answer) {
                // Its own echo: nobody can tell it from another device's change.
                #expect(answer.status == 409, "\(answer)")
            }
            try await Self.quiesce(&device, stack)
            #expect(Set(try await stack.records("tasks").keys) == ["t", "n"])
        }
    }

    @Test(arguments: PushStyle.allCases, ["backend", "stream", "none"])
    func `push rule 2: a record that was made under the same id by another user is one record in the end`(
        style: PushStyle, conflicts: String
    ) async throws {
        try await Self.started(style, ["push.conflicts": conflicts]) { stack, device in
            try device.model.create("tags", id: "same", ["label": "mine"])
            try await stack.backend.edit(.put("tags", ["id": "same", "label": "theirs"]))
            _ = try await device.pushLosingAnswer()
            try await Self.quiesce(&device, stack)
            #expect(try await stack.records("tags").keys.filter { $0 == "same" }.count == 1)
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `push rule 3: an update of a record that the backend has lost creates it again`(style: PushStyle) async throws
    {
        try await Self.started(style) { stack, device in
            try device.model.update("tags", "g", with: ["label": "mine"])
            try await stack.lose("tags", ["g"])
            try await device.push()
            try await Self.quiesce(&device, stack)
            #expect(try await stack.records("tags")["g"]?["label"] == "mine")
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `push rule 4: of records deleted meanwhile an update is a conflict and a deletion is fine`(
        style: PushStyle
    ) async throws {
        try await Self.started(style, ["push.conflicts": "stream"]) { stack, device in
            try device.model.delete("tags", "h")
            try await stack.backend.edit(.delete("tags", "g"), .delete("tags", "h"))
            #expect(try await device.pushLosingAnswer().status == 200)
            try device.model.update("tags", "g", with: ["label": "mine"])
            let refused = try await device.pushLosingAnswer()
            #expect(refused.outcome == "409 push.conflict" && refused.text.contains(": tags g ("), "\(refused)")
            try await Self.quiesce(&device, stack)
            #expect(device.ids("tags") == [])
        }
    }

    @Test(arguments: PushStyle.allCases, ["backend", "stream"])
    func `push rule 5: what was changed between pull and push is merged by column, and both changes survive`(
        style: PushStyle, conflicts: String
    ) async throws {
        // A REST backend that is told no version cannot find a conflict.
        let finds = style == .stream || conflicts == "stream"
        try await Self.started(style, ["push.conflicts": conflicts, "push.send": "changed"]) { stack, device in
            try device.model.update("tasks", "t", with: ["name": "mine"])
            try await stack.backend.edit(.put("tasks", ["id": "t", "note": "theirs"]))
            #expect(try await device.pushLosingAnswer().status == (finds ? 409 : 200))
            try await Self.quiesce(&device, stack)
            let task = try await stack.records("tasks")["t"]
            #expect(task?["name"] == "mine" && task?["note"] == "theirs")
        }
    }
}
