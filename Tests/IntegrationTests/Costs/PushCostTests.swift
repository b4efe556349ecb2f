// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import NIOConcurrencyHelpers
import Testing

/// How often a push waits for the disk.
@Suite(.timeLimit(.minutes(2))) struct PushCostTests {
    /// Runs the body with what the state is told, and the cursor of a device that has come back.
    private static func with(
        _ body: (GatewayStack, NIOLockedValueBox<[String]>, _ cursor: Int64) async throws -> Void
    ) async throws {
        try await CountedGateway.withStatements { stack, statements in
            try await stack.seed()
            let cursor = try await PulledChanges(stack.sendPull()).cursor
            // Confirms the cursor.
            _ = try await stack.sendPull(cursor)
            try await body(stack, statements, cursor)
        }
    }

    private static func push(_ ids: [String], _ cursor: Int64, to stack: GatewayStack) async throws {
        let tags = DemoValue.changes("tags", created: ids.map { ["id": .string($0), "label": "mine"] })
        #expect(try await stack.sendPush(cursor, tags).status == 200)
    }

    @Test func `a stream push waits for two transactions, also behind another one`() async throws {
        try await Self.with { stack, statements, cursor in
            var counts: [Int] = []
            for round in 0..<6 {
                statements.withLockedValue { $0 = [] }
                try await Self.push(["tag\(round)"], cursor, to: stack)
                counts.append(statements.withLockedValue { $0.count { $0.hasPrefix("BEGIN IMMEDIATE") } })
            }
            // What was deferred of other syncs may be stored at any time.
            #expect(counts.sorted()[counts.count / 2] == 2, "\(counts)")
        }
    }

    @Test func `the receipts of other pushes end with the last notes of a push that has many`() async throws {
        try await Self.with { stack, statements, cursor in
            try await Self.push(["first"], cursor, to: stack)
            statements.withLockedValue { $0 = [] }
            try await Self.push((0..<4_001).map { "tag\($0)" }, cursor, to: stack)
            // In which of the transactions, the first of which is 1, the receipt is deleted.
            let (_, ends) = statements.withLockedValue(\.self).reduce(into: (0, [Int]())) { found, sql in
                if sql.hasPrefix("BEGIN IMMEDIATE") { found.0 += 1 }
                if sql.hasPrefix("DELETE FROM entry WHERE kind = 8 ") { found.1.append(found.0) }
            }
            #expect(ends == [3])
        }
    }
}
