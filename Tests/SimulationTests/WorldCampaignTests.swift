// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTesting
import Testing

/// Random schedules for real gateways; see ``World``.
@Suite struct WorldCampaignTests {
    @Test func `whatever happens to real gateways, every device ends with what the backend shows`() async {
        let campaign = SimulationCampaign()
        var failures = 0
        var counts: [String: Int] = [:]
        var steps = 0
        let seeds = SimulationCampaignTests.environment["RIND_TEST_WORLD_SEEDS"].flatMap { UInt64($0) } ?? 40
        let first = SimulationCampaignTests.environment["RIND_TEST_SEED"].flatMap { UInt64($0) }
        let began = ContinuousClock.now
        for seed in first.map({ $0..<$0 + 1 }) ?? 0..<seeds {
            do {
                let result = try await campaign.runWorld(seed: seed)
                counts.merge(result.counts, uniquingKeysWith: +)
                steps += result.steps
            } catch {
                failures += 1
                Issue.record("\(error)")
                if failures == 3 { return }
            }
        }
        let seconds = max(1, (ContinuousClock.now - began).components.seconds)
        // Worlds that never get into trouble prove nothing.
        for way in first == nil && seeds >= 40 ? Self.ways : [] { #expect(counts[way, default: 0] > 0, "\(way)") }
        print("worlds: \(seeds) seeds, \(Int64(seeds) / seconds) a second, \(steps) steps; \(counts)")
    }

    private static let ways = [
        "crash", "push answered", "push late", "failed: backend.closed", "failed: state.busy", "failed: state.io",
        "log: a ledger was compacted", "log: the backend demands a reset", "log: the backend's stream broke",
        "log: the client has a new schema version: what was added is fetched",
    ]

    @Test func `a seed gives the same course`() async throws {
        func course(_ seed: UInt64) async throws -> [String] {
            var setup = Simulation.Setup()
            setup.devices = 3
            let world = try World(setup, seed: seed, gateways: 2, isTracing: true)
            for round in 0..<4 {
                try await world.perform(.write(.newTask, round, 7))
                for device in 0..<3 {
                    try await world.perform(.edit(device: device, .create, round, 100 + round))
                    try await world.perform(.pull(device: device))
                }
                try await world.perform(.step(pull: 0, count: 20))
                if round == 2 { try await world.perform(.crash) }
                for device in 0..<3 { try await world.perform(.push(device: device, .answered, isStepped: true)) }
            }
            #expect(try await world.quiesce() == nil)
            return world.trace + ["\(world.steps)"]
        }
        let first = try await course(1)
        #expect(try await course(1) == first)
        #expect(try await course(2) != first)
    }
}
