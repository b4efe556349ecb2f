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
            var seed = DemoSeed()
            (seed.projects, seed.tasks, seed.comments, seed.taskTags) = (3, Self.records, 0, 0)
            try await stack.backend.seed(seed)
            var cursor = try await Self.pull(stack, nil).cursor
            let log = stack.directory + "/state.db-wal"
            func bytes() throws -> Int {
                try #require(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int)
            }
            let before = (
                log: try bytes(), chunks: chunks.withLockedValue { $0 }, all: statements.withLockedValue { $0 }
            )
            for round in 0..<Self.pulls {
                let edits = (round * 20..<round * 20 + 20).map { number -> DemoEdit in
                    let row = number * 7_919 % Self.records + 1
                    let task = "t-\(row)"
                    return .put("tasks", ["id": .string(task), "name": .string("round \(round)")])
                }
                try await stack.backend.edit(edits)
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

    private static func pull(_ stack: GatewayStack, _ cursor: Int64?) async throws -> PulledChanges {
        try PulledChanges(
            await stack.http.send("GET", GatewayStack.pullTarget(cursor), headers: GatewayStack.headers()))
    }
}
