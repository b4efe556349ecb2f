// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncMachines
import SyncModel
import Testing

/// Resets, comparisons of everything, and what the simulation has found out about them.
@Suite struct LedgerScheduleTests {
    private func quiesced(_ change: (inout WorldSetup) -> Void = { _ in }) async throws -> World {
        let world = try FindingScheduleTests.world {
            $0.devices = 1
            change(&$0)
        }
        for _ in 0..<2 { _ = try await world.sync(0) }
        return world
    }

    /// The world agrees in the end, whatever was wrong on the way.
    private func expectRest(_ world: World) async throws {
        let complaint = try await world.quiesce()
        #expect(complaint == nil)
    }

    /// Syncs until every request type was compared.
    private func comparison(_ world: World) async throws {
        try await world.perform(.days(8))
        for _ in 0..<8 {
            world.pass(7_200_000)
            _ = try await world.sync(0)
        }
    }

    @Test func `a reset sends nothing but what differs`() async throws {
        let world = try await quiesced()
        for number in 0..<300 { world.users.putTask("n\(number)", number) }
        _ = try await world.sync(0)
        for number in [3, 77, 210] { world.users.removeTask("n\(number)") }
        world.users.putTask("n5", 1_000)
        try await world.perform(.mishap(.reset, 5, 0))
        let lost = Set(["tasks/n3", "tasks/n77", "tasks/n210"])
        let pull = try await world.sync(0)
        #expect(pull.restart == .reset)
        // One more task was lost with the dump that was restored.
        #expect(lost.isSubset(of: pull.ids.deleted) && pull.ids.deleted.count == 4)
        #expect(pull.ids.updated == ["tasks/n5"] && pull.ids.created.isEmpty)
    }

    @Test func `a late commit is delivered by the full comparison, alone`() async throws {
        let world = try await quiesced()
        try await world.perform(.mishap(.beginLate, 0, 44))
        world.users.putTask("t1", 2)
        _ = try await world.sync(0)
        try await world.perform(.mishap(.arriveLate, 0, 0))
        _ = try await world.sync(0)
        #expect(world.users.value(.tasks, "t0", on: 0) == 1 && world.users.value(.comments, "c0", on: 0) == 1)
        let before = world.users.devices[0].shown
        try await comparison(world)
        let changed = world.users.devices[0].shown.filter { before[$0.key] != $0.value }
        #expect(changed.count == 1 && changed.values.first?.value == 44)
        #expect(world.counts["log: ledger.missed_changes"] == 1)
    }

    @Test func `a lost tombstone is repaired by the full comparison, with all that should have gone`() async throws {
        let world = try await quiesced()
        world.users.removeTask("t0")
        try await world.perform(.mishap(.loseTombstone, 0, 0))
        _ = try await world.sync(0)
        #expect(world.users.task("t0", on: 0) == 1)
        try await comparison(world)
        #expect(world.users.task("t0", on: 0) == nil && world.users.value(.comments, "c0", on: 0) == nil)
    }

    @Test func `a full comparison does not take old tombstones for news`() async throws {
        let world = try await quiesced()
        world.users.revoke("p0")
        world.users.grant("p0")
        _ = try await world.sync(0)
        world.users.write(.tasks, "t0", value: 9, on: 0)
        try await comparison(world)
        // The project's old deletion came again, its tasks did not: they were compared with another type.
        #expect(world.users.task("t0", on: 0) == 9 && world.users.value(.comments, "c0", on: 0) == 1)
        #expect(world.complaints.isEmpty)
    }

    @Test func `what a device has deleted another one still has, should the line be lost`() async throws {
        let world = try FindingScheduleTests.world()
        for device in [0, 1, 0, 1] { _ = try await world.sync(device) }
        world.users.delete(.tasks, "t0", on: 0)
        try await world.push(0)
        try await world.perform(.mishap(.loseTombstone, 0, 0))
        try await expectRest(world)
        #expect(world.users.task("t0", on: 1) == nil)
    }

    /// Pulls through a stream that breaks after some of its lines, while a task goes.
    private func cutPull(of world: World, after lines: Int) async throws {
        let pull = world.beginPull(0)
        await world.run(pull, until: .open)
        for _ in 0..<lines { await world.run(pull, until: .line) }
        world.users.removeTask("t0")
        try await world.perform(.cut(pull: 0))
        await world.run(pull)
    }

    @Test func `whether a row stays whose parent went while the stream was broken is found out by a comparison`()
        async throws
    {
        let world = try FindingScheduleTests.world { $0.devices = 1 }
        try await cutPull(of: world, after: 18)
        #expect(world.users.task("t0", on: 0) == nil && world.users.value(.comments, "c0", on: 0) == 1)
        #expect(world.counts["log: ledger.sweep_suspended"] == 1)
        world.pass(7_200_000)
        _ = try await world.sync(0)
        #expect(world.users.value(.comments, "c0", on: 0) == nil)
        try await expectRest(world)
    }

    @Test func `an unreadable row stays until it is compared if its parent went while the stream broke`() async throws {
        let world = try FindingScheduleTests.world { ($0.devices, $0.keepsAnswers) = (1, false) }
        _ = try await world.sync(0)
        world.users.damage(.comments, "c0")
        try await cutPull(of: world, after: 12)
        #expect(world.users.task("t0", on: 0) == nil && world.users.value(.comments, "c0", on: 0) == 1)
        world.pass(7_200_000)
        _ = try await world.sync(0)
        #expect(world.users.value(.comments, "c0", on: 0) == nil)
        try await expectRest(world)
    }

