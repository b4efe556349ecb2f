// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Telemetry
import Testing

@testable import Gateway
@testable import GatewayServer

@Suite struct CheckpointLagTests {
    private static let day: Int64 = 86_400_000

    /// The ages of a device in milliseconds, with their labels.
    private static let devices: [(Int64, String)] = [
        (-1, "day"), (0, "day"), (day - 1, "day"), (day, "week"), (7 * day - 1, "week"), (7 * day, "month"),
        (30 * day - 1, "month"), (30 * day, "older"),
    ]

    @Test(arguments: devices)
    func `the age of a presented timestamp is counted by the age of its device`(device: Int64, label: String) throws {
        let now = Instant(milliseconds: 1_700_000_000_000)
        var figures = SyncFigures()
        figures.ages = SyncFigures.Ages(
            of: try #require(Cursor(time: now - 3 * Self.day)), since: now - device, at: now)
        let metrics = GatewayMetrics()
        metrics.observe(
            SyncOutcome(figures: figures, code: "", status: 200, isComplete: true), kind: "sync",
            trace: SyncTrace().content, duration: .zero)
        let text = metrics.text()
        for (end, count) in [("86400", 0), ("259200", 1), ("+Inf", 1)] {
            #expect(text.contains(#"rind_checkpoint_lag_seconds_bucket{age="\#(label)",le="\#(end)"} \#(count)"#))
        }
        #expect(text.contains(#"rind_checkpoint_lag_seconds_sum{age="\#(label)"} 259200"#))
    }

    @Test func `a timestamp from a clock that led is new`() throws {
        let now = Instant(milliseconds: 1_700_000_000_000)
        let ages = SyncFigures.Ages(of: try #require(Cursor(time: now + 9)), since: now, at: now)
        #expect(ages.cursor == .zero && ages.device == .zero)
    }
}
