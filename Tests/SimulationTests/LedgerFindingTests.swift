// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncMachines
import SyncModel
import Testing

/// The schedules by which a randomised model broke earlier rules of the ledger; the numbers are its findings.
@Suite struct LedgerFindingTests {
    typealias Schedules = FindingScheduleTests

    /// A device that has synced twice, so that its first cursor is confirmed.
    private func quiesced(
        _ devices: Int = 1, _ change: (inout WorldSetup) -> Void = { _ in }
    ) async throws -> World {
        let world = try Schedules.world {
            $0.devices = devices
            change(&$0)
        }
        for device in 0..<devices { _ = try await world.sync(device) }
        for device in 0..<devices { _ = try await world.sync(device) }
        #expect(try await world.difference() == nil)
        return world
    }

    /// The world agrees in the end, whatever was wrong on the way.
    private func expectRest(_ world: World) async throws {
        let complaint = try await world.quiesce()
        #expect(complaint == nil)
    }

    @Test(arguments: [0, 8])
    func `9: a restored device gets again what it had already, however much was compacted since`(_ days: Int)
        async throws
    {
        let world = try await quiesced()
        try await world.perform(.backup(device: 0))
        world.users.putTask("t0", 3)
        for round in 0..<5 {
            world.pass(10)
            world.users.putTask("t1", round)
            _ = try await world.sync(0)
        }
        if days > 0 { try await world.perform(.days(days)) }
        try await world.perform(.restore(device: 0))
        #expect(world.users.task("t0", on: 0) == 1)
        let pull = try await world.sync(0)
        #expect(pull.restart == (days == 0 ? nil : .olderThanLedger))
        #expect(world.users.task("t0", on: 0) == 3 && world.users.task("t1", on: 0) == 4)
        #expect(world.counts["log: a ledger was compacted", default: 0] > 0)
        try await expectRest(world)
    }

    @Test func `9: a clone goes on by itself, and neither loses what the other has seen`() async throws {
        let world = try await quiesced { $0.keepsAnswers = false }
        try await world.perform(.clone(device: 0))
        for round in 10..<16 {
            world.users.putTask("t0", round)
            world.pass(10)
            let pull = try await world.sync(round % 2)
            #expect(pull.restart == nil)
            #expect(world.users.task("t0", on: round % 2) == round)
        }
        world.users.removeTask("t0")
        for device in 0...1 {
            _ = try await world.sync(device)
            #expect(world.users.task("t0", on: device) == nil)
        }
        #expect(try await world.replicaCount() == 2)
        try await expectRest(world)
    }

    @Test func `9: a device that missed a deletion for long is told of it, although the ledger had it as gone`()
        async throws
    {
        let world = try await quiesced()
        try await world.perform(.backup(device: 0))
        world.users.removeTask("t0")
        for round in 0..<4 {
            world.pass(10)
            world.users.putTask("t1", round)
            _ = try await world.sync(0)
        }
        // The backend has forgotten the deletion, and the ledger the way back.
        try await world.perform(.days(20))
        _ = try await world.sync(0)
        try await world.perform(.days(20))
        _ = try await world.sync(0)
        try await world.perform(.restore(device: 0))
        #expect(world.users.task("t0", on: 0) == 1)
        _ = try await world.sync(0)
        #expect(world.users.task("t0", on: 0) == nil && world.users.value(.comments, "c0", on: 0) == nil)
        try await expectRest(world)
    }

    @Test func `11: a cursor that was collected is compared with all that the principal's devices hold`() async throws {
        let world = try await quiesced()
        try await world.perform(.backup(device: 0))
        world.users.putTask("gone", 5)
        _ = try await world.sync(0)
        try await world.perform(.backup(device: 0))
        world.users.putTask("later", 5)
        for _ in 0..<4 {
            world.pass(10)
            world.users.putTask("t1", 1)
            _ = try await world.sync(0)
        }
        world.users.removeTask("gone")
        for _ in 0..<5 {
            try await world.perform(.days(20))
            _ = try await world.sync(0)
        }
        try await world.perform(.days(1))
        try await world.perform(.restore(device: 0))
        let pull = try await world.sync(0)
        #expect(pull.restart == .unknownCursor)
        // All that is known of it is that the principal has had it; nothing is new then.
        #expect(pull.ids.created.isEmpty)
        #expect(world.users.task("later", on: 0) == 5)
        #expect(world.users.task("gone", on: 0) == nil)
    }

