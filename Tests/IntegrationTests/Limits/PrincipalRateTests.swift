// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// How often one user may sync, from all their devices.
@Suite(.timeLimit(.minutes(5))) struct PrincipalRateTests {
    @Test func `a user who syncs too often is told when to come again, and others are served`() async throws {
        let clock = ManualClock()
        var options = StackOptions(["limits.principal_rate": "6", "limits.principal_burst": "3"])
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 3)
            let cursor = try PulledChanges(await stack.sendPull(token: "device-a")).cursor
            let tag = DemoValue.changes("tags", created: [["id": "g-1", "label": "mine"]])
            #expect(try await stack.sendPush(cursor, tag, token: "device-b").status == 200)
            #expect(try await stack.sendPull(cursor, token: "device-a").status == 200)
            stack.backend.clearRequests()
            let pulled = try await stack.sendPull(cursor, token: "device-a")
            #expect(pulled.outcome == "429 limit.rate")
            let wait = try #require(pulled["Retry-After"].flatMap { Int64($0) })
            #expect((1...60).contains(wait))
            #expect(try await stack.sendPush(cursor, tag, token: "device-b").outcome == "429 limit.rate")
            #expect(stack.backend.count("POST", "/sync/stream") == 0 && stack.backend.count("POST", "/sync/push") == 0)
            // Neither another user nor what passes through is counted.
            #expect(try await stack.sendPull(token: "bob-token").status == 200)
            #expect(try await stack.send("GET", "/users/me", token: "device-a").status == 200)
            clock.advance(byMilliseconds: wait * 1_000)
            #expect(try await stack.sendPull(cursor, token: "device-a").status == 200)
        }
    }
}
