// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncMachines
import SyncModel
import Testing

/// Two gateways on one state: who may sync, and what comes of one that stands still for longer than its lease lasts.
@Suite struct LeaseFindingTests {
    /// Longer than a lease, and shorter than a call to the backend may take.
    private static let pause: Int64 = 31_000

    /// Both devices in sync, each by a gateway of its own.
    static func quiesced(_ change: (inout WorldSetup) -> Void = { _ in }) async throws -> World {
        let world = try FindingScheduleTests.world {
            $0.gateways = 2
            $0.keepsAnswers = false
            change(&$0)
        }
        for device in [0, 1, 0, 1] {
            world.chosenGateway = device
            world.pass(10)
            #expect(try await world.sync(device).failure == nil)
        }
        #expect(try await world.difference() == nil)
        return world
    }

    /// Lets the second device sync twice at gateway 1, so that the backend holds its vector.
    static func letSecondGoAhead(in world: World) async throws {
        world.chosenGateway = 1
        for _ in 0..<2 {
            world.pass(10)
            _ = try await world.sync(1)
        }
    }

    /// Lets gateway 0 stand still in a request until its lease has run out, and the device give up.
    static func standStill(_ request: WorldSync, in world: World) async throws {
        try await world.perform(.pause(0))
        request.resume()
        world.pass(pause)
        world.abandon(request)
    }

    /// Begins a pull at a gateway.
    private static func begin(_ device: Int, at gateway: Int, in world: World) -> WorldSync {
        world.chosenGateway = gateway
        return world.beginPull(device)
    }

    @Test func `7: pulls of one user at two gateways wait for each other`() async throws {
        let world = try await Self.quiesced()
        world.users.putTask("t0", 5)
        let first = Self.begin(0, at: 0, in: world)
        await world.run(first, until: .open)
        let second = Self.begin(1, at: 1, in: world)
        world.drain()
        #expect(!second.isOver && !second.reached.contains(.open))
        await world.run(first)
        await world.run(second)
        #expect(first.failure == nil && second.failure == nil)
        #expect(try await world.difference() == nil)
    }

    @Test func `7: a pull that waits for another gateway for too long is told to try again`() async throws {
        let world = try await Self.quiesced()
        let first = Self.begin(0, at: 0, in: world)
        await world.run(first, until: .open)
        let second = Self.begin(1, at: 1, in: world)
        await world.run(second)
        #expect(second.code == "limit.lease_wait")
        await world.run(first)
        #expect(first.failure == nil)
    }

