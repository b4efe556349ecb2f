// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncMachines
import SyncModel
import Testing

/// The schedules by which a randomised model broke earlier rules of the design; the numbers are its findings.
@Suite struct FindingScheduleTests {
    static func world(
        ownSessions: Bool = false, _ change: (inout WorldSetup) -> Void = { _ in }
    ) throws -> World {
        var setup = WorldSetup()
        setup.hasOwnSessions = ownSessions
        change(&setup)
        return try World(setup)
    }

    /// Both devices in sync, and the backend set to the vector of the last one.
    static func quiesced(ownSessions: Bool = false) async throws -> World {
        let world = try world(ownSessions: ownSessions)
        for device in [0, 1, 0, 1] {
            world.pass(10)
            _ = try await world.sync(device)
        }
        #expect(try await world.difference() == nil)
        return world
    }

    @Test(arguments: [0, 1])
    func `1: a reset reaches both devices, whichever pulls first`(_ first: Int) async throws {
        let world = try await Self.quiesced()
        try await world.perform(.mishap(.reset, 0, 0))
        #expect(try await world.sync(first).restart == .reset)
        #expect(try await world.sync(1 - first).restart == .olderGeneration)
        #expect(try await world.difference() == nil)
    }

    @Test func `1: a crash right after the reset was acknowledged loses it for nobody`() async throws {
        let world = try await Self.quiesced()
        try await world.perform(.mishap(.reset, 0, 0))
        let pull = world.beginPull(0)
        await world.run(pull, until: .open)
        await world.run(pull, until: .acknowledge)
        await world.run(pull, moments: 1)
        try world.crash()
        for device in 0...1 {
            #expect(try await world.sync(device).restart == .olderGeneration)
        }
        #expect(try await world.difference() == nil)
    }

    @Test func `2: the first sync of another device does not swallow a reset`() async throws {
        let world = try Self.world()
        _ = try await world.sync(0)
        try await world.perform(.mishap(.reset, 0, 0))
        #expect(try await world.sync(1).isFirst)
        #expect(try await world.sync(0).restart == .olderGeneration)
        #expect(try await world.difference() == nil)
    }

    @Test func `3: devices with sessions of their own do not trust each other's position`() async throws {
        let world = try await Self.quiesced(ownSessions: true)
        for value in 10..<20 {
            world.users.putTask("t0", value)
            world.pass(10)
            for device in [value % 2, 1 - value % 2] {
                #expect(try await world.sync(device).restart == nil)
                #expect(world.users.task("t0", on: device) == value)
            }
        }
    }

    @Test func `3: a device that logs in anew still gets the reset of its old session`() async throws {
        let world = try await Self.quiesced()
        try await world.perform(.mishap(.reset, 0, 0))
        try await world.perform(.logInAnew(device: 0))
        #expect(try await world.sync(0).restart == .otherSession)
        #expect(try await world.sync(1).restart == .reset)
        #expect(try await world.difference() == nil)
    }

    @Test func `4: a lost answer to an ack call leaves the position unknown`() async throws {
        let world = try await Self.quiesced()
        // The second device is ahead of the first.
        world.users.putTask("t0", 5)
        _ = try await world.sync(1)
        // The backend holds the first device's vector, and the state knows it; the pull itself comes to nothing.
        let first = world.beginPull(0)
        await world.run(first, until: .open)
        try world.crash()
        // The second one's vector is set, and nobody hears of it.
        let second = world.beginPull(1)
        await world.run(second, until: .acknowledge)
        try await world.perform(.loseAnswer(pull: 0))
        await world.run(second)
        #expect(second.failure != nil)
        #expect(try await world.sync(0).failure == nil)
        #expect(world.users.task("t0", on: 0) == 5)
        #expect(try await world.difference() == nil)
    }

    @Test func `4: a first sync that crashed in the stream leaves no belief that nothing is set`() async throws {
        let world = try Self.world { $0.keepsAnswers = false }
        _ = try await world.sync(0)
        let crashed = world.beginPull(1)
        await world.run(crashed, until: .open)
        for _ in 0..<4 { await world.run(crashed, until: .line) }
        try world.crash()
        let lost = world.beginPull(0)
        await world.run(lost, until: .acknowledge)
        try await world.perform(.loseAnswer(pull: 0))
        await world.run(lost)
        #expect(lost.failure != nil)
        _ = try await world.sync(1)
        #expect(try await world.difference() == nil)
    }

    @Test func `5: a delete namespace that a cursor lacks is taken away before it goes on`() async throws {
        let world = try Self.world()
        _ = try await world.sync(0)
        world.users.removeTask("t0")
        // The second device's vector has the tombstone's token, and its second pull sets it.
        for _ in 0..<2 {
            world.pass(10)
            _ = try await world.sync(1)
        }
        _ = try await world.sync(0)
        #expect(world.users.task("t0", on: 0) == nil)
        #expect(try await world.difference() == nil)
    }

