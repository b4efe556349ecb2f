// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncModel
import Testing

/// Two devices of one user that take turns against a backend that writes checkpoints of its own.
@Suite struct TwoDeviceTests {
    @Test(arguments: [false, true], [false, true])
    func `both end equal to the backend although every other ack answer is lost`(
        _ ownSessions: Bool, _ hasFiles: Bool
    ) async throws {
        var setup = WorldSetup()
        setup.hasOwnSessions = ownSessions
        setup.hasFiles = hasFiles
        let world = try World(setup)
        var lost = 0
        for round in 0..<40 {
            world.pass(100)
            world.users.putTask("t\(round % 5)", round, in: "p\(round % 2)")
            if round % 7 == 3 { world.users.removeTask("t\((round + 2) % 5)") }
            if round % 11 == 4 { world.users.revoke("p\(round % 2)") }
            if round % 11 == 6 { world.users.grant("p\(round % 2)") }
            let pull = world.beginPull(round % 3 == 0 ? 0 : 1)
            await world.run(pull, until: .acknowledge, .forget, .list)
            if !pull.isOver, round % 2 == 0 {
                try await world.perform(.loseAnswer(pull: 0))
                lost += 1
            }
            await world.run(pull)
        }
        #expect(lost > 10)
        let complaint = try await world.quiesce()
        #expect(complaint == nil)
    }

    @Test func `pulls of one session wait for each other, pulls of two do not`() async throws {
        for ownSessions in [false, true] {
            var setup = WorldSetup()
            setup.hasOwnSessions = ownSessions
            let world = try World(setup)
            let first = world.beginPull(0)
            await world.run(first, until: .open)
            let second = world.beginPull(1)
            world.drain()
            #expect(second.isOver == ownSessions)
            await world.run(first)
            await world.run(second)
            #expect(try await world.difference() == nil)
        }
    }

    @Test func `a stream that is cut between any two lines brings every line all the same`() async throws {
        var cut = 0
        for position in 0..<40 {
            let world = try World(WorldSetup())
            world.users.removeTask("t0")
            for task in 1...3 { world.users.putTask("t\(task)", task, in: "p\(task % 2)") }
            let pull = world.beginPull(0)
            await world.run(pull, until: .open)
            for _ in 0..<position { await world.run(pull, until: .line) }
            if !pull.isOver { cut += 1 }
            try await world.perform(.cut(pull: 0))
            world.users.putTask("t1", 99, in: "p1")
            await world.run(pull)
            let complaint = try await world.quiesce()
            #expect(complaint == nil)
        }
        #expect(cut > 10)
    }

    @Test func `a gateway that dies before any one moment loses nothing`() async throws {
        var deaths = 0
        for moments in 0..<80 {
            let world = try World(WorldSetup())
            _ = try await world.sync(0)
            try await world.perform(.mishap(.reset, 1, 0))
            world.users.putTask("t9", 9)
            world.pass(10)
            let pull = world.beginPull(0)
            await world.run(pull, moments: moments)
            if !pull.isOver { deaths += 1 }
            try world.crash()
            world.users.putTask("t9", 10)
            let complaint = try await world.quiesce()
            #expect(complaint == nil)
        }
        #expect(deaths > 20)
    }
}
