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
        print("worlds: \(seeds) seeds, \(Int64(seeds) / seconds) a second, \(steps) steps; \(counts)")
    }
}
