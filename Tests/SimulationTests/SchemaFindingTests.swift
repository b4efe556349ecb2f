// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncMachines
import SyncModel
import Testing

/// The schedules by which a randomised model broke earlier rules for clients of several schema versions; the numbers
/// are its findings.
@Suite struct SchemaFindingTests {
    typealias Manners = SimulatedDevice.Manners

    /// Devices of version 1 that have synced twice; the task `t0` is marked, `t1` is not, and there is a note.
    static func quiesced(
        _ manners: [Manners], _ change: (inout WorldSetup) -> Void = { _ in }
    ) async throws -> World {
        let world = try FindingScheduleTests.world {
            $0.devices = manners.count
            $0.manners = manners
            change(&$0)
        }
        world.users.putTask("t0", 1, mark: 5)
        world.users.putTask("t1", 1)
        world.users.put(.notes, "n0", value: 1)
        for _ in 0..<2 {
            for device in manners.indices { _ = try await world.sync(device) }
        }
        #expect(try await world.difference() == nil)
        return world
    }

    /// The world agrees in the end, whatever was wrong on the way.
    static func expectRest(_ world: World) async throws {
        let complaint = try await world.quiesce()
        #expect(complaint == nil)
        #expect(world.complaints.isEmpty)
    }

    private func pull(_ device: Int, _ world: World) async throws -> WorldSync {
        world.pass(10)
        let pull = world.beginPull(device)
        await world.run(pull)
        return pull
    }

    @Test(arguments: [Manners.version, .migration, .later], [true, false])
    func `23: a migration whose answer is lost comes again`(_ manners: Manners, _ keepsAnswers: Bool) async throws {
        let world = try await Self.quiesced([manners]) { $0.keepsAnswers = keepsAnswers }
        try await world.perform(.updateApp(device: 0))
        for _ in 0..<2 {
            let lost = world.beginPull(0)
            world.abandon(lost)
            await world.run(lost)
            #expect(try await world.row(of: lost)?.schemaVersion == 2)
            #expect(world.users.mark("t0", on: 0) == 0)
        }
        let again = try await pull(0, world)
        #expect(again.usesKeptLines == keepsAnswers)
        #expect(world.users.mark("t0", on: 0) == 5 && world.users.value(.notes, "n0", on: 0) == 1)
        try await Self.expectRest(world)
    }

    /// A push keeps the record on the device while a full stream, of a backend that was restored empty, has none.
    @Test func `23: what is missing while its columns are fetched is delivered when it comes back`() async throws {
        let world = try FindingScheduleTests.world {
            ($0.devices, $0.manners, $0.keepsAnswers) = (2, [.later, .migration], false)
        }
        _ = try await world.sync(1)
        try await world.perform(.updateApp(device: 1))
        try await world.perform(.edit(device: 1, .mark, 27, 433))
        try await world.push(1)
        _ = try await world.sync(0)
        try await world.perform(.mishap(.vanish, 0, 30))
        try await world.perform(.updateApp(device: 0))
        _ = try await pull(0, world)
        #expect(world.users.value(.tasks, "t0", on: 0) == 1)
        try await Self.expectRest(world)
        #expect(world.users.mark("t0", on: 0) == 433)
    }

    @Test func `23: gained columns come of what was made again since another device has deleted it`() async throws {
        let world = try await Self.quiesced([.version, .version])
        world.users.delete(.tasks, "t0", on: 0)
        try await world.push(0)
        world.users.putTask("t0", 69, mark: 7)
        try await world.perform(.updateApp(device: 1))
        _ = try await pull(1, world)
        #expect(world.users.task("t0", on: 1) == 69 && world.users.mark("t0", on: 1) == 7)
        try await Self.expectRest(world)
    }

    @Test(arguments: [Manners.version, .later])
    func `22: a push with the cursor from before an update goes over no record of a gained table`(
        _ manners: Manners
    ) async throws {
        let world = try await Self.quiesced([manners]) { ($0.checksConflicts, $0.pushTime) = (true, .before) }
        try await world.perform(.updateApp(device: 0))
        _ = try await pull(0, world)
        world.users.put(.notes, "n0", value: 48)
        world.users.write(.notes, "n0", value: 263, on: 0)
        try await world.push(0)
        #expect(world.users.backend.visible(to: 2)[SimulatedKey(.notes, "n0")]?.value == 48)
        try await Self.expectRest(world)
    }

    @Test func `23: a migration that broke off comes again`() async throws {
        let world = try await Self.quiesced([.version])
        try await world.perform(.updateApp(device: 0))
        for moments in stride(from: 0, to: 60, by: 2) {
            let broken = world.beginPull(0)
            await world.run(broken, moments: moments)
            try world.crash()
        }
        _ = try await pull(0, world)
        #expect(world.users.mark("t0", on: 0) == 5 && world.users.value(.notes, "n0", on: 0) == 1)
        try await Self.expectRest(world)
    }

