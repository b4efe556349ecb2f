// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncMachines
import SyncModel
import Testing

/// A gateway that stands still for longer than its lease lasts, at each moment of a request, while another one goes on.
@Suite struct StandstillTests {
    /// What the gateway is doing.
    enum Request: String, CaseIterable {
        case news, first, reset, namespaces, retired, streamPush, batches, calls

        var isPush: Bool { [.streamPush, .batches, .calls].contains(self) }

        func change(_ setup: inout WorldSetup) {
            (setup.gateways, setup.keepsAnswers, setup.ackBatch) = (2, false, 1)
            if self == .calls { setup.pushStyle = .calls }
            if self == .batches { setup.pushBatch = 2 }
        }
    }

    /// Both devices in sync, and the second one ahead, so that the backend holds its vector.
    private static func prepared(for request: Request) async throws -> World {
        let world = try FindingScheduleTests.world(request.change)
        for device in request == .first ? [1, 1] : [0, 1, 0, 1] {
            world.chosenGateway = device
            world.pass(10)
            #expect(try await world.sync(device).failure == nil)
        }
        if request == .namespaces { world.users.removeTask("t0") } else { world.users.putTask("t0", 5) }
        try await LeaseFindingTests.letSecondGoAhead(in: world)
        world.chosenGateway = 0
        switch request {
        case .reset: try await world.perform(.mishap(.reset, 0, 0))
        case .retired: world.users.retire(["ProjectsV1"])
        default: break
        }
        return world
    }

    private static func begin(_ request: Request, in world: World) throws -> WorldSync {
        guard request.isPush else { return world.beginPull(0) }
        for number in 0..<8 { world.users.write(.tasks, "x\(number)", value: 5, in: "p0", on: 0) }
        return try #require(try world.beginPush(0))
    }

    /// The calls that change something.
    private static func calls(_ sync: WorldSync) -> [String] {
        sync.reached.compactMap {
            guard case .call(let call) = $0, !call.hasPrefix("GET ") else { return nil }
            return call
        }
    }

    @Test(arguments: Request.allCases)
    func `7: a gateway that has stood still at any moment makes no further call`(_ request: Request) async throws {
        var losses = 0
        for moments in 1..<150 {
            let world = try await Self.prepared(for: request)
            let paused = try Self.begin(request, in: world)
            await world.run(paused, moments: moments)
            guard !paused.isOver else { break }
            try await LeaseFindingTests.standStill(paused, in: world)
            world.chosenGateway = 1
            await world.run(world.beginPull(1))
            let before = Self.calls(paused)
            world.goOn()
            await world.run(paused)
            // A gateway whose lease no other one has taken goes on.
            guard paused.failure != nil else { continue }
            losses += 1
            let further = Self.calls(paused).dropFirst(before.count)
            #expect(further.isEmpty, "after \(moments) moments")
        }
        #expect(losses > 3)
    }

    /// Gateway 1 has taken over when the late call sets the backend ahead of the device that it streams for.
    @Test(arguments: [WorldMoment.list, .open, .line])
    func `7: a late call that sets the backend ahead costs a restored device no record`(_ moment: WorldMoment)
        async throws
    {
        let world = try await LeaseFindingTests.quiesced()
        world.users.putTask("t0", 5)
        world.users.putTask("t1", 6)
        world.chosenGateway = 0
        world.pass(10)
        _ = try await world.sync(0)
        world.pass(10)
        let paused = world.beginPull(0)
        await world.run(paused, until: .acknowledge)
        #expect(!paused.isOver)
        try await LeaseFindingTests.standStill(paused, in: world)
        world.chosenGateway = 1
        let other = world.beginPull(1)
        await world.run(other, until: moment)
        #expect(!other.isOver)
        world.goOn()
        await world.run(paused)
        await world.run(other)
        #expect(other.failure == nil || other.code == "backend.position_moved")
        for device in [1, 1, 0, 0] {
            world.chosenGateway = device
            world.pass(10)
            #expect(try await world.sync(device).failure == nil)
        }
        #expect(world.users.task("t0", on: 1) == 5 && world.users.task("t1", on: 1) == 6)
        #expect(try await world.difference() == nil)
    }

    @Test func `30: a gateway that dies at any moment of a push by calls doubles nothing`() async throws {
        var deaths = 0
        for moments in 0..<200 {
            let world = try FindingScheduleTests.world {
                ($0.devices, $0.pushStyle, $0.makesIDs) = (1, .calls, true)
            }
            for _ in 0..<2 { _ = try await world.sync(0) }
            for name in ["x", "y", "z"] { world.users.write(.tasks, name, value: 5, in: "p0", on: 0) }
            guard let push = try world.beginPush(0) else { break }
            await world.run(push, moments: moments)
            guard !push.isOver else { break }
            deaths += 1
            try world.crash()
            let complaint = try await world.quiesce()
            #expect(complaint == nil, "after \(moments) moments")
            let made = world.users.backend.visible(to: 1).keys.count { $0.table == .tasks }
            #expect(made == 4, "after \(moments) moments")
        }
        #expect(deaths > 10)
    }

    @Test(arguments: [WorldSetup.PushTime.none, .now])
    func `20: a record that is edited at any moment of a search for it is found`(
        _ time: WorldSetup.PushTime
    ) async throws {
        var edits = 0
        for moments in 0..<80 {
            let world = try FindingScheduleTests.world {
                ($0.devices, $0.pushStyle, $0.pushTime, $0.makesIDs) = (1, .calls, time, true)
            }
            for _ in 0..<2 { _ = try await world.sync(0) }
            world.users.write(.tasks, "mine", value: 5, in: "p0", on: 0)
            try await world.push(0, .doubtful)
            world.pass(90_000)
            let pull = world.beginPull(0)
            await world.run(pull, moments: moments)
            guard !pull.isOver else { break }
            edits += 1
            world.users.putTask("mine", 6)
            await world.run(pull)
            #expect(pull.failure == nil && pull.ids.created.isEmpty, "after \(moments) moments")
            let complaint = try await world.quiesce()
            #expect(complaint == nil && world.complaints.isEmpty, "after \(moments) moments")
        }
        #expect(edits > 10)
    }
}
