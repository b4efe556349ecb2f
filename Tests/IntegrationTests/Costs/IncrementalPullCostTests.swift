// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import NIOConcurrencyHelpers
import SQLiteState
import Testing

/// Pulls that bring twenty changed records of ten thousand: what one of them writes and reads, counted and not timed.
///
/// Compactions are included.
@Suite(.serialized, .timeLimit(.minutes(10))) struct IncrementalPullCostTests {
    private static let records = 10_000
    /// Enough for three compactions.
    private static let pulls = 196

    @Test func `a pull of twenty changed records writes and reads as few bytes of the state as it did`() async throws {
        let (chunks, statements) = (NIOLockedValueBox(0), NIOLockedValueBox(0))
        var options = StackOptions(["identity.principal": "bearer"])
        options.configuration = try StackConfiguration.withRequestCheckpoints()
        options.state.trace = { sql in
            if sql.hasPrefix("SELECT data FROM chunk") { chunks.withLockedValue { $0 += 1 } }
            statements.withLockedValue { $0 += 1 }
        }
        try await GatewayStack.with(options) { stack in
            try await stack.backend.seed(Self.seed)
            var cursor = try await Self.pull(stack, nil).cursor
            let log = stack.directory + "/state.db-wal"
            func bytes() throws -> Int {
                try #require(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int)
            }
            let before = (
                log: try bytes(), chunks: chunks.withLockedValue { $0 }, all: statements.withLockedValue { $0 }
            )
            for round in 0..<Self.pulls {
                try await Self.edit(stack.backend, round)
                let pulled = try await Self.pull(stack, cursor)
                try #require(pulled.updated["tasks"]?.isEmpty == false)
                cursor = pulled.cursor
            }
            let written = Double(try bytes() - before.log) / Double(Self.pulls)
            let read = Double(chunks.withLockedValue { $0 } - before.chunks) / Double(Self.pulls)
            let asked = Double(statements.withLockedValue { $0 } - before.all) / Double(Self.pulls)
            CostLimits.logBytes.check(written)
            CostLimits.chunksRead.check(read)
            CostLimits.incrementalStatements.check(asked)
        }
    }

    #if os(Linux)
    @Test(
        .enabled(if: GatewayProcess.isBuilt || TestRun.mustCount, "the program rind is not built"),
        .disabled(if: TestRun.isSanitized, "a sanitizer has an allocator of its own"))
    func `a pull of twenty changed records takes as few allocations as it did`() async throws {
        try await GatewayStack.withBackend { backend, directory in
            try await backend.seed(Self.seed)
            let counter = try AllocationCounter(in: directory)
            try await GatewayProcess.with(
                backend: try await backend.url, directory: directory, overrides: ["identity.principal": "bearer"],
                configuration: try StackConfiguration.withRequestCheckpoints(), variables: counter.variables
            ) { gateway in
                let first = try await gateway.http.send(
                    "GET", GatewayStack.pullTarget(), headers: GatewayStack.headers())
                var cursor = try PulledChanges(first).cursor
                var counts: [Double] = []
                try await gateway.http.withConnection { connection in
                    for round in 0..<Self.pulls {
                        try await Self.edit(backend, round)
                        let before = try counter.count
                        await connection.write(
                            gateway.http.request(
                                "GET", GatewayStack.pullTarget(cursor), headers: GatewayStack.headers()))
                        cursor = try PulledChanges(await connection.answer()).cursor
                        counts.append(Double(try counter.count - before))
                    }
                }
                // A compaction comes with each 64 deltas: the last three times as many pulls have three.
                let steady = counts.suffix(192)
                let mean = steady.reduce(0, +) / Double(steady.count)
                print("cost: allocations of the pulls that have no compaction: \(steady.sorted()[96])")
                CostLimits.incrementalAllocations.check(mean)
            }
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

    private static func pull(_ stack: GatewayStack, _ cursor: Int64?) async throws -> PulledChanges {
        try PulledChanges(
            await stack.http.send("GET", GatewayStack.pullTarget(cursor), headers: GatewayStack.headers()))
    }
}