    @Test func `5: an idle device is not kept young by the completion token of an active one`() async throws {
        let world = try await Self.quiesced()
        for _ in 0..<2 {
            try await world.perform(.days(20))
            for _ in 0..<2 { #expect(try await world.sync(1).restart == nil) }
        }
        #expect(try await world.sync(0).restart == .reset)
        #expect(try await world.difference() == nil)
    }

    @Test func `6: what the backend noted for one device's first sync does not cut another's backfill`() async throws {
        let world = try Self.world()
        _ = try await world.sync(0)
        // Changed while out of sight, and older than what the first device has seen since.
        world.users.revoke("p0")
        world.users.putTask("t0", 5)
        world.users.putTask("t1", 6, in: "p1")
        world.pass(10)
        _ = try await world.sync(0)
        world.users.grant("p0")
        _ = try await world.sync(1)
        #expect(world.users.task("t0", on: 1) == 5)
        _ = try await world.sync(0)
        #expect(world.users.task("t0", on: 0) == 5)
        #expect(try await world.difference() == nil)
    }

    @Test func `6: what the backend noted in one pull is not believed to be what was set before it`() async throws {
        let world = try Self.world()
        world.users.removeTask("t0")
        world.users.putTask("hidden", 5, in: "p1")
        world.users.revoke("p1")
        // Both have seen that p0 has no task; then the second device sees its first one.
        for device in 0...1 { _ = try await world.sync(device) }
        world.users.putTask("t1", 6)
        world.pass(10)
        _ = try await world.sync(1)
        // To the first device tasks are new still: the backend notes for it that p1 needs no filling in.
        world.users.grant("p1")
        _ = try await world.sync(0)
        _ = try await world.sync(1)
        #expect(world.users.task("hidden", on: 1) == 5)
        #expect(try await world.difference() == nil)
    }

    @Test func `8: two first pulls within the window get two cursors and both live on`() async throws {
        let world = try Self.world()
        let cursors = try await [world.sync(0), world.sync(1)].compactMap { $0.cursor }
        #expect(Set(cursors).count == 2)
        world.users.putTask("t0", 7)
        world.pass(10)
        for device in 0...1 {
            _ = try await world.sync(device)
            #expect(world.users.task("t0", on: device) == 7)
        }
    }

    @Test func `8: a repeated pull gets all that is new by then under a cursor of its own`() async throws {
        let world = try await Self.quiesced()
        var lost: [WorldSync] = []
        for number in 0..<3 {
            world.users.putTask("t\(number)", 7)
            let pull = world.beginPull(0)
            world.abandon(pull)
            await world.run(pull)
            lost.append(pull)
            #expect(world.users.task("t0", on: 0) == 1 && pull.usesKeptLines == (number > 0))
        }
        world.users.putTask("t3", 7)
        let again = try await world.sync(0)
        #expect(again.usesKeptLines && !lost.contains { $0.cursor == again.cursor })
        for number in 0...3 { #expect(world.users.task("t\(number)", on: 0) == 7) }
        _ = try await world.sync(1)
        #expect(try await world.difference() == nil && world.complaints.isEmpty)
    }

    @Test func `10: a restored state takes no device for another`() async throws {
        let world = try await Self.quiesced()
        try await world.perform(.saveState)
        world.users.putTask("t0", 3)
        _ = try await world.sync(0)
        try await world.perform(.restoreState)
        world.users.putTask("t0", 4)
        _ = try await world.sync(1)
        #expect(try await world.sync(0).restart == .unknownCursor)
        #expect(world.users.task("t0", on: 0) == 4)
        #expect(try await world.difference() == nil && world.complaints.isEmpty)
    }

    @Test func `10: what a device has pushed since the backup of a state does not come in created`() async throws {
        let world = try await Self.quiesced()
        try await world.perform(.saveState)
        world.users.write(.tasks, "mine", value: 5, in: "p0", on: 0)
        try await world.push(0)
        try await world.perform(.restoreState)
        let pull = try await world.sync(0)
        #expect(pull.ids.created.isEmpty && pull.ids.updated.contains { $0.hasSuffix("mine") })
        _ = try await world.sync(1)
        #expect(try await world.difference() == nil && world.complaints.isEmpty)
    }

    @Test func `11: a state that is lost altogether wipes no device and loses nothing`() async throws {
        let world = try await Self.quiesced()
        world.users.removeTask("t0")
        world.users.putTask("t1", 4)
        try await world.perform(.restoreState)
        for device in 0...1 {
            #expect(try await world.sync(device).restart == .unknownCursor)
        }
        #expect(try await world.difference() == nil && world.complaints.isEmpty)
    }

    @Test func `10: a clock that is far behind gives no cursor and harms nobody`() async throws {
        let world = try await Self.quiesced()
        world.users.putTask("t0", 3)
        world.pass(-60_000)
        let refused = try await world.sync(0)
        #expect(refused.code == PullFailure.clockBehind.rawValue)
        #expect(world.users.task("t0", on: 0) == 1)
        world.pass(61_000)
        _ = try await world.sync(0)
        #expect(world.users.task("t0", on: 0) == 3)
    }

    @Test func `10: a clock that is a little behind is waited for, and no integer goes out twice`() async throws {
        let world = try await Self.quiesced()
        world.pass(-1_500)
        world.users.putTask("t0", 3)
        let cursors = try await [world.sync(0), world.sync(1)].compactMap { $0.cursor }
        #expect(cursors.count == 2 && cursors[0] < cursors[1])
        #expect(try await world.difference() == nil && world.complaints.isEmpty)
    }

    @Test func `15: a file that changes its feed stays, whichever way it goes`() async throws {
        let world = try Self.world { $0.devices = 1 }
        for _ in 0..<4 {
            _ = try await world.sync(0)
            for file in 0...1 { try await world.perform(.write(.moveFile, file, 0)) }
            world.pass(10)
            _ = try await world.sync(0)
            #expect(try await world.difference() == nil)
        }
    }

    @Test func `25: a namespace that an updated app no longer asks for leaves the backend`() async throws {
        let world = try await Self.quiesced()
        try await world.perform(.updateApp(device: 0))
        world.users.putTask("t0", 2)
        let pull = try await world.sync(0)
        let row = try await world.row(of: pull)
        #expect(row?.vector["ProjectV1"] == nil && row?.vector["ProjectV2"] != nil)
        _ = try await world.sync(0)
        #expect(world.users.backend.checkpoint("ProjectV1", session: "s") == nil)
        _ = try await world.sync(1)
        #expect(try await world.difference() == nil)
    }
}