    @Test(arguments: Manners.allCases, [true, false])
    func `23: a backup from before the update is brought up again, be it with the old app or the new one`(
        _ manners: Manners, _ withApp: Bool
    ) async throws {
        let world = try await Self.quiesced([manners])
        try await world.perform(.backup(device: 0))
        try await world.perform(.updateApp(device: 0))
        world.users.write(.tasks, "mine", value: 1, in: "p0", on: 0)
        for round in 0..<3 {
            world.users.putTask("t1", round)
            _ = try await world.sync(0)
        }
        #expect(world.users.mark("t0", on: 0) == 5 && world.users.value(.notes, "n0", on: 0) == 1)
        try await world.perform(.restore(device: 0, withApp: withApp))
        #expect(world.users.mark("t0", on: 0) == 0 && world.users.value(.notes, "n0", on: 0) == nil)
        _ = try await world.sync(0)
        #expect(try await world.difference() == nil || manners == .nothing && !withApp)
        try await world.perform(.updateApp(device: 0))
        world.users.write(.tasks, "more", value: 1, in: "p0", on: 0)
        for _ in 0..<2 { _ = try await world.sync(0) }
        #expect(world.users.mark("t0", on: 0) == 5 && world.users.value(.notes, "n0", on: 0) == 1)
        try await Self.expectRest(world)
    }

    @Test func `24: what an app has thrown away comes once it begins to tell its version`() async throws {
        let world = try await Self.quiesced([.later])
        try await world.perform(.updateApp(device: 0))
        let migration = try await pull(0, world)
        // The ledger has known both, and the app has none of them; the task at the default is as it should be.
        #expect(migration.ids.updated == ["tasks/t0", "notes/n0"] && migration.ids.created.isEmpty)
        #expect(world.users.mark("t0", on: 0) == 5 && world.users.value(.notes, "n0", on: 0) == 1)
        #expect(try await pull(0, world).isIdle)
        try await Self.expectRest(world)
    }

    @Test(arguments: [true, false])
    func `24: what an app has thrown away comes after a push that shows its version`(
        _ namesAllTables: Bool
    ) async throws {
        let world = try await Self.quiesced([.nothing]) { $0.namesAllTables = namesAllTables }
        try await world.perform(.updateApp(device: 0))
        #expect(try await pull(0, world).ids.updated.isEmpty)
        // Of comments both versions have the same columns.
        world.users.write(.comments, "mine", value: 1, in: "t0", on: 0)
        try await world.push(0)
        let shown = try await pull(0, world)
        #expect(shown.ids.updated.contains("tasks/t0") == namesAllTables)
        world.users.write(.tasks, "t1", value: 8, on: 0)
        try await world.push(0)
        _ = try await pull(0, world)
        #expect(world.users.mark("t0", on: 0) == 5 && world.users.value(.notes, "n0", on: 0) == 1)
        #expect(try await pull(0, world).isIdle)
        try await Self.expectRest(world)
    }

    @Test func `24: a table that a client has certainly only just got is created`() async throws {
        let world = try await Self.quiesced([.version, .migration])
        for device in 0...1 {
            try await world.perform(.updateApp(device: device))
            let migration = try await pull(device, world)
            #expect(migration.ids.created == ["notes/n0"] && migration.ids.updated == ["tasks/t0"])
        }
        try await Self.expectRest(world)
    }

    @Test func `24: what was deleted in a table that nobody knew of does not come back`() async throws {
        let world = try await Self.quiesced([.nothing])
        try await world.perform(.updateApp(device: 0))
        world.users.put(.notes, "n1", value: 1)
        world.users.write(.tasks, "mine", value: 1, in: "p0", on: 0)
        _ = try await world.sync(0)
        #expect(world.users.value(.notes, "n1", on: 0) == 1)
        world.users.delete(.notes, "n1", on: 0)
        _ = try await pull(0, world)
        #expect(world.users.value(.notes, "n1", on: 0) == nil && world.users.value(.notes, "n0", on: 0) == 1)
        try await Self.expectRest(world)
        #expect(world.users.value(.notes, "n1", on: 0) == nil)
    }

    @Test func `24: a version that was inferred does not tell what the client lacks`() async throws {
        let world = try await Self.quiesced([.nothing]) { $0.namesAllTables = false }
        try await world.perform(.updateApp(device: 0))
        world.users.put(.notes, "n1", value: 1)
        // The push names nothing that is new; then everything comes again, and the client counts as one of version 1.
        world.users.write(.comments, "mine", value: 1, in: "t0", on: 0)
        try await world.push(0)
        try await world.perform(.resync(0))
        #expect(try await pull(0, world).restart == .resync)
        #expect(world.users.value(.notes, "n1", on: 0) == 1)
        world.users.write(.tasks, "t1", value: 8, on: 0)
        try await world.push(0)
        world.users.delete(.notes, "n1", on: 0)
        let shown = try await pull(0, world)
        #expect(shown.ids.created.isEmpty && world.users.value(.notes, "n1", on: 0) == nil)
        try await Self.expectRest(world)
        #expect(world.users.value(.notes, "n1", on: 0) == nil)
    }

