// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTesting
import Testing

/// Random schedules of devices, writers, crashes, lost calls and cut streams; see ``Simulation`` for how to replay one.
@Suite struct SimulationCampaignTests {
    static let environment = ProcessInfo.processInfo.environment
    static let seeds: Range<UInt64> = {
        if let seed = environment["RIND_TEST_SEED"].flatMap({ UInt64($0) }) { return seed..<seed + 1 }
        return 0..<(environment["RIND_TEST_SEEDS"].flatMap { UInt64($0) } ?? 1_500)
    }()

    @Test func `whatever happens, every device ends with what the backend shows`() async {
        let campaign = SimulationCampaign()
        var failures = 0
        for seed in Self.seeds {
            do {
                try await campaign.run(seed: seed)
            } catch {
                failures += 1
                Issue.record("\(error)")
                // The first few say it all.
                if failures == 3 { return }
            }
        }
    }
}
