// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncEngine
import SyncModel
import Testing

/// Request types that the backend gives up for a while, and what that means for clients that get a new version.
@Suite struct RefusedTypeTests {
    typealias Manners = SimulatedDevice.Manners

    private func quiesced(_ manners: [Manners]) async throws -> Simulation {
        try await SchemaFindingTests.quiesced(manners)
    }

    private func expectRest(_ world: Simulation) async throws { try await SchemaFindingTests.expectRest(world) }

    @Test(arguments: [true, false])
    func `tables whose request type is given up get nothing, and all the others what is new`(
        _ namesThem: Bool
    ) async throws {
        let world = try await quiesced([.version])
        world.retire(["ProjectsV1"], namingThem: namesThem)
        world.putTask("t0", 2)
        world.put(.projects, "p0", 7)
        for _ in 0..<3 {
            world.now += 10
            let pull = try await world.sync(0)
            // What is taken still goes on from where it was.
            #expect(pull.plan?.row?.vector["TaskV1"] != nil || pull.plan?.content == .nothing)
            #expect(!pull.ids(\.updated).contains("comments/c0"))
        }
        #expect(world.task("t0", on: 0) == 2 && world.value(.projects, "p0", on: 0) == 1)
        #expect(world.value(.projects, "p1", on: 0) == 1)
        world.retire([])
        let pull = try await world.sync(0)
        #expect(pull.ids(\.updated) == ["projects/p0"] && pull.ids(\.deleted).isEmpty)
        try await expectRest(world)
    }

    @Test(arguments: [true, false])
    func `what is taken goes on from its checkpoints although other types are refused`(
        _ namesThem: Bool
    ) async throws {
        let world = try await quiesced([.version])
        world.retire(["ProjectsV1"], namingThem: namesThem)
        let pull = world.beginPull(0)
        var last = CheckpointVector()
        try await world.run(pull) { action in
            if case .stream(.open(_, let from, _)) = action { last = from }
            return false
        }
        #expect(last["TaskV1"] != nil && last["CommentV1"] != nil && last["ProjectV1"] == nil)
        world.retire([])
        try await expectRest(world)
    }

    @Test func `a reset while a request type is refused deletes nothing of its table`() async throws {
        let world = try await quiesced([.version])
        world.retire(["FilesV1"])
        try await world.perform(.mishap(.reset, 1, 0))
        let pull = try await world.sync(0)
        #expect(pull.plan?.restart == .reset)
        #expect(world.value(.files, "f0", on: 0) == 1)
        world.retire([])
        try await expectRest(world)
    }

    @Test func `an old deletion is no news once its request type is taken again`() async throws {
        let world = try await quiesced([.version])
        world.revoke("p0")
        world.grant("p0")
        _ = try await world.sync(0)
        world.retire(["ProjectsV1"])
        world.write(.tasks, "t0", 9, on: 0)
        _ = try await world.sync(0)
        world.retire([])
        let pull = try await world.sync(0)
        #expect(pull.ids(\.deleted).isEmpty)
        #expect(world.task("t0", on: 0) == 9)
        try await expectRest(world)
    }

    @Test func `an old deletion is no news in a table that comes for the first time`() async throws {
        let world = FindingScheduleTests.world { $0.devices = 1 }
        world.revoke("p0")
        world.grant("p0")
        world.retire(["ProjectsV1"])
        for _ in 0..<2 { _ = try await world.sync(0) }
        #expect(world.task("t0", on: 0) == 1 && world.value(.projects, "p0", on: 0) == nil)
        world.retire([])
        let pull = try await world.sync(0)
        #expect(pull.ids(\.deleted).isEmpty && world.value(.projects, "p0", on: 0) == 1)
        // Whether all of its tasks were still there is found out by a comparison.
        world.now += 10
        let next = try await world.sync(0)
        #expect(next.plan?.row?.comparisons["TasksV1"]?.doneAt ?? 0 > 0)
        try await expectRest(world)
    }

    @Test func `a record whose table is refused does not go with the parent that it has left`() async throws {
        let world = try await quiesced([.version])
        world.retire(["TasksV1"])
        world.write(.tasks, "t0", 9, on: 0)
        world.putTask("t0", 2, in: "p1")
        world.remove(.projects, "p0")
        let pull = world.beginPull(0)
        try await world.run(pull)
        #expect(pull.ids(\.deleted) == ["projects/p0"])
        world.retire([])
        try await world.run(world.beginPull(0))
        #expect(world.task("t0", on: 0) == 9)
        try await expectRest(world)
    }

    @Test func `a file that has gone to a refused source stays, and goes later if it has not`() async throws {
        let world = try await quiesced([.version])
        world.retire(["PartnerFilesV1"])
        world.put(.files, "f2", 1, in: "o0")
        _ = try await world.sync(0)
        try await world.perform(.write(.moveFile, 0, 0))
        world.remove(.files, "f2")
        for _ in 0..<2 { #expect(try await world.sync(0).ids(\.deleted).isEmpty) }
        #expect(world.value(.files, "f0", on: 0) == 1 && world.value(.files, "f2", on: 0) == 1)
        world.retire([])
        for _ in 0..<2 {
            _ = try await world.sync(0)
            world.now += 90_000_000
        }
        _ = try await world.sync(0)
        #expect(world.value(.files, "f0", on: 0) == 1 && world.value(.files, "f2", on: 0) == nil)
        try await expectRest(world)
    }

    @Test func `a restored device loses later what a refused type could not tell it`() async throws {
        let world = try await quiesced([.version])
        try await world.perform(.backup(device: 0))
        world.remove(.notes, "n0")
        world.remove(.projects, "p1")
        for round in 0..<5 {
            world.now += 10
            world.putTask("t1", round)
            _ = try await world.sync(0)
        }
        world.retire(["ProjectsV1"])
        try await world.perform(.days(8))
        try await world.perform(.restore(device: 0))
        #expect(try await world.sync(0).plan?.restart == .olderThanLedger)
        world.retire([])
        try await expectRest(world)
    }

    @Test(arguments: Manners.allCases, ["TasksV1", "NotesV1"])
    func `what an update brings comes once its request type is taken again`(
        _ manners: Manners, _ type: String
    ) async throws {
        let world = try await quiesced([manners])
        try await world.perform(.updateApp(device: 0))
        world.retire([type])
        // Who does not tell its version shows it.
        world.write(.tasks, "mine", 1, in: "p0", on: 0)
        for _ in 0..<3 {
            world.now += 10
            _ = try await world.sync(0)
        }
        #expect(world.mark("t0", on: 0) == (type == "TasksV1" ? 0 : 5))
        #expect(world.value(.notes, "n0", on: 0) == (type == "NotesV1" ? nil : 1))
        world.retire([])
        _ = try await world.sync(0)
        #expect(world.mark("t0", on: 0) == 5 && world.value(.notes, "n0", on: 0) == 1)
        try await expectRest(world)
    }
}
