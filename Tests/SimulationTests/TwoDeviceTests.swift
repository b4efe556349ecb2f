// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncEngine
import SyncModel
import Testing

/// Two devices of one person that take turns against a backend that writes checkpoints of its own.
@Suite struct TwoDeviceTests {
    @Test(arguments: [false, true], [false, true])
    func `both end equal to the backend although every other ack answer is lost`(
        _ ownSessions: Bool, _ hasFiles: Bool
    ) async throws {
        var setup = Simulation.Setup()
        setup.hasOwnSessions = ownSessions
        setup.hasFiles = hasFiles
        let world = Simulation(setup)
        var lost = 0
        for round in 0..<40 {
            world.now += 100
            world.putTask("t\(round % 5)", round, in: "p\(round % 2)")
            if round % 7 == 3 { world.removeTask("t\((round + 2) % 5)") }
            if round % 11 == 4 { world.revoke("p\(round % 2)") }
            if round % 11 == 6 { world.grant("p\(round % 2)") }
            let pull = world.beginPull(round % 3 == 0 ? 0 : 1)
            try await world.run(pull) { action in
                switch action {
                case .stream(.acknowledge), .stream(.forget), .stream(.forgetAll), .stream(.listCheckpoints): true
                default: false
                }
            }
            if !pull.isOver, round % 2 == 0 {
                try await world.perform(.loseAnswer(pull: 0))
                lost += 1
            }
            try await world.run(pull)
        }
        #expect(lost > 10)
        let complaint = try await world.quiesce()
        #expect(complaint == nil)
    }

    @Test func `pulls of one session wait for each other, pulls of two do not`() async throws {
        for ownSessions in [false, true] {
            var setup = Simulation.Setup()
            setup.hasOwnSessions = ownSessions
            let world = Simulation(setup)
            let first = world.beginPull(0)
            try await world.run(first) { if case .stream(.open) = $0 { true } else { false } }
            let second = world.beginPull(1)
            for _ in 0..<200 { try await second.step() }
            #expect(second.isOver == ownSessions)
            try await world.run(first)
            try await world.run(second)
            #expect(world.difference() == nil)
        }
    }

    @Test func `a stream that is cut between any two lines brings every line all the same`() async throws {
        var cut = 0
        for position in 0..<40 {
            let world = Simulation(Simulation.Setup())
            world.removeTask("t0")
            for task in 1...3 { world.putTask("t\(task)", task, in: "p\(task % 2)") }
            let pull = world.beginPull(0)
            try await world.run(pull) { if case .stream(.open) = $0 { true } else { false } }
            for _ in 0..<position where !pull.isOver { try await pull.step() }
            if !pull.isOver { cut += 1 }
            try await world.perform(.cut(pull: 0))
            world.putTask("t1", 99, in: "p1")
            try await world.run(pull)
            let complaint = try await world.quiesce()
            #expect(complaint == nil)
        }
        #expect(cut > 10)
    }

    @Test func `a gateway that dies before any one action loses nothing`() async throws {
        var deaths = 0
        for steps in 0..<80 {
            let world = Simulation(Simulation.Setup())
            _ = try await world.sync(0)
            try await world.perform(.mishap(.reset, 1, 0))
            world.putTask("t9", 9)
            world.now += 10
            let pull = world.beginPull(0)
            for _ in 0..<steps where !pull.isOver { try await pull.step() }
            if !pull.isOver { deaths += 1 }
            world.crash()
            world.putTask("t9", 10)
            let complaint = try await world.quiesce()
            #expect(complaint == nil)
        }
        #expect(deaths > 20)
    }
}
