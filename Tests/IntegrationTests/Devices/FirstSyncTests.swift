// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Gateway
import GatewayTesting
import StateStore
import SyncModel
import Testing

/// Apps that make first syncs again and again.
@Suite(.timeLimit(.minutes(5))) struct FirstSyncTests {
    /// Another device of the user.
    enum OtherDevice: CaseIterable { case idle, withChanges, installedAnew }

    @Test func `an app that begins anew again and again is stuck, is logged once, and gets on when it comes back`()
        async throws
    {
        let clock = ManualClock()
        var options = StackOptions(["admin.stuck_repeats": "4"])
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            let start = options.clock.now
            for _ in 0..<6 {
                #expect(try await stack.sendPull().status == 200)
                clock.advance(byMilliseconds: 60_000)
            }
            let stuck = try await stack.gateway.stuckDevices(limit: 10)
            #expect(stuck.map(\.kind) == [.firstSync] && stuck.first?.count == 6 && stuck.first?.since == start)
            #expect(stack.logged("device.stuck").map { $0.metadata["times"] } == ["4"])
            let cursor = try PulledChanges(await stack.sendPull()).cursor
            #expect(try await stack.sendPull(cursor).status == 200)
            #expect(try await stack.gateway.stuckDevices(limit: 10) == [])
        }
    }

    @Test func `an app that begins anew every few seconds is stuck after some minutes, and stays listed`() async throws
    {
        try await Self.beginningAnew(45, every: 4_000, stuckRepeats: 2) { stack in
            let stuck = try await stack.gateway.stuckDevices(limit: 10)
            #expect(stuck.map(\.count) == [3])
            // As soon as it is suspicious, and once.
            #expect(stack.logged("device.stuck").map { $0.metadata["times"] } == ["3"])
        }
    }

    @Test func `an app that begins anew every few seconds is not stuck after a minute`() async throws {
        try await Self.beginningAnew(20, every: 3_000, stuckRepeats: 3) { stack in
            let stuck = try await stack.gateway.stuckDevices(limit: 10)
            #expect(stuck == [] && stack.logged("device.stuck").isEmpty)
        }
    }

    @Test(arguments: OtherDevice.allCases, ["server", "request"])
    func `an app that begins anew again and again is stuck, also while another device of its user syncs`(
        other: OtherDevice, checkpoints: String
    ) async throws {
        let clock = ManualClock()
        var options = StackOptions(["admin.stuck_repeats": "4"])
        if checkpoints == "request" { options.configuration = try StackConfiguration.withRequestCheckpoints() }
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 3)
            var device = try await stack.quietDevices(["device-b"])[0]
            for number in 0..<8 {
                #expect(try await stack.sendPull().status == 200)
                if other == .withChanges {
                    try await stack.backend.edit(.put("tasks", ["id": "t-0", "name": .string("\(number)")]))
                }
                if other == .installedAnew { device = try await stack.device(token: "device-b") }
                for _ in 0..<2 { try await device.sync() }
                clock.advance(byMilliseconds: 60_000)
            }
            let stuck = try await stack.gateway.stuckDevices(limit: 10)
            #expect(stuck.map(\.kind) == [.firstSync])
            #expect(stack.logged("device.stuck").map { $0.metadata["times"] } == ["4"])
        }
    }

    /// Runs `body` after an app has made this many first syncs, with a pause of some milliseconds after each.
    private static func beginningAnew(
        _ times: Int, every pause: Int64, stuckRepeats: Int, _ body: (GatewayStack) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        var options = StackOptions(["admin.stuck_repeats": "\(stuckRepeats)"])
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            for _ in 0..<times {
                let answer = try await stack.sendPull()
                #expect(answer.status == 200)
                clock.advance(byMilliseconds: pause)
            }
            try await body(stack)
        }
    }
}
