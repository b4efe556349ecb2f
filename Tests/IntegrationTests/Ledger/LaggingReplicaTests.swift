// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Backends whose streams are read from a replica that does not have the last pushes yet, against BACKEND-PROTOCOL, 8.
@Suite(.timeLimit(.minutes(5))) struct LaggingReplicaTests {
    /// A reason for a full stream.
    enum Reason: CaseIterable {
        case time
        case reset
    }

    /// One way to run the same course.
    struct Way: CustomTestStringConvertible, Sendable {
        let reason: Reason
        let style: String
        let pushing: String
        var testDescription: String { "\(reason), checkpoints = \(style), push by \(pushing)" }

        static let all = [
            Way(reason: .time, style: "server", pushing: "calls"),
            Way(reason: .time, style: "request", pushing: "calls"),
            Way(reason: .reset, style: "server", pushing: "stream"),
            Way(reason: .time, style: "request", pushing: "stream"),
        ]
    }

    /// A device and its backend, whose streams are read from a replica.
    private struct Place {
        let stack: GatewayStack
        let clock: ManualClock
        let reason: Reason
        var device: StackDevice

        /// Lets all types be compared with the replica's streams, in as many pulls as it takes.
        ///
        /// - Returns: What came, in brief.
        mutating func compare() async throws -> [String] {
            switch reason {
            case .time: clock.advance(byMilliseconds: 60_000)
            case .reset: try await stack.demandReset()
            }
            return try await pulls(reason == .time ? 6 : 1)
        }

        mutating func pulls(_ count: Int) async throws -> [String] {
            var brief: [String] = []
            for _ in 0..<count {
                stack.backend.clock.advance(by: 10)
                brief += try await PulledChanges(device.pull().answer).brief
            }
            return brief
        }

        /// Lets the replica catch up, and waits for the next comparison.
        mutating func settle() async throws -> [String] {
            stack.backend.catchUp()
            let brief = try await pulls(1)
            clock.advance(byMilliseconds: 3_600_000)
            return try await brief + pulls(6)
        }
    }

    private static func with(
        _ way: Way, settle: String = "5m", _ body: (inout Place) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        // A comparison is due a minute after the last one: within the time that pushes have to settle.
        var options = StackOptions()
        let isRequest = way.style == "request"
        options.configuration =
            way.pushing == "calls"
            ? try StackConfiguration.withCalls(requestCheckpoints: isRequest)
            : isRequest ? try StackConfiguration.withRequestCheckpoints() : nil
        options.overrides = ["ledger.resweep_every": "1m", "ledger.settle": settle, "push.conflicts": "none"]
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 8)
            stack.backend.clock.advance(by: 10)
            var place = Place(stack: stack, clock: clock, reason: way.reason, device: try await stack.quietDevices()[0])
            try await body(&place)
        }
    }

    @Test(arguments: Way.all, [false, true])
    func `a record that was pushed a moment ago stays, also if a pull has come between`(
        way: Way, pullsBetween: Bool
    ) async throws {
        try await Self.with(way) { place in
            try place.stack.backend.fallBehind()
            try place.device.model.create("tasks", id: "n", ["name": "new", "project_id": "p-0"])
            try await place.device.push()
            if pullsBetween { #expect(try await place.pulls(1) == []) }
            #expect(try await place.compare() == [])
            #expect(place.device.model.record("tasks", "n") != nil)
            #expect(place.stack.logged("ledger.sweep_suspended").count == 1)
            #expect(try await place.settle() == ["updated tasks#n"])
            try await place.stack.expectEqual(place.device)
        }
    }

    @Test(arguments: Way.all, [false, true])
    func `an earlier content does not come over a later one`(way: Way, pullsBetween: Bool) async throws {
        try await Self.with(way) { place in
            try place.stack.backend.fallBehind()
            try place.device.model.update("tasks", "t-0", with: ["name": "mine"])
            try await place.device.push()
            if pullsBetween { #expect(try await place.pulls(1) == []) }
            #expect(try await place.compare() == [])
            #expect(try await place.settle() == ["updated tasks#t-0"])
            try await place.stack.expectEqual(place.device)
        }
    }

    @Test(arguments: Way.all)
    func `a record that was deleted a moment ago does not come back`(way: Way) async throws {
        try await Self.with(way) { place in
            try place.stack.backend.fallBehind()
            try place.device.model.delete("tasks", "t-0")
            try await place.device.push()
            #expect(try await place.compare() == [])
            #expect(place.device.model.record("tasks", "t-0") == nil)
            #expect(try await place.settle() == ["deleted tasks#t-0"])
            try await place.stack.expectEqual(place.device)
        }
    }

    @Test(arguments: Way.all)
    func `a content that the device was never sent comes, though it has deleted the record, and goes with the deletion`(
        way: Way
    ) async throws {
        try await Self.with(way) { place in
            try await place.stack.backend.edit(.put("tasks", ["id": "t-0", "name": "theirs"]))
            try place.stack.backend.fallBehind()
            try place.device.model.delete("tasks", "t-0")
            try await place.device.push()
            #expect(try await place.compare() == ["updated tasks#t-0"])
            #expect(place.stack.logged("ledger.sweep_suspended").count == (way.reason == .reset ? 1 : 0))
            #expect(try await place.settle() == ["deleted tasks#t-0"])
            try await place.stack.expectEqual(place.device)
        }
    }

    @Test(arguments: Way.all)
    func `what others have changed comes, and what others have deleted goes`(way: Way) async throws {
        try await Self.with(way) { place in
            try place.device.model.update("tasks", "t-0", with: ["name": "mine"])
            try place.device.model.update("tasks", "t-1", with: ["name": "mine"])
            try await place.device.push()
            try await place.stack.backend.edit(.put("tasks", ["id": "t-0", "name": "theirs"]), .delete("tasks", "t-2"))
            try await place.stack.lose("tasks", ["t-3"])
            let brief = try await place.compare()
            #expect(Set(brief) == ["updated tasks#t-0", "updated tasks#t-1", "deleted tasks#t-2", "deleted tasks#t-3"])
            try await place.stack.expectEqual(place.device)
        }
    }

    @Test func `a pushed record that the backend has lost goes once it has had time to settle`() async throws {
        try await Self.with(Way.all[0]) { place in
            try place.device.model.create("tasks", id: "n", ["name": "new", "project_id": "p-0"])
            try await place.device.push()
            try await place.stack.lose("tasks", ["n"])
            #expect(try await place.compare() == [])
            #expect(try await place.settle() == ["deleted tasks#n"])
            try await place.stack.expectEqual(place.device)
        }
    }

    @Test func `without time to settle the stream is believed`() async throws {
        try await Self.with(Way.all[0], settle: "0s") { place in
            try place.stack.backend.fallBehind()
            try place.device.model.create("tasks", id: "n", ["name": "new", "project_id": "p-0"])
            try await place.device.push()
            #expect(try await place.compare() == ["deleted tasks#n"])
        }
    }
}
