// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncMachines
import SyncModel
import Testing

/// Request types that the backend gives up for a while, and what that means for clients that get a new version.
@Suite struct RefusedTypeTests {
    typealias Manners = SimulatedDevice.Manners

    private func quiesced(_ manners: [Manners]) async throws -> World {
        try await SchemaFindingTests.quiesced(manners)
    }

    private func expectRest(_ world: World) async throws { try await SchemaFindingTests.expectRest(world) }

    @Test(arguments: [true, false])
    func `tables whose request type is given up get nothing, and all the others what is new`(
        _ namesThem: Bool
    ) async throws {
        let world = try await quiesced([.version])
        world.users.retire(["ProjectsV1"], namingThem: namesThem)
        world.users.putTask("t0", 2)
        world.users.put(.projects, "p0", value: 7)
        for _ in 0..<3 {
            world.pass(10)
            let pull = try await world.sync(0)
            // What is taken still goes on from where it was.
            #expect(try await world.row(of: pull)?.vector["TaskV1"] != nil)
            #expect(!pull.ids.updated.contains("comments/c0"))
        }
        #expect(world.users.task("t0", on: 0) == 2 && world.users.value(.projects, "p0", on: 0) == 1)
        #expect(world.users.value(.projects, "p1", on: 0) == 1)
        world.users.retire([])
        let pull = try await world.sync(0)
        #expect(pull.ids.updated == ["projects/p0"] && pull.ids.deleted.isEmpty)
        try await expectRest(world)
    }

    @Test func `a parent that came first with a push takes nothing along by a deletion from before`() async throws {
        let world = try FindingScheduleTests.world {
            $0.devices = 2; $0.hasOwnSessions = true
        }
        _ = try await world.sync(0)
        world.users.revoke("p0")
        world.users.retire(["ProjectsV1"])
        world.users.write(.projects, "p0", value: 9, on: 0)
        world.users.grant("p0")
        _ = try await world.sync(1)
        #expect(world.users.task("t0", on: 1) == 1 && world.users.value(.projects, "p0", on: 1) == nil)
        world.users.retire([])
        _ = try await world.sync(0)
        let pull = try await world.sync(1)
        #expect(!pull.ids.deleted.contains("tasks/t0") && world.users.value(.projects, "p0", on: 1) == 9)
        try await expectRest(world)
    }

    @Test func `a record that was kept because one of its types is refused is compared again`() async throws {
        let world = try FindingScheduleTests.world { $0.devices = 1 }
        world.users.retire(["PartnerFilesV1"])
        _ = try await world.sync(0)
        try await world.perform(.write(.deleteFile, 0, 0))
        try await world.perform(.mishap(.vanish, 0, 0))
        try await world.perform(.mishap(.vanish, 0, 0))
        _ = try await world.sync(0)
        #expect(world.users.value(.files, "f0", on: 0) == 1)
        world.users.retire([])
        for _ in 0..<4 {
            world.pass(7_200_000)
            _ = try await world.sync(0)
        }
        #expect(world.users.value(.files, "f0", on: 0) == nil)
        try await expectRest(world)
    }

    @Test(arguments: [true, false])
    func `what is taken goes on from its checkpoints although other types are refused`(
        _ namesThem: Bool
    ) async throws {
        let world = try await quiesced([.version])
        world.users.retire(["ProjectsV1"], namingThem: namesThem)
        let pull = world.beginPull(0)
        var held: [Bool] = []
        while !pull.isOver {
            held = ["TaskV1", "CommentV1", "ProjectV1"].map {
                world.users.backend.checkpoint($0, session: "s") != nil
            }
            await world.run(pull, until: .open)
        }
        // What the backend had when the last stream was opened.
        #expect(held == [true, true, false])
        world.users.retire([])
        try await expectRest(world)
    }

    @Test func `a reset while a request type is refused deletes nothing of its table`() async throws {
        let world = try await quiesced([.version])
        world.users.retire(["FilesV1"])
        try await world.perform(.mishap(.reset, 1, 0))
        let pull = try await world.sync(0)
        #expect(pull.restart == .reset)
        #expect(world.users.value(.files, "f0", on: 0) == 1)
        world.users.retire([])
        try await expectRest(world)
    }

    @Test func `an old deletion is no news once its request type is taken again`() async throws {
        let world = try await quiesced([.version])
        world.users.revoke("p0")
        world.users.grant("p0")
        _ = try await world.sync(0)
        world.users.retire(["ProjectsV1"])
        world.users.write(.tasks, "t0", value: 9, on: 0)
        _ = try await world.sync(0)
        world.users.retire([])
        let pull = try await world.sync(0)
        #expect(pull.ids.deleted.isEmpty)
        #expect(world.users.task("t0", on: 0) == 9)
        try await expectRest(world)
    }

