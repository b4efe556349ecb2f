// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncEngine
import SyncModel
import Testing

/// The schedules by which a randomised model broke earlier rules for clients of several schema versions; the numbers
/// are its findings.
@Suite struct SchemaFindingTests {
    typealias Manners = SimulatedDevice.Manners

    /// Devices of version 1 that have synced twice; the task `t0` is marked, `t1` is not, and there is a note.
    static func quiesced(
        _ manners: [Manners], _ change: (inout Simulation.Setup) -> Void = { _ in }
    ) async throws -> Simulation {
        let world = FindingScheduleTests.world {
            $0.devices = manners.count
            $0.manners = manners
            change(&$0)
        }
        world.putTask("t0", 1, mark: 5)
        world.putTask("t1", 1)
        world.put(.notes, "n0", 1)
        for _ in 0..<2 {
            for device in manners.indices { _ = try await world.sync(device) }
        }
        #expect(world.difference() == nil)
        return world
    }

    /// The world agrees in the end, whatever was wrong on the way.
    static func expectRest(_ world: Simulation) async throws {
        let complaint = try await world.quiesce()
        #expect(complaint == nil)
        #expect(world.complaints.isEmpty)
    }

    private func pull(_ device: Int, _ world: Simulation) async throws -> SimulatedPull {
        world.now += 10
        let pull = world.beginPull(device)
        try await world.run(pull)
        return pull
    }

    @Test(arguments: [Manners.version, .migration, .later], [true, false])
    func `23: a migration whose answer is lost comes again`(_ manners: Manners, _ keepsSpools: Bool) async throws {
        let world = try await Self.quiesced([manners]) { $0.keepsSpools = keepsSpools }
        try await world.perform(.updateApp(device: 0))
        for _ in 0..<2 {
            let lost = world.beginPull(0)
            world.abandon(lost)
            try await world.run(lost)
            #expect(lost.plan?.row?.schemaVersion == 2)
            #expect(world.mark("t0", on: 0) == 0)
        }
        let again = try await pull(0, world)
        #expect(again.hasTakenCached == keepsSpools)
        #expect(world.mark("t0", on: 0) == 5 && world.value(.notes, "n0", on: 0) == 1)
        try await Self.expectRest(world)
    }

    @Test func `23: a migration that broke off comes again`() async throws {
        let world = try await Self.quiesced([.version])
        try await world.perform(.updateApp(device: 0))
        for steps in 0..<24 {
            let broken = world.beginPull(0)
            for _ in 0..<steps where !broken.isOver { try await broken.step() }
            world.crash()
        }
        _ = try await pull(0, world)
        #expect(world.mark("t0", on: 0) == 5 && world.value(.notes, "n0", on: 0) == 1)
        try await Self.expectRest(world)
    }

    @Test(arguments: Manners.allCases, [true, false])
    func `23: a backup from before the update is brought up again, be it with the old app or the new one`(
        _ manners: Manners, _ withApp: Bool
    ) async throws {
        let world = try await Self.quiesced([manners])
        try await world.perform(.backup(device: 0))
        try await world.perform(.updateApp(device: 0))
        world.write(.tasks, "mine", 1, in: "p0", on: 0)
        for round in 0..<3 {
            world.putTask("t1", round)
            _ = try await world.sync(0)
        }
        #expect(world.mark("t0", on: 0) == 5 && world.value(.notes, "n0", on: 0) == 1)
        try await world.perform(.restore(device: 0, withApp: withApp))
        #expect(world.mark("t0", on: 0) == 0 && world.value(.notes, "n0", on: 0) == nil)
        _ = try await world.sync(0)
        #expect(world.difference() == nil || manners == .nothing && !withApp)
        try await world.perform(.updateApp(device: 0))
        world.write(.tasks, "more", 1, in: "p0", on: 0)
        for _ in 0..<2 { _ = try await world.sync(0) }
        #expect(world.mark("t0", on: 0) == 5 && world.value(.notes, "n0", on: 0) == 1)
        try await Self.expectRest(world)
    }

    @Test func `24: what an app has thrown away comes once it begins to tell its version`() async throws {
        let world = try await Self.quiesced([.later])
        try await world.perform(.updateApp(device: 0))
        let migration = try await pull(0, world)
        // The ledger has known both, and the app has none of them; the task at the default is as it should be.
        #expect(migration.ids(\.updated) == ["tasks/t0", "notes/n0"] && migration.ids(\.created).isEmpty)
        #expect(world.mark("t0", on: 0) == 5 && world.value(.notes, "n0", on: 0) == 1)
        #expect(try await pull(0, world).plan?.content == .nothing)
        try await Self.expectRest(world)
    }

    @Test(arguments: [true, false])
    func `24: what an app has thrown away comes after a push that shows its version`(
        _ namesAllTables: Bool
    ) async throws {
        let world = try await Self.quiesced([.nothing]) { $0.namesAllTables = namesAllTables }
        try await world.perform(.updateApp(device: 0))
        #expect(try await pull(0, world).ids(\.updated).isEmpty)
        // Of comments both versions have the same columns.
        world.write(.comments, "mine", 1, in: "t0", on: 0)
        world.push(0)
        let shown = try await pull(0, world)
        #expect(shown.ids(\.updated).contains("tasks/t0") == namesAllTables)
        world.write(.tasks, "t1", 8, on: 0)
        world.push(0)
        _ = try await pull(0, world)
        #expect(world.mark("t0", on: 0) == 5 && world.value(.notes, "n0", on: 0) == 1)
        #expect(try await pull(0, world).plan?.content == .nothing)
        try await Self.expectRest(world)
    }