    @Test(arguments: [SimulatedTable.notes, .tasks], [true, false])
    func `24: what could not be read while it was fetched comes once it can`(
        _ table: SimulatedTable, _ hidesID: Bool
    ) async throws {
        let world = try await Self.quiesced([.later])
        world.users.damage(table, table == .notes ? "n0" : "t0", hidesID: hidesID)
        try await world.perform(.updateApp(device: 0))
        _ = try await pull(0, world)
        #expect(world.users.mark("t0", on: 0) == (table == .notes ? 5 : 0))
        #expect(world.users.value(.notes, "n0", on: 0) == (table == .notes ? nil : 1))
        try await world.perform(.mishap(.repair, 0, 0))
        _ = try await pull(0, world)
        #expect(world.users.mark("t0", on: 0) == 5 && world.users.value(.notes, "n0", on: 0) == 1)
        #expect(try await pull(0, world).isIdle)
        try await Self.expectRest(world)
    }

    @Test(arguments: Manners.allCases)
    func `25: another wire type is a new namespace, without a reset, and the old one leaves`(
        _ manners: Manners
    ) async throws {
        let world = try await Self.quiesced([manners])
        try await world.perform(.updateApp(device: 0))
        world.users.put(.projects, "p1", value: 6)
        let update = try await pull(0, world)
        #expect(update.restart == nil)
        let row = try await world.row(of: update)
        #expect(row?.vector["ProjectV1"] == nil && row?.vector["ProjectV2"] != nil)
        // The ledger compares by content, so that what has not changed is not sent again.
        #expect(update.ids.updated.filter { $0.hasPrefix("projects") } == ["projects/p1"])
        _ = try await pull(0, world)
        #expect(world.users.backend.checkpoint("ProjectV1", session: "s") == nil)
        try await Self.expectRest(world)
    }

    @Test func `25: a type that comes back after its tombstones are gone is compared as a whole`() async throws {
        let world = try await Self.quiesced([.version])
        world.users.retire(["NotesV1", "FilesV1"])
        world.users.remove(.files, "f0")
        for _ in 0..<3 {
            try await world.perform(.days(20))
            let pull = try await pull(0, world)
            #expect(pull.restart == nil)
            #expect(try await world.row(of: pull)?.vector["FileV1"] == nil)
        }
        #expect(world.users.value(.files, "f0", on: 0) == 1)
        world.users.retire([])
        for _ in 0..<3 {
            _ = try await pull(0, world)
            world.pass(90_000_000)
        }
        #expect(world.users.value(.files, "f0", on: 0) == nil && world.users.value(.files, "f1", on: 0) == 1)
        try await Self.expectRest(world)
    }

    @Test func `an old and a new device of one user alternate, and each gets what its version has`() async throws {
        let world = try await Self.quiesced([.version, .migration])
        try await world.perform(.updateApp(device: 1))
        for round in 0..<50 {
            world.pass(100)
            world.users.putTask("t\(round % 3)", round, in: "p\(round % 2)", mark: round % 4)
            world.users.put(.notes, "n\(round % 5)", value: round)
            if round % 7 == 3 { world.users.remove(.notes, "n\((round + 2) % 5)") }
            let device = round % 2
            if round % 6 < 2 { world.users.write(.tasks, "t\(round % 3)", value: 100 + round, on: device) }
            let sync = try await world.sync(device)
            #expect(sync.restart == nil)
            if device == 0 {
                #expect(world.users.mark("t0", on: 0) ?? 0 == 0 && world.users.value(.notes, "n0", on: 0) == nil)
            }
        }
        try await Self.expectRest(world)
    }

    @Test func `24: what was pushed a moment ago comes to an app that gains its table, though it was sent before`()
        async throws
    {
        let world = try FindingScheduleTests.world {
            ($0.pushTime, $0.manners, $0.hasFiles) = (.none, [.later, .later], false)
        }
        try await world.perform(.updateApp(device: 1))
        try await world.perform(.edit(device: 1, .note, 74, 433))
        for device in [1, 0] {
            world.pass(1)
            _ = try await world.sync(device)
        }
        try await world.perform(.updateApp(device: 0))
        world.pass(10)
        #expect(try await world.sync(0).ids.updated == ["notes/d1_1"])
        #expect(world.users.value(.notes, "d1_1", on: 0) == 433)
        #expect(try await world.quiesce() == nil)
    }
}
