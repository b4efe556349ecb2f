// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import NIOConcurrencyHelpers
import Testing

/// Pulls that bring twenty changed records of ten thousand: what one of them writes and reads, counted and not timed.
///
/// Compactions are included.
@Suite(.serialized, .timeLimit(.minutes(10))) struct IncrementalPullCostTests {
    private static let records = 10_000
    /// Enough for three compactions.
    private static let pulls = 196

    @Test func `a pull of twenty changed records writes and reads as few bytes of the state as it did`() async throws {
        try await CountedGateway.withStatements { stack, statements in
            try await stack.backend.seed(Self.seed)
            let log = stack.directory + "/state.db-wal"
            func bytes() throws -> Int {
                try #require(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int)
            }
            try await stack.http.withPulls { first, pull in
                var cursor = first
                let before = try bytes()
                statements.withLockedValue { $0 = [] }
                for round in 0..<Self.pulls {
                    try await Self.edit(stack.backend, round)
                    let pulled = try await pull(cursor)
                    try #require(pulled.updated["tasks"]?.isEmpty == false)
                    cursor = pulled.cursor
                }
                let asked = statements.withLockedValue(\.self)
                let chunks = asked.count { $0.hasPrefix("SELECT data FROM chunk") }
                CostLimits.logBytes.check(Double(try bytes() - before) / Double(Self.pulls))
                CostLimits.chunksRead.check(Double(chunks) / Double(Self.pulls))
                CostLimits.incrementalStatements.check(Double(asked.count) / Double(Self.pulls))
            }
        }
    }

    #if os(Linux)
    @Test(
        .enabled(if: GatewayProcess.isBuilt || TestRun.mustCount, "the program rind is not built"),
        .disabled(if: TestRun.isSanitized, "a sanitizer has an allocator of its own"))
    func `a pull of twenty changed records takes as few allocations as it did`() async throws {
        try await CountedGateway.withAllocations(Self.seed) { gateway, backend, counter in
            var counts: [Double] = []
            try await gateway.http.withPulls { first, pull in
                var cursor = first
                for round in 0..<Self.pulls {
                    try await Self.edit(backend, round)
                    let before = try counter.count
                    cursor = try await pull(cursor).cursor
                    counts.append(Double(try counter.count - before))
                }
            }
            // A compaction comes with each 64 deltas: the last three times as many pulls have three.
            let steady = counts.suffix(192)
            print("cost: allocations of the pulls that have no compaction: \(steady.sorted()[96])")
            CostLimits.incrementalAllocations.check(steady.reduce(0, +) / Double(steady.count))
        }
    }
    #endif

    private static var seed: DemoSeed {
        var seed = DemoSeed()
        (seed.projects, seed.tasks, seed.comments, seed.taskTags) = (3, records, 0, 0)
        return seed
    }

    /// Changes the twenty tasks of a round.
    private static func edit(_ backend: DemoBackend, _ round: Int) async throws {
        let edits = (round * 20..<round * 20 + 20).map { number -> DemoEdit in
            .put(
                "tasks",
                ["id": .string("t-\(number * 7_919 % records + 1)"), "name": .string("round \(round)")])
        }
        try await backend.edit(edits)
    }
}
