// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import GatewayTesting

/// Random schedules of devices, writers, crashes, lost calls, cut streams and full disks; `docs/TESTING.md` tells how
/// to replay one.
@Suite struct SimulationCampaignTests {
    /// The seeds of a campaign: so many in a short run if nobody asks for others, and 300 among the long tests.
    private static func seeds(_ short: UInt64) -> Range<UInt64> {
        let environment = ProcessInfo.processInfo.environment
        let usual = environment["RIND_TEST_LONG"] == nil ? short : 300
        let count = environment["RIND_TEST_SEEDS"].flatMap { UInt64($0) }
        guard let first = environment["RIND_TEST_SEED"].flatMap({ UInt64($0) }) else { return 0..<(count ?? usual) }
        return first..<first + (count ?? 1)
    }

    @Test func `whatever happens, every device ends with what the backend shows`() async {
        await run(SimulationCampaign(), Self.seeds(90), Self.ways)
    }

    @Test func `two gateways that share a state, are killed and stand still lose nothing either`() async {
        var campaign = SimulationCampaign()
        campaign.sharesState = true
        await run(campaign, Self.seeds(45), Self.sharedWays)
    }

    private func run(_ campaign: SimulationCampaign, _ seeds: Range<UInt64>, _ ways: Ways) async {
        var campaign = campaign
        var failures = 0
        var counts: [String: Int] = [:]
        var steps = 0
        let began = ContinuousClock.now
        for seed in seeds {
            // Where nothing may be missed by the stream, all is right before the full comparison.
            campaign.allowsLoss = seed % 2 == 0
            do {
                let result = try await campaign.run(seed: seed)
                counts.merge(result.counts, uniquingKeysWith: +)
                steps += result.steps
            } catch {
                failures += 1
                Issue.record("\(error)")
                // The first few say it all.
                if failures == 3 { return }
            }
        }
        let seconds = max(1, Int((ContinuousClock.now - began).components.seconds))
        print(
            "simulation\(campaign.sharesState ? ", two gateways" : ""): \(seeds.count) seeds, \(seeds.count / seconds) a second, \(steps / seconds) jobs a second"
        )
        for (way, count) in counts.sorted(by: { $0.key < $1.key }) { print("  \(count) × \(way)") }
        // A simulation that never gets into trouble proves nothing; the fewer schedules, the less of it must be there.
        let expected = seeds.count >= 300 ? ways.common + ways.rare : seeds.count >= 45 ? ways.common : []
        for way in expected { #expect(counts[way, default: 0] > 0, "\(way) in \(counts)") }
    }

    /// What happens to devices and gateways: in any few schedules, and in some hundred.
    private struct Ways {
        var common: [String]
        var rare: [String]
    }

    private static let ways = Ways(
        common: [
            "absent", "basis cursor", "basis nothing", "comparison", "crash", "descendants", "echoes", "equal",
            "failed: backend.closed", "failed: push.conflict", "failed: state.io", "log: a ledger was compacted",
            "log: the backend demands a reset", "migration", "mode first", "mode idle", "mode incremental",
            "push answered", "push answerLost", "push lost", "repairs", "restart older_generation", "restart reset",
            "second look",
        ],
        rare: [
            "basis cursor, not exact", "basis principal, not exact", "distrust", "failed: state.busy", "forget",
            "log: ledger.sweep_blocked",
            "log: ledger.sweep_failed", "log: ledger.sweep_suspended", "migration in a restart", "push doubtful",
            "push late", "push refused", "records rejected", "restart older_than_ledger", "restart other_session",
            "restart resync", "restart unknown_cursor", "spools disk full", "state disk full",
            "went on from a lost answer",
        ])

    private static let sharedWays = Ways(
        common: [
            "crash", "failed: limit.lease_wait", "log: state.lease_taken_over", "mode idle", "mode incremental",
            "pause", "push answered", "second look",
        ],
        // A position that a late call has moved is rarer still: LeaseFindingTests has it.
        rare: ["failed: state.lease_lost"])

    @Test func `a world that has come to rest leaves nothing in memory`() async throws {
        func play() async throws -> () -> [String] {
            let world = try World(WorldSetup())
            try await world.perform(.write(.newTask, 0, 7))
            try await world.perform(.pull(device: 0))
            #expect(try await world.quiesce() == nil)
            let parts: [(name: String, isAlive: () -> Bool)] = world.gateways.flatMap { running in
                [
                    ("gateway", { [weak part = running.gateway] in part != nil }),
                    ("life", { [weak part = running.life] in part != nil }),
                ]
            }
            return { parts.filter { $0.isAlive() }.map(\.name) }
        }
        let alive = try await play()
        #expect(alive() == [])
    }

    @Test func `a seed gives the same course`() async throws {
        func course(_ seed: UInt64) async throws -> [String] {
            var setup = WorldSetup()
            setup.devices = 3
            setup.gateways = 2
            let world = try World(setup, seed: seed, isTracing: true)
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
        var others: [[String]] = []
        for seed: UInt64 in 2...9 { others.append(try await course(seed)) }
        #expect(others.contains { $0 != first })
    }
}
