// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import StateStore
import SyncModel
import Testing

/// Backends whose database was restored from a backup, against BACKEND-PROTOCOL, 7.
@Suite(.timeLimit(.minutes(5))) struct RestoredBackendTests {
    /// A way to configure the gateway.
    struct Way: CustomTestStringConvertible, Sendable {
        let style: String
        let pushing: String
        var testDescription: String { "checkpoints = \(style), push by \(pushing)" }

        static let all = ["server", "request"].flatMap { style in
            ["calls", "stream"].map { Way(style: style, pushing: $0) }
        }

        func options(_ clock: ManualClock) throws -> StackOptions {
            var options = StackOptions(["push.conflicts": "none", "ledger.settle": "0s"])
            options.clock = ManualWallClock(clock)
            // Tokens go by the backend's clock alone, so that they go back with it.
            options.backend.order = .faithful
            options.configuration =
                pushing == "calls"
                ? try StackConfiguration.withCalls(requestCheckpoints: style == "request")
                : style == "request" ? try StackConfiguration.withRequestCheckpoints() : nil
            return options
        }
    }

    /// What became of the records between backup and restoring, as it comes to a device that has seen all of it.
    private static let undone = [
        "created tasks#t-1", "deleted tasks#n", "deleted tasks#x", "updated tasks#t-0", "updated tasks#t-2",
    ]

    /// Lets a device see changes that the backend then loses.
    private static func loseChanges(_ stack: GatewayStack, _ device: inout StackDevice) async throws {
        stack.backend.clock.advance(by: 10)
        let backup = try stack.backend.backUp()
        stack.backend.clock.advance(by: 1_000_000)
        try await stack.backend.edit(
            .put("tasks", ["id": "t-0", "name": "since"]), .put("tasks", ["id": "x", "name": "x", "projectId": "p-0"]),
            .delete("tasks", "t-1"))
        try device.model.create("tasks", id: "n", ["name": "mine", "project_id": "p-0"])
        for _ in 0..<3 {
            stack.backend.clock.advance(by: 10)
            try await device.sync()
        }
        try await stack.expectEqual(device)
        try stack.backend.restore(backup)
    }

    private static func brief(_ answer: RawAnswer) throws -> [String] { try PulledChanges(answer).brief.sorted() }

    @Test(arguments: Way.all)
    func `what a distrusted device has is compared with everything, once`(way: Way) async throws {
        let clock = ManualClock()
        try await GatewayStack.with(way.options(clock)) { stack in
            try await stack.seed(tasks: 8)
            stack.backend.clock.advance(by: 10)
            var device = try await stack.quietDevices()[0]
            try await Self.loseChanges(stack, &device)
            try await stack.backend.edit(.put("tasks", ["id": "t-2", "name": "after"]))
            stack.backend.clock.advance(by: 10)
            try device.model.update("tasks", "t-5", with: ["name": "unsynced"])

            #expect(try await stack.store.commands.distrust(because: .backend, of: nil, at: clock.now) == 1)
            let (answer, _) = try await device.pull()
            #expect(try Self.brief(answer) == Self.undone)
            #expect(try await stack.figures(of: answer)["restart"] == "distrusted")
            try await device.push()
            stack.backend.clock.advance(by: 10)
            for _ in 0..<2 { try await device.sync() }
            try await stack.expectEqual(device)
            #expect(try await stack.records("tasks")["t-5"]?["name"] == "unsynced")
            let (last, _) = try await device.pull()
            #expect(try await stack.figures(of: last)["mode"] == "idle")
        }
    }

    @Test(arguments: Way.all)
    func `where the tokens show it, a device is compared without anybody's doing`(way: Way) async throws {
        let clock = ManualClock()
        try await GatewayStack.with(way.options(clock)) { stack in
            try await stack.seed(tasks: 8)
            stack.backend.clock.advance(by: 10)
            var device = try await stack.quietDevices()[0]
            try await Self.loseChanges(stack, &device)
            stack.backend.clock.advance(by: -1_000_000)
            try await stack.backend.edit(.put("tasks", ["id": "t-2", "name": "after"]))
            stack.backend.clock.advance(by: 10)

            let (early, _) = try await device.pull()
            #expect(try Self.brief(early).allSatisfy { $0 == "updated tasks#t-2" })
            #expect(stack.logged("backend.tokens_went_back").isEmpty, "the first sync was just now")
            clock.advance(byMilliseconds: 3_600_000)
            let (answer, _) = try await device.pull()
            #expect(try await stack.figures(of: answer)["restart"] == "tokens_went_back")
            #expect(stack.logged("backend.tokens_went_back").count == 1)
            try await stack.expectEqual(device)
            let (last, _) = try await device.pull()
            #expect(try await stack.figures(of: last)["restart"] == nil)
            #expect(stack.logged("backend.tokens_went_back").count == 1)
        }
    }

    @Test func `one user's devices are distrusted, and nobody else's`() async throws {
        let clock = ManualClock()
        try await GatewayStack.with(Way.all[0].options(clock)) { stack in
            try await stack.seed(tasks: 3)
            stack.backend.clock.advance(by: 10)
            var devices = [
                try await stack.device(), try await stack.device(of: "bob@example.com", token: "bob-token"),
            ]
            for place in [0, 1] { try await devices[place].sync() }
            let principals = try await stack.store.inspection.replicas(of: nil, after: nil, limit: 9).map(\.principal)
            let ada = try #require(principals.first)
            #expect(Set(principals).count == 2)
            #expect(try await stack.store.commands.distrust(because: .backend, of: ada, at: clock.now) == 1)
            var restarts: [String?] = []
            for place in [0, 1] {
                let (answer, _) = try await devices[place].pull()
                restarts.append(try await stack.figures(of: answer)["restart"])
            }
            #expect(restarts.filter { $0 == "distrusted" }.count == 1)
        }
    }

    @Test(arguments: Way.all)
    func `after a restored state nothing comes in created, and no content counts as known`(way: Way) async throws {
        let clock = ManualClock()
        try await GatewayStack.with(way.options(clock)) { stack in
            try await stack.seed(tasks: 3)
            stack.backend.clock.advance(by: 10)
            var device = try await stack.quietDevices()[0]
            #expect(try await stack.store.commands.distrust(because: .state, of: nil, at: clock.now) == 1)
            let changes = try await PulledChanges(device.pull().answer).brief
            #expect(changes.filter { $0.hasPrefix("updated tasks#") }.count == 3)
            #expect(changes.allSatisfy { $0.hasPrefix("updated ") })
            try await stack.expectEqual(device)
            #expect(try await PulledChanges(device.pull().answer).brief == [])
        }
    }
}