    @Test func `12: a row that changes between the backend's queries is not deleted by a reset`() async throws {
        let world = try await quiesced()
        world.users.write(.tasks, "t0", value: 7, on: 0)
        try await world.perform(.mishap(.reset, 1, 0))
        world.users.putTask("t0", 3)
        let pull = world.beginPull(0)
        for _ in 0..<2 { await world.run(pull, until: .open) }
        // The stream has its number then; the task's row is newer when its query runs.
        await world.run(pull, until: .line)
        world.users.putTask("t0", 4)
        await world.run(pull)
        #expect(!pull.ids.deleted.contains("tasks/t0"))
        #expect(world.users.task("t0", on: 0) == 7 && world.users.hasPending(.tasks, "t0", on: 0))
        try await world.push(0)
        try await expectRest(world)
    }

    @Test func `12: children of a project that went and came are deleted only if they do not come`() async throws {
        let world = try await quiesced()
        world.users.putTask("t1", 4)
        world.users.putTask("t2", 4)
        _ = try await world.sync(0)
        world.users.revoke("p0")
        world.users.removeTask("t2")
        world.users.grant("p0")
        let pull = world.beginPull(0)
        await world.run(pull, until: .open)
        await world.run(pull, until: .line)
        world.users.putTask("t1", 5)
        await world.run(pull)
        #expect(pull.ids.deleted.filter { $0.hasPrefix("tasks") } == ["tasks/t2"])
        try await expectRest(world)
    }

    @Test(arguments: [false, true])
    func `13: a row whose line cannot be read is not deleted by a reset`(_ hidesID: Bool) async throws {
        let world = try await quiesced()
        world.users.write(.tasks, "t0", value: 7, on: 0)
        world.users.damage(.tasks, "t0", hidesID: hidesID)
        try await world.perform(.mishap(.reset, 1, 0))
        world.users.putTask("t9", 1)
        world.users.put(.tasks, "t0", value: 1, in: "p0")
        world.users.damage(.tasks, "t0", hidesID: hidesID)
        let pull = try await world.sync(0)
        #expect(pull.restart == .reset)
        #expect(world.users.task("t0", on: 0) == 7)
        #expect(world.counts["log: ledger.sweep_suspended", default: 0] == (hidesID ? 1 : 0))
        try await expectRest(world)
    }

    @Test func `13: a row that cannot be read does not go with the parent that it left`() async throws {
        let world = try await quiesced()
        world.users.put(.tasks, "t0", value: 2, in: "p1")
        world.users.damage(.tasks, "t0")
        world.users.revoke("p0")
        _ = try await world.sync(0)
        #expect(world.users.task("t0", on: 0) == 1)
        try await expectRest(world)
    }

    @Test func `14a: a record whose push was never noted as done stays deleted on the device`() async throws {
        let world = try await quiesced()
        world.users.write(.tasks, "x", value: 5, in: "p0", on: 0)
        guard let push = try world.beginPush(0) else { return }
        while world.users.backend.visible(to: 1)[SimulatedKey(.tasks, "x")] == nil {
            await world.run(push, moments: 1)
        }
        try world.crash()
        world.users.delete(.tasks, "x", on: 0)
        let pull = world.beginPull(0)
        await world.run(pull)
        #expect(pull.ids.updated == ["tasks/x"] && pull.ids.created.isEmpty)
        #expect(world.users.task("x", on: 0) == nil)
        try await world.push(0)
        try await expectRest(world)
    }

    @Test(arguments: WorldSetup.PushTime.allCases)
    func `14b: create, sync, delete, sync keeps a record deleted whatever time a push carries`(
        _ time: WorldSetup.PushTime
    ) async throws {
        let world = try await quiesced { $0.pushTime = time }
        world.users.write(.tasks, "x", value: 5, in: "p0", on: 0)
        _ = try await world.sync(0)
        world.users.delete(.tasks, "x", on: 0)
        let pull = try await world.sync(0)
        #expect(pull.ids.created.isEmpty)
        #expect(world.users.task("x", on: 0) == nil && world.complaints.isEmpty)
        try await expectRest(world)
        #expect(world.users.task("x", on: 0) == nil)
    }

