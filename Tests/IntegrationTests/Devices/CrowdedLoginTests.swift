// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import GatewayTesting
import SQLiteState
import SyncModel
import Testing

@testable import StateStore

/// Many devices of one login that do the same at the same time.
@Suite(.timeLimit(.minutes(5))) struct CrowdedLoginTests {
    private static let count = 12

    private static func devices(_ stack: GatewayStack, token: String? = "device-a") async throws -> [StackDevice] {
        var devices: [StackDevice] = []
        for seed in 1...UInt64(count) { devices.append(try await stack.device(token: token, seed: seed)) }
        return devices
    }

    /// Pulls with each device, one after the other; returns why they began from the start.
    private static func pull(_ devices: inout [StackDevice], _ stack: GatewayStack) async throws -> [String] {
        var reasons: [String] = []
        for index in devices.indices {
            let (answer, _) = try await devices[index].pull()
            reasons.append(try await stack.figures(of: answer)["restart"] ?? "")
        }
        return reasons
    }

    @Test func `all that start together get on, and so do all whose cursors are unknown`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 9)
            var devices = try await Self.devices(stack)
            let nothing = Array(repeating: "", count: Self.count)
            for _ in 0..<3 { #expect(try await Self.pull(&devices, stack) == nothing) }
            for replica in try await stack.store.inspection.replicas(of: nil, after: nil, limit: 99) {
                _ = try await stack.store.change(replica.principal) {
                    try ReplicaRules.forget(replica.id, at: replica.lastSeen, in: &$0)
                }
            }
            let unknown = Array(repeating: "unknown_cursor", count: Self.count)
            #expect(try await Self.pull(&devices, stack) == unknown)
            for _ in 0..<2 { #expect(try await Self.pull(&devices, stack) == nothing) }
            for device in devices { try await stack.expectEqual(device) }
            #expect(stack.logged("state.too_many_starting").isEmpty)
        }
    }

    @Test func `all whose cursors are unknown get on at the same time, though they displace each other`() async throws {
        var options = StackOptions()
        (options.state.limits.unconfirmedReplicas, options.state.limits.startingReplicas) = (2, 4)
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 90)
            var devices = try await Self.devices(stack, token: nil)
            for _ in 0..<10 { _ = try await Self.pull(&devices, stack) }
            for replica in try await stack.store.inspection.replicas(of: nil, after: nil, limit: 99) {
                _ = try await stack.store.change(replica.principal) {
                    try ReplicaRules.forget(replica.id, at: replica.lastSeen, in: &$0)
                }
            }
            var rounds = 0
            while rounds < 12 {
                rounds += 1
                devices = try await withThrowingTaskGroup(of: StackDevice.self) { group in
                    for device in devices {
                        group.addTask {
                            var device = device
                            let (answer, _) = try await device.pull()
                            #expect(answer.status == 200 || answer.outcome == "503 state.ledger_changed")
                            return device
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                if try await Self.pull(&devices, stack).allSatisfy(\.isEmpty) { break }
            }
            #expect(rounds < 12)
            #expect(!stack.logged("state.too_many_starting").isEmpty)
            for device in devices { try await stack.expectEqual(device) }
        }
    }

    @Test func `a device is compared with ledgers that change all the while`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 90)
            var devices = try await stack.quietDevices(["device-a", "device-b"])
            let replicas = try await stack.store.inspection.replicas(of: nil, after: nil, limit: 9)
            let (lost, other) = (try #require(replicas.first), try #require(replicas.last))
            let isLost = try await stack.store.change(lost.principal) {
                try ReplicaRules.forget(lost.id, at: lost.lastSeen, in: &$0)
            }
            #expect(isLost)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    while !Task.isCancelled {
                        try await stack.store.change(other.principal) { account in
                            try account.withReplica(other.id) { $0.ledger.version += 1 }
                        }
                    }
                }
                for index in devices.indices {
                    let (answer, _) = try await devices[index].pull()
                    #expect(answer.status == 200)
                }
                group.cancelAll()
            }
            for device in devices { try await stack.expectEqual(device) }
        }
    }
}