    @Test func `what hung on a row that went and came again after a lost answer is found out by a comparison`()
        async throws
    {
        let world = try FindingScheduleTests.world { $0.devices = 1 }
        let pull = world.beginPull(0)
        world.abandon(pull)
        await world.run(pull)
        world.users.removeTask("t0")
        world.users.putTask("t0", 2)
        _ = try await world.sync(0)
        #expect(world.counts["went on from a lost answer"] == 1)
        #expect(world.users.task("t0", on: 0) == 2 && world.users.value(.comments, "c0", on: 0) == 1)
        world.pass(7_200_000)
        _ = try await world.sync(0)
        #expect(world.users.value(.comments, "c0", on: 0) == nil)
        try await expectRest(world)
    }

    @Test func `an unreadable row goes with a parent that went in a later part of the stream`() async throws {
        let world = try FindingScheduleTests.world { $0.devices = 1 }
        _ = try await world.sync(0)
        world.users.damage(.tasks, "t0")
        let pull = world.beginPull(0)
        world.abandon(pull)
        await world.run(pull)
        world.users.revoke("p0")
        _ = try await world.sync(0)
        #expect(world.counts["went on from a lost answer"] == 1)
        #expect(world.users.task("t0", on: 0) == nil && world.users.value(.comments, "c0", on: 0) == nil)
        try await expectRest(world)
    }

    @Test func `a file with an unreadable line and a deletion behind it goes once it is compared`() async throws {
        let world = try FindingScheduleTests.world { $0.devices = 1 }
        _ = try await world.sync(0)
        world.users.damage(.files, "f0")
        try await world.perform(.write(.moveFile, 0, 0))
        let pull = world.beginPull(0)
        world.abandon(pull)
        await world.run(pull)
        world.users.remove(.files, "f0")
        _ = try await world.sync(0)
        #expect(world.counts["went on from a lost answer"] == 1)
        // One request type is compared after the other.
        for _ in 0..<2 {
            world.pass(7_200_000)
            _ = try await world.sync(0)
        }
        #expect(world.users.value(.files, "f0", on: 0) == nil)
        try await expectRest(world)
    }

    @Test func `a file that has moved and cannot be read stays, however often it is compared`() async throws {
        let world = try FindingScheduleTests.world { ($0.devices, $0.keepsAnswers) = (1, false) }
        _ = try await world.sync(0)
        try await world.perform(.write(.moveFile, 0, 0))
        try await world.perform(.mishap(.reset, 1, 0))
        world.users.damage(.files, "f0")
        _ = try await world.sync(0)
        for _ in 0..<3 {
            try await world.perform(.days(8))
            // One request type is compared after the other.
            for _ in 0..<3 { _ = try await world.sync(0) }
        }
        #expect(world.users.value(.files, "f0", on: 0) == 1)
        try await expectRest(world)
    }

    @Test func `a backend that was restored empty empties no device until the operator says so`() async throws {
        let world = try await quiesced()
        for number in 0..<9 { world.users.putTask("n\(number)", number) }
        _ = try await world.sync(0)
        try await world.perform(.mishap(.vanish, 0, 0))
        for _ in 0..<3 {
            _ = try await world.sync(0)
            world.pass(7_200_000)
        }
        #expect(world.users.task("n4", on: 0) == 4)
        #expect(world.counts["log: ledger.sweep_blocked", default: 0] > 0)
        try await world.perform(.accept(0))
        for _ in 0..<9 {
            _ = try await world.sync(0)
            world.pass(7_200_000)
        }
        #expect(world.users.task("n4", on: 0) == nil)
        try await world.perform(.mishap(.vanish, 0, 0))
        try await expectRest(world)
    }

    @Test func `a comparison that finds no place is made up for, and the pull goes on`() async throws {
        let world = try await quiesced {
            $0.devices = 2
            $0.hasOwnSessions = true
        }
        for _ in 0..<2 { try await world.sync(1) }
        try await world.perform(.days(8))
        // There is one place, and the other device's pull has it.
        let other = world.beginPull(1)
        for _ in 0..<2 { await world.run(other, until: .open) }
        world.users.putTask("t0", 3)
        #expect(try await world.sync(0).comparison == nil)
        #expect(!other.isOver && world.users.task("t0", on: 0) == 3)
        await world.run(other)
        #expect(other.comparison != nil)
        #expect(try await world.sync(0).comparison != nil)
    }

    @Test func `another mapping makes every comparison due`() async throws {
        let world = try await quiesced()
        try await world.perform(.reconfigure)
        for _ in 0..<8 { _ = try await world.sync(0) }
        #expect(world.counts["comparison"] == 6)
        try await expectRest(world)
    }

    @Test func `a gateway that dies at any moment of a pull that compacts leaves a right ledger`() async throws {
        var deaths = 0
        for moments in 1..<200 {
            let world = try await quiesced()
            try await world.perform(.backup(device: 0))
            for round in 0..<3 {
                world.pass(10)
                for number in 0..<12 { world.users.putTask("n\(number)", round, in: "p\(round % 2)") }
                if round == 2 { world.users.removeTask("t0") }
                await world.run(world.beginPull(0))
            }
            world.users.putTask("t9", 1)
            let pull = world.beginPull(0)
            await world.run(pull, moments: moments)
            let isOver = pull.isOver
            if !isOver { deaths += 1 }
            try world.crash()
            if moments % 2 == 0 { try await world.perform(.restore(device: 0)) }
            try await expectRest(world)
            if isOver { break }
        }
        #expect(deaths > 10 && deaths < 199, "\(deaths)")
    }
}
