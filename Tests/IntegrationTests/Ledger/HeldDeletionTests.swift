// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import StateStore
import SyncModel
import Testing

/// A backend that was restored empty does not empty the phones, unless the operator says so.
@Suite(.timeLimit(.minutes(5))) struct HeldDeletionTests {
    /// Ada's records, all of tables with more than a hundred.
    private static func quiesced(
        _ stack: GatewayStack, tasks: Int = 300, tags: Int = 0
    ) async throws -> StackDevice {
        var seed = DemoSeed()
        (seed.projects, seed.tasks, seed.comments, seed.tags, seed.taskTags) = (240, tasks, 0, tags, 0)
        try await stack.backend.seed(seed)
        return try await stack.quietDevices()[0]
    }

    /// Everything is gone, and the backend asks for a reset.
    private static func empty(_ stack: GatewayStack) async throws {
        try await stack.backend.wipe()
        try await stack.demandReset()
    }

    @Test func `nothing is deleted until the operator accepts it`() async throws {
        let clock = ManualClock()
        var options = StackOptions()
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            var device = try await Self.quiesced(stack)
            let before = device.model.contents
            try await Self.empty(stack)
            let (answer, _) = try await device.pull()
            #expect(try PulledChanges(answer).brief == [])
            #expect(device.model.contents == before)
            let line = try #require(stack.logged("ledger.sweep_blocked").first)
            #expect("\(line.level)" == "error" && line.metadata["types"] == "ProjectsV2 TasksV2")
            #expect(line.metadata["hint"]?.contains("rind replicas accept") == true)

            let replica = try #require(try await stack.store.inspection.replicas(of: nil, after: nil, limit: 10).first)
            #expect(line.metadata["replica"] == replica.id.description)
            #expect(replica.blocked.sorted() == ["ProjectsV2", "TasksV2"])
            // New records come all the same, and the comparison is tried again after an hour, with the same result.
            try await stack.backend.edit(.put("projects", ["id": "new"]), .put("tags", ["id": "new"]))
            try await device.expectPull(["created projects#new", "created tags#new"])
            clock.advance(byMilliseconds: 3_600_000)
            for _ in 0..<5 { try await device.expectPull([]) }
            #expect(stack.logged("ledger.sweep_blocked").count == 3)

            try await stack.store.change(replica.principal) {
                try ReplicaRules.acceptDeletions(of: replica.id, at: clock.now, in: &$0)
            }
            for _ in 0..<3 { _ = try await device.pulled() }
            #expect(device.ids("tasks") == [] && device.ids("projects") == ["new"])
            try await stack.expectEqual(device)
            let after = try #require(try await stack.store.inspection.replicas(of: nil, after: nil, limit: 10).first)
            #expect(after.blocked == [])
        }
    }

    @Test func `leave covers all tables that were held back, and ends with them`() async throws {
        try await GatewayStack.with { stack in
            // Tasks and tags have nothing to do with each other.
            var device = try await Self.quiesced(stack, tags: 150)
            try await Self.empty(stack)
            try await device.expectPull([])
            let replica = try #require(try await stack.store.inspection.replicas(of: nil, after: nil, limit: 10).first)
            #expect(replica.blocked.sorted() == ["ProjectsV2", "TagsV1", "TasksV2"])
            let heldBackAt = try #require(replica.comparisons.values.map(\.blockedAt).max())
            try await stack.store.change(replica.principal) {
                try ReplicaRules.acceptDeletions(of: replica.id, at: heldBackAt, in: &$0)
            }
            for _ in 0..<4 { _ = try await device.pulled() }
            try await stack.expectEqual(device)
            #expect(stack.log.lines(containing: "have gone out").count == 2)
            #expect(stack.logged("ledger.sweep_blocked").count == 1)

            var seed = DemoSeed()
            (seed.projects, seed.tasks, seed.comments, seed.tags, seed.taskTags) = (240, 300, 0, 0, 0)
            try await stack.backend.seed(seed)
            _ = try await device.pulled()
            try await Self.empty(stack)
            try await device.expectPull([])
            #expect(stack.logged("ledger.sweep_blocked").count == 2)
        }
    }

    @Test func `a backend that is repaired finds everything in its place`() async throws {
        try await GatewayStack.with { stack in
            try await Self.empty(stack)
            var device = try await Self.quiesced(stack)
            try device.model.update("tasks", "t-0", with: ["note": "mine"])
            let records = try await stack.backend.records()
            try await Self.empty(stack)
            try await device.expectPull([])
            try await stack.backend.edit(
                ["projects", "tasks"].flatMap { table in
                    records[table, default: [:]].values.compactMap { $0.object.map { .put(table, $0) } }
                })
            try await stack.demandReset()
            let brief = try await device.pulled()
            #expect(brief.allSatisfy { !$0.hasPrefix("deleted") && !$0.hasPrefix("created") })
            #expect(device.model.record("tasks", "t-0")?.status == .updated)
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test func `the descendants of what is missing are held back as well`() async throws {
        let clock = ManualClock()
        var options = StackOptions(["ledger.resweep_every": "10m"])
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            // Few projects, so that these are never held back, and many tasks on them.
            try await stack.seed(tasks: 300)
            var device = try await stack.quietDevices()[0]
            // Restored empty, but without asking for a reset: only comparing can tell.
            let checkpoints = try await stack.backend.checkpoints(token: "device-a")
            try await stack.backend.wipe()
            #expect(!checkpoints.isEmpty)
            clock.advance(byMilliseconds: 600_000)
            for _ in 0..<6 { _ = try await device.pulled() }
            #expect(device.ids("tasks").count == 300)
            #expect(stack.logged("ledger.sweep_blocked").contains { $0.metadata["types"] == "TasksV2" })
        }
    }
}