    @Test func `24: a table that a client has certainly only just got is created`() async throws {
        let world = try await Self.quiesced([.version, .migration])
        for device in 0...1 {
            try await world.perform(.updateApp(device: device))
            let migration = try await pull(device, world)
            #expect(migration.ids(\.created) == ["notes/n0"] && migration.ids(\.updated) == ["tasks/t0"])
        }
        try await Self.expectRest(world)
    }

    @Test func `24: what was deleted in a table that nobody knew of does not come back`() async throws {
        let world = try await Self.quiesced([.nothing])
        try await world.perform(.updateApp(device: 0))
        world.put(.notes, "n1", 1)
        world.write(.tasks, "mine", 1, in: "p0", on: 0)
        _ = try await world.sync(0)
        #expect(world.value(.notes, "n1", on: 0) == 1)
        world.delete(.notes, "n1", on: 0)
        _ = try await pull(0, world)
        #expect(world.value(.notes, "n1", on: 0) == nil && world.value(.notes, "n0", on: 0) == 1)
        try await Self.expectRest(world)
        #expect(world.value(.notes, "n1", on: 0) == nil)
    }

    @Test func `24: a version that was inferred does not tell what the client lacks`() async throws {
        let world = try await Self.quiesced([.nothing]) { $0.namesAllTables = false }
        try await world.perform(.updateApp(device: 0))
        world.put(.notes, "n1", 1)
        // The push names nothing that is new; then everything comes again, and the client counts as one of version 1.
        world.write(.comments, "mine", 1, in: "t0", on: 0)
        world.push(0)
        try await world.perform(.resync(0))
        #expect(try await pull(0, world).plan?.restart == .resync)
        #expect(world.value(.notes, "n1", on: 0) == 1)
        world.write(.tasks, "t1", 8, on: 0)
        world.push(0)
        world.delete(.notes, "n1", on: 0)
        let shown = try await pull(0, world)
        #expect(shown.ids(\.created).isEmpty && world.value(.notes, "n1", on: 0) == nil)
        try await Self.expectRest(world)
        #expect(world.value(.notes, "n1", on: 0) == nil)
    }

    @Test(arguments: [SimulatedTable.notes, .tasks], [true, false])
    func `24: what could not be read while it was fetched comes once it can`(
        _ table: SimulatedTable, _ hidesID: Bool
    ) async throws {
        let world = try await Self.quiesced([.later])
        world.damage(table, table == .notes ? "n0" : "t0", hidesID: hidesID)
        try await world.perform(.updateApp(device: 0))
        _ = try await pull(0, world)
        #expect(world.mark("t0", on: 0) == (table == .notes ? 5 : 0))
        #expect(world.value(.notes, "n0", on: 0) == (table == .notes ? nil : 1))
        try await world.perform(.mishap(.repair, 0, 0))
        _ = try await pull(0, world)
        #expect(world.mark("t0", on: 0) == 5 && world.value(.notes, "n0", on: 0) == 1)
        #expect(try await pull(0, world).plan?.content == .nothing)
        try await Self.expectRest(world)
    }

    @Test(arguments: Manners.allCases)
    func `25: another wire type is a new namespace, without a reset, and the old one leaves`(
        _ manners: Manners
    ) async throws {
        let world = try await Self.quiesced([manners])
        try await world.perform(.updateApp(device: 0))
        world.put(.projects, "p1", 6)
        let update = try await pull(0, world)
        #expect(update.plan?.restart == nil)
        #expect(update.plan?.row?.vector["ProjectV1"] == nil && update.plan?.row?.vector["ProjectV2"] != nil)
        // The ledger compares by content, so that what has not changed is not sent again.
        #expect(update.ids(\.updated).filter { $0.hasPrefix("projects") } == ["projects/p1"])
        _ = try await pull(0, world)
        #expect(world.backend.checkpoint("ProjectV1", session: "s") == nil)
        try await Self.expectRest(world)
    }

    @Test func `25: a type that comes back after its tombstones are gone is compared as a whole`() async throws {
        let world = try await Self.quiesced([.version])
        world.retire(["NotesV1", "FilesV1"])
        world.remove(.files, "f0")
        for _ in 0..<3 {
            try await world.perform(.days(20))
            let pull = try await pull(0, world)
            #expect(pull.plan?.restart == nil && pull.plan?.row?.vector["FileV1"] == nil)
        }
        #expect(world.value(.files, "f0", on: 0) == 1)
        world.retire([])
        for _ in 0..<3 {
            _ = try await pull(0, world)
            world.now += 90_000_000
        }
        #expect(world.value(.files, "f0", on: 0) == nil && world.value(.files, "f1", on: 0) == 1)
        try await Self.expectRest(world)
    }

    @Test func `an old and a new device of one person alternate, and each gets what its version has`() async throws {
        let world = try await Self.quiesced([.version, .migration])
        try await world.perform(.updateApp(device: 1))
        for round in 0..<50 {
            world.now += 100
            world.putTask("t\(round % 3)", round, in: "p\(round % 2)", mark: round % 4)
            world.put(.notes, "n\(round % 5)", round)
            if round % 7 == 3 { world.remove(.notes, "n\((round + 2) % 5)") }
            let device = round % 2
            if round % 6 < 2 { world.write(.tasks, "t\(round % 3)", 100 + round, on: device) }
            let sync = try await world.sync(device)
            #expect(sync.plan?.restart == nil)
            if device == 0 { #expect(world.mark("t0", on: 0) ?? 0 == 0 && world.value(.notes, "n0", on: 0) == nil) }
        }
        try await Self.expectRest(world)
    }
}
