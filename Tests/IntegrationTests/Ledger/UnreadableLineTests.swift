// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import StateStore
import SyncModel
import Testing

/// A record whose line cannot be read has not come, and is there all the same.
@Suite(.timeLimit(.minutes(5))) struct UnreadableLineTests {
    /// The line of the third task, in a stream of everything: two projects and t-0 come before.
    private static let line = 4

    /// Nothing but the line that demands a reset is in the first stream; what is wrong is in the second.
    private static func spoil(_ stack: GatewayStack, _ malformation: DemoFault.Malformation) {
        stack.backend.inject(.stream { _ in })
        stack.backend.inject(.stream { $0.malformed[line] = malformation })
    }

    @Test func `a reset does not take a record whose line is in quarantine for gone`() async throws {
        try await GatewayStack.with(StackOptions(["pull.max_line": "64KiB"])) { stack in
            try await stack.seed(tasks: 7)
            var device = try await stack.quietDevices()[0]
            try device.model.update("tasks", "t-3", with: ["note": "mine"])
            try await stack.lose("tasks", ["t-1"])
            try await stack.demandReset()
            // The line ends in its middle, behind the id.
            Self.spoil(stack, .invalidJSON)
            try await device.expectPull(["deleted tasks#t-1"])
            #expect(device.model.record("tasks", "t-3")?.status == .updated)
            #expect(try await stack.store.inspection.quarantined(limit: 10).map(\.line.id) == ["t-3"])
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test(arguments: [DemoFault.Malformation.noID, .garbageBefore])
    func `a line that may be about any record holds deletions back until it is repaired`(
        _ malformation: DemoFault.Malformation
    ) async throws {
        let clock = ManualClock()
        var options = StackOptions()
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 7)
            var device = try await stack.quietDevices()[0]
            try await stack.lose("tasks", ["t-1"])
            try await stack.backend.edit(.put("tasks", ["id": "t-2", "name": "changed"]))
            try await stack.demandReset()
            Self.spoil(stack, malformation)
            let (answer, _) = try await device.pull()
            #expect(try PulledChanges(answer).brief == ["updated tasks#t-2"])
            #expect(try await stack.figures(of: answer)["held_back"] != nil)
            let warning = try #require(stack.logged("ledger.sweep_suspended").first)
            #expect(warning.metadata["types"]?.contains("TasksV2") == true)

            // It is tried again after an hour, not with every pull.
            try await device.expectPull([])
            clock.advance(byMilliseconds: 3_600_000)
            var brief: [String] = []
            for _ in 0..<5 { brief += try await device.pulled() }
            #expect(brief == ["deleted tasks#t-1"])
            #expect(stack.logged("ledger.sweep_suspended").count == 1)
            try await stack.expectEqual(device)
        }
    }
}
