// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import StateStore
import SyncModel
import Testing

/// A 409 schedules a redelivery: the next pull brings what it has named, and no device stays in 409 for ever.
@Suite(.timeLimit(.minutes(5))) struct ConflictRedeliveryTests {
    private static func expectConflict(
        _ device: inout StackDevice, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        do {
            try await device.push()
            Issue.record("the push was answered with success", sourceLocation: location)
        } catch StackDevice.Failure.push(let answer) {
            #expect(answer.outcome == "409 push.conflict", sourceLocation: location)
        }
    }

    private static func redeliveries(_ stack: GatewayStack, _ device: StackDevice) async throws -> [PendingRedelivery] {
        let replica = try #require(try await stack.store.inspection.replicas(of: nil, after: nil, limit: 9).first)
        let cursor = try #require(device.model.lastPulledAt.flatMap { Cursor(rawValue: Int64($0)) })
        return try await stack.store.read(replica.principal) {
            try RedeliveryRules.pending(for: replica.id, at: cursor, limit: 9, of: &$0)
        }
    }

    @Test func `what the backend has refused comes once more, even if it is as the device has it`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 3)
            var device = try await stack.quietDevices()[0]
            let old = try #require(try await stack.records("tasks")["t-1"]?["name"]?.string)
            try device.model.update("tasks", "t-1", with: ["note": "mine"])
            for name in ["theirs", old] {
                try await stack.backend.edit(.put("tasks", ["id": "t-1", "name": .string(name)]))
            }
            try await Self.expectConflict(&device)
            #expect(try await Self.redeliveries(stack, device) == [PendingRedelivery(table: "tasks", id: "t-1")])
            // The first answer is lost; the pending redelivery stays.
            _ = try await device.pullLosingAnswer()
            try await device.expectPull(["updated tasks#t-1"])
            #expect(try await Self.redeliveries(stack, device).isEmpty)
            try await device.push()
            #expect(!device.model.hasUnsyncedChanges)
            for _ in 0..<2 { try await device.sync() }
            try await stack.expectEqual(device)
        }
    }

    @Test func `what the stream does not bring is compared as a whole`() async throws {
        let clock = ManualClock()
        var options = try StackOptions.pushingByCalls()
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 3)
            var device = try await stack.quietDevices()[0]
            clock.advance(byMilliseconds: 2 * 3_600_000)
            try device.model.update("tasks", "t-1", with: ["note": "mine"])
            stack.backend.inject(DemoFault("PATCH", "/tasks/t-1", times: 1, action: .status(409)))
            try await Self.expectConflict(&device)
            // Nothing has changed at the backend.
            try await device.expectPull([])
            let (answer, _) = try await device.pull()
            #expect(try PulledChanges(answer).brief == ["updated tasks#t-1"])
            #expect(try await stack.figures(of: answer)["sweep"] == "TasksV2")
            #expect(try await Self.redeliveries(stack, device).isEmpty)
            try await device.push()
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test func `a push that passes ends the count`() async throws {
        try await GatewayStack.with(try .pushingByCalls(["push.conflicts": "stream"])) { stack in
            try await stack.seed(tasks: 3)
            var device = try await stack.quietDevices()[0]
            for round in 1...3 {
                try device.model.update("tasks", "t-1", with: ["note": .string("mine \(round)")])
                try await stack.backend.edit(.put("tasks", ["id": "t-1", "name": .string("theirs \(round)")]))
                try await Self.expectConflict(&device)
                #expect(try await Self.redeliveries(stack, device).map(\.count) == [1])
                try await device.sync()
            }
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    /// Devices that edit, push and pull in any order, some of their answers lost, while others edit the same records.
    private static func play(_ stack: GatewayStack, seed: UInt64) async throws -> Int {
        try await stack.seed(tasks: 4)
        var devices = try await stack.quietDevices(["device-a", "device-b", "device-a"])
        var random = SeededGenerator(seed: seed)
        var conflicts = 0
        func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
        func attempt(_ body: () async throws -> Void) async throws {
            do {
                try await body()
            } catch StackDevice.Failure.push(let answer) {
                conflicts += 1
                #expect(["409 push.conflict", "409 push.outdated"].contains(answer.outcome), "\(answer)")
            }
        }
        for step in 0..<60 {
            let (place, task, text) = (pick(devices.count), "t-\(pick(3))", "\(step)")
            switch pick(10) {
            case 0, 1:
                try await stack.backend.edit(.put("tasks", ["id": .string(task), "name": .string(text)]))
            case 2:
                try await stack.backend.edit(
                    pick(2) == 0
                        ? .put("tags", ["id": "tag", "label": .string(text)]) : .delete("tags", "tag"))
            case 3, 4: try? devices[place].model.update("tasks", task, with: ["note": .string(text)])
            case 5:
                if (try? devices[place].model.update("tags", "tag", with: ["label": .string(text)])) == nil {
                    _ = try? devices[place].model.create("tags", id: "tag", ["label": .string(text)])
                }
            case 6: try? devices[place].model.delete("tags", "tag")
            case 7: _ = try await devices[place].pullLosingAnswer()
            case 8: try await attempt { try await devices[place].push() }
            default: try await attempt { try await devices[place].sync() }
            }
        }
        // From here on it is quiet. A push that was late makes the others' next one late, so each may need a turn more.
        for _ in 0..<2 {
            for place in devices.indices { try await attempt { try await devices[place].sync() } }
        }
        for _ in 0..<2 { for place in devices.indices { try await devices[place].sync() } }
        for device in devices {
            #expect(!device.model.hasUnsyncedChanges)
            try await stack.expectEqual(device)
        }
        return conflicts
    }

    @Test(arguments: ["stream", "backend"])
    func `22: no schedule leaves a device in 409 for ever`(conflicts: String) async throws {
        var total = 0
        for seed in 1...6 as ClosedRange<UInt64> {
            total += try await GatewayStack.with(StackOptions(["push.conflicts": conflicts])) { stack in
                try await Self.play(stack, seed: seed)
            }
        }
        #expect(total > 0)
    }
}