    /// Gateway 0 stands still before a call that moves the backend, for longer than its lease lasts; gateway 1 takes
    /// over, and the call arrives at one of these moments of its pull.
    @Test(arguments: [WorldMoment.list, .acknowledge, .open, .line, nil])
    func `7: a call that arrives after its gateway has lost the lease costs no device a record`(
        _ moment: WorldMoment?
    ) async throws {
        let world = try await Self.quiesced()
        // The second device is ahead, and its next pull sets the backend to its vector.
        world.users.putTask("t0", 5)
        world.users.putTask("t1", 6)
        try await Self.letSecondGoAhead(in: world)
        // The first one's vector is about to be set, when its gateway stands still.
        let paused = Self.begin(0, at: 0, in: world)
        await world.run(paused, until: .acknowledge)
        #expect(!paused.isOver)
        try await Self.standStill(paused, in: world)
        world.users.putTask("t2", 7)
        let other = Self.begin(1, at: 1, in: world)
        if let moment {
            await world.run(other, until: moment)
        } else {
            await world.run(other)
        }
        let before = world.users.backend.checkpoint("TaskV1", session: world.session(of: 0))
        world.goOn()
        await world.run(paused)
        #expect(paused.code == "state.lease_lost")
        // The delayed call did arrive.
        let after = world.users.backend.checkpoint("TaskV1", session: world.session(of: 0))
        if moment == nil { #expect(before != after) }
        await world.run(other)
        #expect(other.failure == nil || other.code == "backend.position_moved")
        for device in [1, 0, 1, 0] {
            world.pass(10)
            world.chosenGateway = device
            _ = try await world.sync(device)
        }
        #expect(try await world.quiesce() == nil)
    }

    @Test func `7: a gateway that has lost its lease makes no further call and writes nothing`() async throws {
        let world = try await Self.quiesced()
        world.users.putTask("t0", 5)
        try await Self.letSecondGoAhead(in: world)
        let paused = Self.begin(0, at: 0, in: world)
        // Before it says that the position is unknown, which an ack call follows.
        await world.run(paused, until: .writing)
        await world.run(paused, until: .writing)
        try await Self.standStill(paused, in: world)
        #expect(try await Self.pull(1, at: 1, in: world).failure == nil)
        let calls = paused.reached.count { $0 != .writing && $0 != .reading }
        world.goOn()
        await world.run(paused)
        #expect(paused.code == "state.lease_lost")
        #expect(paused.reached.count { $0 != .writing && $0 != .reading } == calls)
        #expect(try await world.quiesce() == nil)
    }

    @Test func `7: a stream ends when its gateway has lost the lease, and the loss is counted`() async throws {
        let world = try await Self.quiesced()
        for number in 0..<20 { world.users.putTask("t\(number)", 5) }
        let paused = Self.begin(0, at: 0, in: world)
        await world.run(paused, until: .open)
        for _ in 0..<3 { await world.run(paused, until: .line) }
        try await Self.standStill(paused, in: world)
        _ = try await Self.pull(1, at: 1, in: world)
        let lines = paused.reached.count { $0 == .line }
        world.goOn()
        await world.run(paused)
        #expect(paused.code == "state.lease_lost")
        // Some lines were on their way, as always between a backend and a gateway; most of 20 were not.
        #expect(paused.reached.count { $0 == .line } < lines + 10)
        #expect(world.counts["log: state.lease_lost"] == 1)
        #expect(try await world.quiesce() == nil)
    }

    @Test func `7: of many ack calls a gateway that has lost the lease makes no further one`() async throws {
        let world = try await Self.quiesced { $0.ackBatch = 1 }
        world.users.putTask("t0", 5)
        try await Self.letSecondGoAhead(in: world)
        let paused = Self.begin(0, at: 0, in: world)
        await world.run(paused, until: .acknowledge)
        try await Self.standStill(paused, in: world)
        #expect(try await Self.pull(1, at: 1, in: world).failure == nil)
        world.goOn()
        await world.run(paused)
        #expect(paused.code == "state.lease_lost")
        #expect(paused.reached.count { $0 == .acknowledge } == 1)
        #expect(world.counts["log: state.lease_lost"] == 1)
        #expect(try await world.quiesce() == nil)
    }

    @Test func `a position from before a reset is not stored with the commit behind it`() async throws {
        let world = try await Self.quiesced()
        world.users.putTask("t0", 5)
        try await Self.letSecondGoAhead(in: world)
        // Its checkpoints are set back for the first device, and the position waits for the commit.
        let pull = Self.begin(0, at: 0, in: world)
        await world.run(pull, until: .open)
        try await world.perform(.mishap(.reset, 1, 0))
        await world.run(pull)
        #expect(pull.failure == nil && pull.restart == .reset)
        #expect(try await world.position(after: pull) == .unknown)
        #expect(try await world.quiesce() == nil)
    }

    @Test func `7: a write that finds the lease lost is a loss, too`() async throws {
        let world = try await Self.quiesced()
        world.users.putTask("t0", 5)
        let paused = Self.begin(0, at: 0, in: world)
        await world.run(paused, until: .open)
        // The commit: nothing is asked about the lease after it has begun.
        await world.run(paused, until: .writing)
        try await Self.standStill(paused, in: world)
        #expect(try await Self.pull(1, at: 1, in: world).failure == nil)
        world.goOn()
        await world.run(paused)
        #expect(paused.code == "state.lease_lost")
        #expect(world.counts["log: state.lease_lost"] == 1)
        #expect(try await world.quiesce() == nil)
    }

    @Test func `a pull does not wait for a push by calls at another gateway whose ids apps make`() async throws {
        let world = try await Self.quiesced { ($0.checkpoints, $0.pushStyle) = (.request, .calls) }
        try await world.perform(.edit(device: 0, .create, 1, 100))
        world.chosenGateway = 0
        let push = try #require(try world.beginPush(0))
        // The journal is open, and the call is about to be made.
        while !push.reached.contains(where: { $0.isCallOfPush }), !push.isOver { await world.run(push, moments: 1) }
        #expect(!push.isOver)
        let pull = try await Self.pull(1, at: 1, in: world)
        #expect(pull.failure == nil)
        #expect(!push.isOver && world.counts["failed: limit.lease_wait"] == nil)
        await world.run(push)
        #expect(push.failure == nil)
        #expect(try await world.quiesce() == nil)
    }

    @Test func `an applied push is answered whatever another gateway does at any of its writes`() async throws {
        var writes = 1
        while try await Self.pushQuarantined(letting: 1, pullAt: writes) { writes += 1 }
        #expect(writes > 4)
    }

    /// Pushes a record that is in quarantine once more, while another device pulls at the other gateway from a write of
    /// the push on; returns false if the push has fewer writes.
    private static func pushQuarantined(letting other: Int, pullAt write: Int) async throws -> Bool {
        let world = try await quiesced { ($0.pushStyle, $0.rejected) = (.calls, .quarantine) }
        world.chosenGateway = 0
        try await world.perform(.edit(device: 0, .edit, 0, 100))
        try await world.push(0, .refused)
        #expect(world.counts["log: push.quarantined"] == 1)
        try await world.perform(.edit(device: 0, .edit, 0, 101))
        let push = try #require(try world.beginPush(0))
        for _ in 0..<write { await world.run(push, until: .writing) }
        guard !push.isOver else { return false }
        let pull = begin(other, at: 1, in: world)
        world.drain()
        await world.run(push)
        #expect(push.failure == nil, "write \(write)")
        await world.run(pull)
        #expect(try await world.quiesce() == nil)
        return true
    }

    private static func pull(_ device: Int, at gateway: Int, in world: World) async throws -> WorldSync {
        let pull = begin(device, at: gateway, in: world)
        await world.run(pull)
        return pull
    }

    @Test func `a gateway that was paused for longer than its lease goes on if nobody has taken it`() async throws {
        let world = try await Self.quiesced()
        world.users.putTask("t0", 5)
        let pull = Self.begin(0, at: 0, in: world)
        await world.run(pull, until: .open)
        try await world.perform(.pause(0))
        pull.resume()
        world.pass(Self.pause)
        world.goOn()
        await world.run(pull)
        #expect(pull.failure == nil)
        #expect(world.users.task("t0", on: 0) == 5)
    }

    @Test func `a stream that lasts longer than a lease keeps it`() async throws {
        let world = try await Self.quiesced()
        world.users.putTask("t0", 5)
        let pull = Self.begin(0, at: 0, in: world)
        await world.run(pull, until: .open)
        let other = Self.begin(1, at: 1, in: world)
        // Time passes only while a request waits for it: the lease is renewed meanwhile.
        await world.run(other)
        #expect(other.code == "limit.lease_wait")
        let again = Self.begin(1, at: 1, in: world)
        await world.run(again)
        #expect(again.code == "limit.lease_wait")
        await world.run(pull)
        #expect(pull.failure == nil)
    }

    @Test(arguments: [CheckpointStyle.server, .request])
    func `an answer lost at one gateway is given again by the other`(_ style: CheckpointStyle) async throws {
        let world = try await Self.quiesced { $0.checkpoints = style }
        world.users.putTask("t0", 5)
        world.users.removeTask("t1")
        let lost = Self.begin(0, at: 0, in: world)
        world.abandon(lost)
        await world.run(lost)
        let cursor = try #require(lost.cursor)
        #expect(world.users.task("t0", on: 0) != 5)
        world.pass(10)
        let again = try await Self.pull(0, at: 1, in: world)
        #expect(again.failure == nil && again.restart == nil)
        #expect(world.users.task("t0", on: 0) == 5)
        // Its cursor begins where the lost one did.
        let row = try #require(try await world.row(of: again))
        #expect(row.parent == lost.presented && row.cursor > cursor)
        #expect(try await Self.pull(1, at: 0, in: world).failure == nil)
        #expect(try await world.difference() == nil)
        #expect(try await Self.pull(0, at: 0, in: world).isIdle)
    }

    @Test func `the receipt of a push at one gateway answers its repetition at the other`() async throws {
        let world = try await Self.quiesced { $0.pushTime = .now }
        try await world.perform(.edit(device: 0, .create, 1, 100))
        world.chosenGateway = 0
        try await world.push(0, .answerLost)
        let pushed = world.users.backend.counter
        world.chosenGateway = 1
        try await world.push(0)
        #expect(world.users.backend.counter == pushed)
        #expect(try await world.quiesce() == nil)
    }

    @Test func `pulls of a backend that is told its checkpoints need no lease`() async throws {
        let world = try await Self.quiesced { $0.checkpoints = .request }
        world.users.putTask("t0", 5)
        let first = Self.begin(0, at: 0, in: world)
        await world.run(first, until: .open)
        let second = try await Self.pull(1, at: 1, in: world)
        #expect(second.failure == nil)
        await world.run(first)
        #expect(first.failure == nil)
        #expect(try await world.difference() == nil)
    }
}

extension WorldMoment {
    /// True for the call that pushes a record.
    fileprivate var isCallOfPush: Bool {
        if case .call(let call) = self { call.hasPrefix("PUT /") || call.hasPrefix("PATCH /") } else { false }
    }
}
