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
        let count = environment["RIND_TEST_SEEDS"] ?? environment["SEEDS"]
        return 0..<(count.flatMap { UInt64($0) } ?? 1_000)
    }()

    @Test func `whatever happens, every device ends with what the backend shows`() async {
        var campaign = SimulationCampaign()
        var failures = 0
        var counts: [String: Int] = [:]
        for seed in Self.seeds {
            // Where nothing may be missed by the stream, all is right before the full comparison.
            campaign.allowsLoss = seed % 2 == 0
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
        guard Self.seeds.count >= 1_000 else { return }
        for way in Self.ways { #expect(counts[way, default: 0] >= 3, "\(way) in \(counts)") }
    }

    static let ways = [
        "absent", "basis cursor", "basis cursor, not exact", "basis nothing", "basis principal, not exact", "blocked",
        "content nothing", "content streamed", "cursor taken", "cut", "delivery first",
        "delivery later", "descendants", "echoes", "compaction", "equal", "fork",
        "migration asked", "migration in a restart", "migration inferred", "migration told", "migration without LS",
        "new replica", "push answered",
        "push answerLost", "push doubtful", "push late", "push lost", "push refused", "repairs",
        "restart olderGeneration", "restart olderThanLedger", "restart otherSession", "restart reset",
        "restart resync", "restart unknownCursor", "second look", "suspended", "comparison", "comparison failed",
        "comparison refused",
        "the answer was lost", "the request was lost", "types refused", "went on from a lost answer",
    ]
}