    @Test func `an old deletion is no news in a table that comes for the first time`() async throws {
        let world = try FindingScheduleTests.world { $0.devices = 1 }
        world.users.revoke("p0")
        world.users.grant("p0")
        world.users.retire(["ProjectsV1"])
        for _ in 0..<2 { _ = try await world.sync(0) }
        #expect(world.users.task("t0", on: 0) == 1 && world.users.value(.projects, "p0", on: 0) == nil)
        world.users.retire([])
        let pull = try await world.sync(0)
        #expect(pull.ids.deleted.isEmpty && world.users.value(.projects, "p0", on: 0) == 1)
        // Whether all of its tasks were still there is found out by a comparison.
        world.pass(10)
        let next = try await world.sync(0)
        #expect(try await world.row(of: next)?.comparisons["TasksV1"]?.doneAt ?? 0 > 0)
        try await expectRest(world)
    }

    @Test func `a record whose table is refused does not go with the parent that it has left`() async throws {
        let world = try await quiesced([.version])
        world.users.retire(["TasksV1"])
        world.users.write(.tasks, "t0", value: 9, on: 0)
        world.users.putTask("t0", 2, in: "p1")
        world.users.remove(.projects, "p0")
        let pull = world.beginPull(0)
        await world.run(pull)
        #expect(pull.ids.deleted == ["projects/p0"])
        world.users.retire([])
        await world.run(world.beginPull(0))
        #expect(world.users.task("t0", on: 0) == 9)
        try await expectRest(world)
    }

    @Test(arguments: [false, true])
    func `a deletion that comes late does not take along what was made since, nor behind an update of the app`(
        _ isUpdated: Bool
    ) async throws {
        let world = try await quiesced([isUpdated ? .later : .version])
        world.users.retire(["TasksV1"])
        world.users.removeTask("t0")
        world.users.write(.tasks, "t0", value: 9, on: 0)
        world.users.write(.comments, "new", value: 3, in: "t0", on: 0)
        if isUpdated {
            try await world.push(0)
            try await world.perform(.updateApp(device: 0))
        }
        for _ in 0..<2 { _ = try await world.sync(0) }
        world.users.retire([])
        let pull = try await world.sync(0)
        #expect(pull.ids.updated.contains("tasks/t0") && pull.ids.deleted.isEmpty)
        #expect(world.users.value(.comments, "new", on: 0) == 3)
        try await expectRest(world)
        #expect(world.users.value(.comments, "c0", on: 0) == nil)
    }

    @Test func `a file that has gone to a refused feed stays, and goes later if it has not`() async throws {
        let world = try await quiesced([.version])
        world.users.retire(["PartnerFilesV1"])
        world.users.put(.files, "f2", value: 1, in: "o0")
        _ = try await world.sync(0)
        try await world.perform(.write(.moveFile, 0, 0))
        world.users.remove(.files, "f2")
        for _ in 0..<2 { #expect(try await world.sync(0).ids.deleted.isEmpty) }
        #expect(world.users.value(.files, "f0", on: 0) == 1 && world.users.value(.files, "f2", on: 0) == 1)
        world.users.retire([])
        for _ in 0..<2 {
            _ = try await world.sync(0)
            world.pass(90_000_000)
        }
        _ = try await world.sync(0)
        #expect(world.users.value(.files, "f0", on: 0) == 1 && world.users.value(.files, "f2", on: 0) == nil)
        try await expectRest(world)
    }

    @Test func `a restored device loses later what a refused type could not tell it`() async throws {
        let world = try await quiesced([.version])
        try await world.perform(.backup(device: 0))
        world.users.remove(.notes, "n0")
        world.users.remove(.projects, "p1")
        for round in 0..<5 {
            world.pass(10)
            world.users.putTask("t1", round)
            _ = try await world.sync(0)
        }
        world.users.retire(["ProjectsV1"])
        try await world.perform(.days(8))
        try await world.perform(.restore(device: 0))
        #expect(try await world.sync(0).restart == .olderThanLedger)
        world.users.retire([])
        try await expectRest(world)
    }

    @Test(arguments: Manners.allCases, ["TasksV1", "NotesV1"])
    func `what an update brings comes once its request type is taken again`(
        _ manners: Manners, _ type: String
    ) async throws {
        let world = try await quiesced([manners])
        try await world.perform(.updateApp(device: 0))
        world.users.retire([type])
        // Who does not tell its version shows it.
        world.users.write(.tasks, "mine", value: 1, in: "p0", on: 0)
        for _ in 0..<3 {
            world.pass(10)
            _ = try await world.sync(0)
        }
        #expect(world.users.mark("t0", on: 0) == (type == "TasksV1" ? 0 : 5))
        #expect(world.users.value(.notes, "n0", on: 0) == (type == "NotesV1" ? nil : 1))
        world.users.retire([])
        _ = try await world.sync(0)
        #expect(world.users.mark("t0", on: 0) == 5 && world.users.value(.notes, "n0", on: 0) == 1)
        try await expectRest(world)
    }
}
