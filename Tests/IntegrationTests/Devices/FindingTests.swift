// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import Testing

/// The schedules by which a randomised model broke earlier rules of the design, over HTTP; the numbers are its
/// findings.
@Suite(.timeLimit(.minutes(5))) struct FindingTests {
    /// Starting over replaces what a device has, so that nothing of it may be left over.
    static let replacing = ["pull.unknown_cursor": "replacement", "pull.repeat_window": "0s"]

    /// Two devices in sync, on one session or on two.
    static func quiesced(_ stack: GatewayStack, _ tokens: [String] = ["device-a", "device-a"]) async throws
        -> [StackDevice]
    {
        try await stack.seed(tasks: 6)
        var options = ClientModel.Options()
        options.passesWholeAnswer = true
        var devices: [StackDevice] = []
        for (place, token) in tokens.enumerated() {
            devices.append(try await stack.device(token: token, options: options, seed: UInt64(place + 1)))
        }
        for place in devices.indices.map({ $0 }) + devices.indices.map({ $0 }) {
            try await devices[place].sync()
            try await stack.expectEqual(devices[place])
        }
        return devices
    }

    /// Syncs, and expects that the pull started over for this reason; nil where it went on from its cursor.
    static func sync(
        _ device: inout StackDevice, _ stack: GatewayStack, restart: String?,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await device.sync().pull
        let figures = try await stack.figures(of: answer)
        #expect(figures["restart"] == restart, sourceLocation: location)
    }

    @Test(arguments: [0, 1])
    func `1: a reset reaches both devices, whichever pulls first`(_ first: Int) async throws {
        try await GatewayStack.with(StackOptions(Self.replacing)) { stack in
            var devices = try await Self.quiesced(stack)
            try await stack.backend.setPendingReset(true, token: "device-a")
            try await stack.backend.edit(.delete("tasks", "t-0"))
            try await Self.sync(&devices[first], stack, restart: "reset")
            try await Self.sync(&devices[1 - first], stack, restart: "older_generation")
            for device in devices { try await stack.expectEqual(device) }
            for place in [0, 1] {
                try await Self.sync(&devices[place], stack, restart: nil)
            }
        }
    }

    @Test func `1: a reset whose acknowledgement was answered by nobody is lost for nobody`() async throws {
        let options = StackOptions(Self.replacing)
        try await GatewayStack.withBackend(options) { backend, directory in
            var devices = try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                var devices = try await Self.quiesced(stack)
                try await backend.setPendingReset(true, token: "device-a")
                try await backend.edit(.delete("tasks", "t-0"))
                backend.inject(DemoFault("POST", "/sync/ack", times: 2, action: .loseAnswer))
                await #expect(throws: StackDevice.Failure.self) { try await devices[1].sync() }
                return devices
            }
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                for place in [0, 1] {
                    devices[place].http = stack.http
                    try await Self.sync(&devices[place], stack, restart: "older_generation")
                    try await stack.expectEqual(devices[place])
                }
            }
        }
    }

    @Test func `2: the first sync of another device does not swallow a reset`() async throws {
        try await GatewayStack.with(StackOptions(Self.replacing)) { stack in
            var devices = try await Self.quiesced(stack)
            try await stack.backend.setPendingReset(true, token: "device-a")
            try await stack.backend.edit(.delete("tasks", "t-0"))
            var fresh = try await stack.device(token: "device-a", seed: 3)
            try await fresh.sync()
            try await stack.expectEqual(fresh)
            for place in [0, 1] {
                try await Self.sync(&devices[place], stack, restart: "older_generation")
                try await stack.expectEqual(devices[place])
            }
            let streams = stack.backend.requests.filter { $0.path == "/sync/stream" }
            #expect(streams.allSatisfy { $0.json?["reset"] == nil })
        }
    }

    @Test func `3: devices with sessions of their own do not trust each other's position`() async throws {
        try await GatewayStack.with(StackOptions(Self.replacing)) { stack in
            var devices = try await Self.quiesced(stack, ["device-a", "device-b"])
            for round in 0..<6 {
                try await stack.backend.edit(.put("tasks", ["id": "t-0", "name": .string("round \(round)")]))
                for place in [round % 2, 1 - round % 2] {
                    try await Self.sync(&devices[place], stack, restart: nil)
                    try await stack.expectEqual(devices[place])
                }
            }
            // Each session is where its device left it: nothing has to be set back.
            #expect(stack.backend.count("POST", "/sync/ack") <= 2 * 7)
        }
    }

    @Test func `3: a device that signs in anew still gets the reset of its old session`() async throws {
        try await GatewayStack.with(StackOptions(Self.replacing)) { stack in
            var devices = try await Self.quiesced(stack)
            try await stack.backend.setPendingReset(true, token: "device-a")
            try await stack.backend.edit(.delete("tasks", "t-0"))
            devices[0].token = try await stack.backend.login(as: "ada@example.com")
            try await Self.sync(&devices[0], stack, restart: "other_session")
            try await Self.sync(&devices[1], stack, restart: "reset")
            for device in devices { try await stack.expectEqual(device) }
        }
    }

    @Test func `4: a first sync that died in the stream leaves no belief that nothing is set`() async throws {
        let options = StackOptions(Self.replacing)
        try await GatewayStack.withBackend(options) { backend, directory in
            var device = try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                let devices = try await Self.quiesced(stack)
                backend.clearRequests()
                backend.inject(.stream { $0.stallAfterLines = 4 })
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { _ = try await stack.sendPull(token: "device-a") }
                    while backend.count("POST", "/sync/stream") == 0 { try await Task.sleep(for: .milliseconds(2)) }
                    group.cancelAll()
                    try? await group.waitForAll()
                }
                return devices[0]
            }
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                backend.inject(DemoFault("POST", "/sync/ack", times: 2, action: .loseAnswer))
                device.http = stack.http
                await #expect(throws: StackDevice.Failure.self) { try await device.sync() }
                var fresh = try await stack.device(token: "device-a", seed: 3)
                try await fresh.sync()
                try await stack.expectEqual(fresh)
                try await device.sync()
                try await stack.expectEqual(device)
            }
        }
    }

    @Test func `5: a delete namespace that a cursor lacks is taken away before it goes on`() async throws {
        try await GatewayStack.with(StackOptions(Self.replacing)) { stack in
            try await stack.seed(tasks: 6)
            var devices = [
                try await stack.device(token: "device-a", seed: 1), try await stack.device(token: "device-a", seed: 2),
            ]
            try await devices[0].sync()
            try await stack.backend.edit(.delete("tasks", "t-0"))
            // The second device's vector has the tombstone's token, and its second pull sets it.
            for _ in 0..<2 { try await devices[1].sync() }
            try await Self.sync(&devices[0], stack, restart: nil)
            try await stack.expectEqual(devices[0])
        }
    }

    @Test func `5: an idle device is not kept young by the completion token of an active one`() async throws {
        try await GatewayStack.with(StackOptions(Self.replacing)) { stack in
            var devices = try await Self.quiesced(stack)
            for round in 0..<2 {
                stack.backend.clock.advance(by: DemoClock.days(20))
                try await stack.backend.edit(.delete("tasks", "t-\(round)"))
                for _ in 0..<2 {
                    try await Self.sync(&devices[1], stack, restart: nil)
                }
            }
            stack.backend.clock.advance(by: DemoClock.days(15))
            try await Self.sync(&devices[0], stack, restart: "reset")
            try await stack.expectEqual(devices[0])
        }
    }
}