    @Test func `14c: what another device sets back to what was known is not taken for known`() async throws {
        let world = try await quiesced { $0.pushTime = .none }
        world.users.write(.tasks, "t0", value: 57, on: 0)
        try await world.push(0)
        world.users.putTask("t0", 1)
        _ = try await world.sync(0)
        #expect(world.users.task("t0", on: 0) == 1)
        try await expectRest(world)
    }

    @Test func `14d: what was pushed without a time goes with its project before its echo has come`() async throws {
        let world = try await quiesced { $0.pushTime = .none }
        world.users.write(.tasks, "x", value: 5, in: "p0", on: 0)
        try await world.push(0)
        world.users.revoke("p0")
        _ = try await world.sync(0)
        #expect(world.users.task("x", on: 0) == nil && world.users.task("t0", on: 0) == nil)
        try await expectRest(world)
    }

    @Test func `14e: a device restored to between a push and its echo gets what it lacks`() async throws {
        let world = try await quiesced()
        try await world.perform(.backup(device: 0))
        world.users.write(.tasks, "t0", value: 57, on: 0)
        try await world.push(0)
        try await world.perform(.restore(device: 0))
        #expect(world.users.task("t0", on: 0) == 1)
        _ = try await world.sync(0)
        #expect(world.users.task("t0", on: 0) == 57)
        try await expectRest(world)
    }

    @Test(arguments: [WorldPushOutcome.refused, .lost])
    func `14f: a record whose push has failed is not deleted by a reset`(_ outcome: WorldPushOutcome) async throws {
        let world = try await quiesced()
        world.users.write(.tasks, "x", value: 5, in: "p0", on: 0)
        try await world.push(0, outcome)
        // Longer than a push settles.
        world.pass(600_000)
        try await world.perform(.mishap(.reset, 1, 0))
        let pull = world.beginPull(0)
        await world.run(pull)
        #expect(pull.restart == .reset && !pull.ids.deleted.contains("tasks/x"))
        #expect(world.users.task("x", on: 0) == 5 && world.users.hasPending(.tasks, "x", on: 0))
        try await expectRest(world)
    }

    @Test func `14: a reset brings what was made again since its deletion was pushed a minute ago`() async throws {
        let world = try await quiesced()
        world.users.delete(.tasks, "t0", on: 0)
        try await world.push(0)
        world.users.putTask("t0", 88)
        _ = try await world.sync(0)
        #expect(world.users.task("t0", on: 0) == 88)
        try await world.perform(.mishap(.reset, 1, 0))
        world.users.putTask("t0", 89)
        #expect(try await world.sync(0).restart == .reset)
        #expect(world.users.task("t0", on: 0) == 89)
        try await expectRest(world)
    }

    @Test func `14: a new session brings what was made again since another device has deleted it`() async throws {
        let world = try await quiesced(2)
        world.users.delete(.tasks, "t0", on: 0)
        try await world.push(0)
        world.users.putTask("t0", 88)
        try await world.perform(.logInAnew(device: 1))
        _ = try await world.sync(1)
        #expect(world.users.task("t0", on: 1) == 88)
        try await expectRest(world)
    }

    @Test func `14: an echo comes once, in updated, and is dropped as equal from then on`() async throws {
        let world = try await quiesced()
        world.users.write(.tasks, "x", value: 5, in: "p0", on: 0)
        try await world.push(0)
        #expect(try await world.sync(0).ids.updated == ["tasks/x"])
        world.users.putTask("x", 5)
        #expect(try await world.sync(0).ids.updated.isEmpty)
        try await expectRest(world)
    }

    @Test func `14g: what another device pushes at any moment of a pull goes with its only feed`() async throws {
        var overlaps = 0
        for moments in 0..<60 {
            let world = try await quiesced(2) { $0.hasOwnSessions = true }
            world.users.putTask("t0", 2)
            world.pass(10)
            let pull = world.beginPull(1)
            await world.run(pull, moments: moments)
            guard !pull.isOver else { break }
            overlaps += 1
            world.users.put(.files, "f9", value: 1, in: "o0")
            world.pass(10)
            _ = try await world.sync(0)
            world.users.write(.files, "f9", value: 2, on: 0)
            try await world.push(0)
            await world.run(pull)
            _ = try await world.sync(1)
            #expect(world.users.value(.files, "f9", on: 1) == 2)
            world.users.remove(.files, "f9")
            _ = try await world.sync(1)
            #expect(world.users.value(.files, "f9", on: 1) == nil, "after \(moments) moments")
            try await expectRest(world)
        }
        #expect(overlaps > 10)
    }

