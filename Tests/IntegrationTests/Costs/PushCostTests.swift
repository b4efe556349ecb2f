// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import NIOConcurrencyHelpers
import SQLiteState
import Testing

/// How often a push waits for the disk.
@Suite(.timeLimit(.minutes(2))) struct PushCostTests {
    @Test func `a stream push waits for two transactions, also behind another one`() async throws {
        let transactions = NIOLockedValueBox(0)
        var options = StackOptions(["identity.principal": "bearer"])
        options.configuration = try StackConfiguration.withRequestCheckpoints()
        options.state.trace = { sql in
            if sql.hasPrefix("BEGIN IMMEDIATE") { transactions.withLockedValue { $0 += 1 } }
        }
        try await GatewayStack.with(options) { stack in
            try await stack.seed()
            let cursor = try await PulledChanges(stack.sendPull()).cursor
            // Confirms the cursor.
            _ = try await stack.sendPull(cursor)
            var counts: [Int] = []
            for round in 0..<6 {
                transactions.withLockedValue { $0 = 0 }
                let tag: DemoValue = .changes("tags", created: [["id": .string("tag\(round)"), "label": "mine"]])
                #expect(try await stack.sendPush(cursor, tag).status == 200)
                counts.append(transactions.withLockedValue(\.self))
            }
            // What was deferred of other syncs may be stored at any time.
            #expect(counts.sorted()[counts.count / 2] == 2, "\(counts)")
        }
    }
}
