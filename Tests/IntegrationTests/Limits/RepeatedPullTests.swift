// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import Testing

/// Pulls whose answer was lost, and pulls that bring nothing.
@Suite(.timeLimit(.minutes(5))) struct RepeatedPullTests {
    /// So many tasks are more than what is simply streamed again.
    private static let manyTasks = ProcessInfo.processInfo.environment["RIND_TEST_TASKS"].flatMap(Int.init) ?? 1_500

    /// Changes every task, so that an incremental pull is a large one.
    private static func changeAll(_ stack: GatewayStack, _ name: String) async throws {
        try await stack.backend.edit(
            (0..<manyTasks).map { .put("tasks", ["id": .string("t-\($0)"), "name": .string("\(name) \($0)")]) })
    }

    @Test func `a first sync that is lost again and again is streamed once, and is as new as any other`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: Self.manyTasks)
            var device = try await stack.device()
            for number in 0..<3 {
                let lost = try await device.pullLosingAnswer()
                let figures = try await stack.figures(of: lost)
                #expect((figures["lines_kept"] == nil) == (number == 0))
                try await stack.backend.edit(
                    .put("tasks", ["id": "t-7", "name": .string("name \(number)")]),
                    .put("tasks", ["id": .string("new-\(number)"), "name": "new", "projectId": "p-0"]),
                    .delete("tasks", "t-\(10 + number)"))
            }
            let (answer, _) = try await device.pull()
            let figures = try await stack.figures(of: answer)
            // Three new lines and the complete line of this pull alone; everything else had come before.
            #expect(Int(figures["lines"] ?? "") ?? .max < 10)
            #expect(Int(figures["lines_kept"] ?? "") ?? 0 > Self.manyTasks)
            #expect(figures["mode"] == "first")
            try await stack.expectEqual(device)
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test(arguments: [true, false])
    func `after lost answers a sync brings all that changed meanwhile, and its push is no conflict`(
        isMuch: Bool
    ) async throws {
        try await GatewayStack.with(try StackOptions.pushingByCalls(["push.conflicts": "stream"])) { stack in
            try await stack.seed(tasks: isMuch ? Self.manyTasks : 7)
            var device = try await stack.quietDevices()[0]
            try device.model.update("tasks", "t-3", with: ["name": "mine"])
            if isMuch { try await Self.changeAll(stack, "theirs") }
            for number in 0..<3 {
                try await stack.backend.edit(.put("tasks", ["id": "t-3", "isDone": .bool(number % 2 == 0)]))
                try await device.pullLosingAnswer()
            }
            try await stack.backend.edit(.put("tasks", ["id": "t-4", "name": "last"]))
            let synced = try await device.sync()
            #expect(synced.push?.status == 200)
            let figures = try await stack.figures(of: synced.pull)
            #expect((figures["lines_kept"] != nil) == isMuch)
            #expect(Int(figures["lines"] ?? "") ?? .max < 20)
            #expect(try await stack.records("tasks")["t-3"]?["name"] == "mine")
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test func `two devices that begin at the same time become two replicas, whatever they share`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: Self.manyTasks)
            var devices = [try await stack.device(), try await stack.device()]
            for index in devices.indices { try await devices[index].pull() }
            #expect(devices[0].model.lastPulledAt != devices[1].model.lastPulledAt)
            try await stack.change()
            for index in devices.indices {
                try await devices[index].sync()
                try await stack.expectEqual(devices[index])
            }
        }
    }

    @Test func `a cached answer from before a reset is not gone on with`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: Self.manyTasks)
            var device = try await stack.quietDevices()[0]
            try await Self.changeAll(stack, "changed")
            try await device.pullLosingAnswer()
            // Another device of the same session is the one that meets the reset.
            try await stack.backend.setPendingReset(true, token: device.token)
            _ = try PulledChanges(await stack.sendPull(token: device.token))
            let (answer, _) = try await device.pull()
            let figures = try await stack.figures(of: answer)
            #expect(figures["restart"] == "older_generation" && figures["lines_kept"] == nil)
            try await stack.expectEqual(device)
        }
    }

    @Test(arguments: ["backend:GET /users/me id", "bearer"])
    func `nothing that is kept is shown to a credential that the backend no longer accepts`(
        _ principal: String
    ) async throws {
        let options = StackOptions(["identity.principal": principal, "identity.auth_ttl": "0s"])
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: Self.manyTasks)
            let device = try await stack.quietDevices()[0]
            try await Self.changeAll(stack, "changed")
            try await device.pullLosingAnswer()
            for method in ["GET", "POST"] {
                stack.backend.inject(DemoFault(method, times: 2, action: .status(401)))
                let refused = try await device.pullLosingAnswer()
                #expect(refused.outcome == "401 backend.credential" && !refused.text.contains("changed"))
                stack.backend.clearFaults()
            }
        }
    }

    @Test func `a repeated pull that fails leaves what had come to the next one`() async throws {
        try await GatewayStack.with(StackOptions(["backend.resume_attempts": "0"])) { stack in
            try await stack.seed(tasks: Self.manyTasks)
            var device = try await stack.device()
            try await device.pullLosingAnswer()
            stack.backend.inject(DemoFault("POST", times: 1, action: .status(500)))
            #expect(try await device.pullLosingAnswer().status == 502)
            stack.backend.clearFaults()
            let (answer, _) = try await device.pull()
            #expect(try await stack.figures(of: answer)["lines_kept"] != nil)
            try await stack.expectEqual(device)
        }
    }

    @Test func `an idle pull gives the cursor back and writes nothing`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            let first = try PulledChanges(await stack.sendPull())
            // Confirms the cursor; from then on there is nothing to note.
            #expect(try PulledChanges(await stack.sendPull(first.cursor)).cursor == first.cursor)
            let before = try StateDump(path: stack.statePath, kinds: StateDump.allKinds)
            for _ in 0..<3 {
                let idle = try PulledChanges(await stack.sendPull(first.cursor))
                #expect(idle.isEmpty && idle.cursor == first.cursor)
            }
            #expect(try StateDump(path: stack.statePath, kinds: StateDump.allKinds) == before)
        }
    }
}
