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
        return 0..<(environment["RIND_TEST_SEEDS"].flatMap { UInt64($0) } ?? 800)
    }()

    @Test func `whatever happens, every device ends with what the backend shows`() async {
        let campaign = SimulationCampaign()
        var failures = 0
        var counts: [String: Int] = [:]
        for seed in Self.seeds {
            do {
                counts.merge(try await campaign.run(seed: seed), uniquingKeysWith: +)
            } catch {
                failures += 1
                Issue.record("\(error)")
                // The first few say it all.
                if failures == 3 { return }
            }
        }
        // A simulation that never gets into trouble proves nothing.
        guard Self.seeds.count >= 800 else { return }
        for way in Self.ways { #expect(counts[way, default: 0] >= 3, "\(way) in \(counts)") }
    }

    static let ways = [
        "content kept", "content nothing", "content streamed", "cursor taken", "cut", "delivery first",
        "delivery later", "new replica", "restart olderGeneration", "restart otherSession", "restart reset",
        "restart unknownCursor", "the answer was lost", "the request was lost",
    ]
}
