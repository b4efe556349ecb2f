// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import Testing

extension FindingTests {
    private static let bob = DemoConfiguration.Account.bob.id
    private static let ada = DemoConfiguration.Account.ada.id

    /// Two projects of Bob's that Ada is in, each with a task.
    private static func shared(_ stack: GatewayStack) async throws -> [StackDevice] {
        for project in ["p", "q"] {
            try await stack.backend.edit(
                as: bob, .put("projects", ["id": .string(project), "name": "Bob's"]),
                .share(project: project, with: ada))
            try await write(stack, "t-\(project)", in: project, "first")
        }
        return [
            try await stack.device(token: "device-a", seed: 1), try await stack.device(token: "device-a", seed: 2),
        ]
    }

    private static func write(
        _ stack: GatewayStack, _ task: String, in project: String, _ name: String
    ) async throws {
        try await stack.backend.edit(
            as: bob,
            .put("tasks", ["id": .string(task), "name": .string(name), "projectId": .string(project)]))
    }

    @Test func `6: what the backend noted for one device's first sync does not cut another's backfill`() async throws {
        try await GatewayStack.with { stack in
            var devices = try await Self.shared(stack)
            try await devices[0].sync()
            // Changed while out of sight, and older than what the first device has seen since.
            try await stack.backend.edit(as: Self.bob, .revoke(project: "p", from: Self.ada))
            try await Self.write(stack, "t-p", in: "p", "unseen")
            try await Self.write(stack, "t-q", in: "q", "seen")
            try await devices[0].sync()
            try await stack.backend.edit(as: Self.bob, .share(project: "p", with: Self.ada))
            try await devices[1].sync()
            try await stack.expectEqual(devices[1])
            try await devices[0].sync()
            try await stack.expectEqual(devices[0])
        }
    }

    @Test func `6: what the backend noted in one pull is not believed to be what was set before it`() async throws {
        try await GatewayStack.with { stack in
            var devices = try await Self.shared(stack)
            try await stack.backend.edit(as: Self.bob, .delete("tasks", "t-p"))
            try await Self.write(stack, "hidden", in: "q", "unseen")
            try await stack.backend.edit(as: Self.bob, .revoke(project: "q", from: Self.ada))
            // Both have seen that p has no task; then the second device sees its first one.
            for place in [0, 1] { try await devices[place].sync() }
            try await Self.write(stack, "t-new", in: "p", "seen")
            try await devices[1].sync()
            // To the first device tasks are new still: the backend notes for it that q needs no filling in.
            try await stack.backend.edit(as: Self.bob, .share(project: "q", with: Self.ada))
            for place in [0, 1] {
                try await devices[place].sync()
                try await stack.expectEqual(devices[place])
            }
        }
    }

    @Test func `8: two first pulls at one moment get two cursors and both live on`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            async let one = stack.sendPull(token: "device-a")
            async let two = stack.sendPull(token: "device-a")
            let cursors = try await [PulledChanges(one).cursor, PulledChanges(two).cursor]
            #expect(Set(cursors).count == 2)
            try await stack.backend.edit(.put("tasks", ["id": "t-0", "name": "after"]))
            for cursor in cursors {
                let pulled = try PulledChanges(await stack.sendPull(cursor, token: "device-a"))
                #expect(pulled.updated["tasks"]?["t-0"]?["name"] == "after")
            }
        }
    }

    @Test func `8: a repeated pull gets the same changes under a cursor of its own`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            let first = try PulledChanges(await stack.sendPull())
            try await stack.change()
            let lost = try PulledChanges(await stack.sendPull(first.cursor))
            let again = try PulledChanges(await stack.sendPull(first.cursor))
            #expect(again.bringsTheSame(as: lost) && again.cursor > lost.cursor)
            for cursor in [lost.cursor, again.cursor] {
                #expect(try PulledChanges(await stack.sendPull(cursor)).isEmpty)
            }
        }
    }

    @Test(arguments: ["adopt", "replacement"])
    func `10: a restored state takes no device for another`(_ rule: String) async throws {
        let options = StackOptions(["pull.unknown_cursor": rule])
        try await GatewayStack.withBackend(options) { backend, directory in
            var devices = try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                try await Self.quiesced(stack)
            }
            let (state, backup) = ("\(directory)/state.db", "\(directory)/backup.db")
            try FileManager.default.copyItem(atPath: state, toPath: backup)
            try await backend.edit(.put("tasks", ["id": "t-0", "name": "between"]))
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                devices[0].http = stack.http
                try await devices[0].sync()
            }
            try FileManager.default.removeItem(atPath: state)
            try FileManager.default.moveItem(atPath: backup, toPath: state)
            try await backend.edit(.put("tasks", ["id": "t-0", "name": "after"]))
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                for place in [1, 0] {
                    devices[place].http = stack.http
                    try await Self.sync(&devices[place], stack, restart: (place == 0 ? "unknown_cursor" : nil))
                    try await stack.expectEqual(devices[place])
                }
            }
        }
    }

    @Test func `10: a clock that is far behind gives no cursor and harms nobody`() async throws {
        let clock = ManualClock()
        var options = StackOptions()
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            var devices = try await Self.quiesced(stack)
            try await stack.backend.edit(.put("tasks", ["id": "t-0", "name": "after"]))
            clock.advance(byMilliseconds: -60_000)
            let refused = try await devices[0].pullLosingAnswer()
            #expect(refused.outcome == "503 pull.clock_behind" && refused["Retry-After"] != nil)
            #expect(try await stack.send("GET", "/readyz").outcome == "503 pull.clock_behind")
            clock.advance(byMilliseconds: 61_000)
            #expect(try await stack.send("GET", "/readyz").status == 200)
            for place in [0, 1] {
                try await devices[place].sync()
                try await stack.expectEqual(devices[place])
            }
        }
    }

    @Test func `10: a clock that is a little behind is waited for, and no integer goes out twice`() async throws {
        let clock = ManualClock()
        var options = StackOptions(["pull.repeat_window": "0s"])
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 6)
            var cursors = [try PulledChanges(await stack.sendPull()).cursor]
            for _ in 0..<4 {
                clock.advance(byMilliseconds: -1_500)
                cursors.append(try PulledChanges(await stack.sendPull()).cursor)
            }
            #expect(cursors == cursors.sorted() && Set(cursors).count == cursors.count)
        }
    }
}