    @Test func `14h: what was pushed and could not be read goes with its only feed`() async throws {
        let world = try Schedules.world { $0.keepsAnswers = false }
        _ = try await world.sync(0)
        world.users.damage(.files, "f1")
        _ = try await world.sync(1)
        world.users.write(.files, "f1", value: 9, on: 0)
        try await world.push(0)
        _ = try await world.sync(1)
        try await world.perform(.mishap(.repair, 0, 0))
        _ = try await world.sync(1)
        #expect(world.users.value(.files, "f1", on: 1) == 9)
        world.users.remove(.files, "f1")
        _ = try await world.sync(1)
        #expect(world.users.value(.files, "f1", on: 1) == nil)
        try await expectRest(world)
    }

    @Test func `15: a file that came by two feeds goes with the last of them`() async throws {
        let world = try await quiesced()
        for round in 0..<6 {
            try await world.perform(.write(round % 3 == 2 ? .moveFile : .shareFile, 0, 0))
            world.pass(10)
            _ = try await world.sync(0)
            #expect(world.users.value(.files, "f0", on: 0) == 1)
        }
        world.users.remove(.files, "f0")
        _ = try await world.sync(0)
        #expect(world.users.value(.files, "f0", on: 0) == nil)
        try await expectRest(world)
    }

    @Test func `15: one line takes away what an owner has shared, and nothing that came otherwise`() async throws {
        let world = try await quiesced()
        try await world.perform(.write(.purgeFiles, 0, 0))
        let pull = try await world.sync(0)
        #expect(pull.ids.deleted == ["files/f1"] && world.users.value(.files, "f0", on: 0) == 1)
        try await expectRest(world)
    }

    @Test func `16: a project that is revoked takes tasks and comments along`() async throws {
        let world = try await quiesced()
        world.users.putTask("t1", 3, in: "p1")
        world.users.put(.comments, "c1", value: 3, in: "t1")
        _ = try await world.sync(0)
        world.users.revoke("p0")
        let pull = try await world.sync(0)
        #expect(pull.ids.deleted == ["projects/p0", "tasks/t0", "comments/c0"])
        #expect(world.users.value(.comments, "c1", on: 0) == 3)
        try await expectRest(world)
    }

    @Test func `16: a child that has another parent by now stays, and so does what hangs on it`() async throws {
        let world = try await quiesced()
        world.users.put(.tasks, "t0", value: 2, in: "p1")
        world.users.put(.folders, "d1", value: 2)
        world.users.revoke("p0")
        world.users.remove(.folders, "d0")
        let pull = try await world.sync(0)
        #expect(pull.ids.deleted == ["projects/p0", "folders/d0"])
        #expect(world.users.value(.comments, "c0", on: 0) == 1 && world.users.value(.folders, "d1", on: 0) == 2)
        try await expectRest(world)
    }

    @Test func `16: what is in a deleted folder goes, however deep it lies`() async throws {
        let world = try await quiesced()
        for depth in 2..<9 { world.users.put(.folders, "d\(depth)", value: depth, in: "d\(depth - 1)") }
        _ = try await world.sync(0)
        world.users.remove(.folders, "d0")
        let pull = try await world.sync(0)
        #expect(pull.ids.deleted == (0..<9).map { "folders/d\($0)" })
        try await expectRest(world)
    }

    @Test func `17: new is created, changed is updated, sent again is dropped, unknown deletions are dropped`()
        async throws
    {
        let world = try await quiesced(2)
        world.users.putTask("t0", 1)
        world.users.putTask("new", 5)
        world.users.put(.comments, "c0", value: 9, in: "t0")
        world.users.putTask("brief", 1)
        world.users.removeTask("brief")
        let pull = try await world.sync(0)
        #expect(pull.ids.created == ["tasks/new"] && pull.ids.updated == ["comments/c0"])
        #expect(pull.ids.deleted.isEmpty)
        world.users.removeTask("new")
        _ = try await world.sync(0)
        world.users.putTask("new", 6)
        #expect(try await world.sync(0).ids.created == ["tasks/new"])
        try await expectRest(world)
    }
}
