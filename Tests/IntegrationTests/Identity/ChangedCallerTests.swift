// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import StateStore
import SyncModel
import Testing

/// A credential that becomes another user's, is revoked, or goes with other fields than before.
@Suite(.timeLimit(.minutes(5))) struct ChangedCallerTests {
    private static let bob = "bob@example.com"
    private static let tag = DemoValue.changes("tags", created: [["id": "n-1", "label": "mine"]])

    @Test func `B3: who sends a credential is asked again after auth_ttl, however often it was accepted`() async throws
    {
        let clock = ManualClock()
        var options = StackOptions()
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 3)
            let first = try PulledChanges(await stack.sendPull(token: "device-a"))
            stack.backend.clearRequests()
            try await stack.backend.give(sessionOf: "device-a", to: Self.bob)
            // Each of these streams is accepted, and by the end of them the first word is older than auth_ttl.
            for _ in 0..<4 {
                clock.advance(byMilliseconds: 20_000)
                _ = try await stack.sendPull(first.cursor, token: "device-a")
            }
            #expect(stack.backend.count("GET", "/users/me") == 1)
            let answer = try await stack.sendPull(first.cursor, token: "device-a")
            let names = Set(try await stack.store.inspection.replicas(of: nil, after: nil, limit: 9).map(\.principal))
            #expect(names.count == 2)
            // The cursor is the other one's: it is worth nothing here.
            #expect(try await stack.figures(of: answer)["restart"] == "unknown_cursor")
        }
    }

    @Test func `B3: nothing that was streamed for a user is taken over by another user`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 1_500)
            let cursor = try PulledChanges(await stack.sendPull(token: "device-a")).cursor
            // Within auth_ttl: the gateway still takes the session for Ada's.
            try await stack.backend.give(sessionOf: "device-a", to: Self.bob)
            let refused = try await stack.sendPull(token: "device-a")
            #expect(refused.outcome == "503 identity.changed" && !refused.text.contains("t-1"))
            let answer = try await stack.sendPull(token: "device-a")
            #expect(try await stack.figures(of: answer)["lines_kept"] == nil)
            _ = try await stack.sendPull(cursor, token: "device-a")
        }
    }

    @Test func `B3: what was quarantined is not retried in the name of another user`() async throws {
        let options = try PushStyle.stream.options(["push.rejected": "quarantine", "push.retry_budget": "0s"])
        try await GatewayStack.with(options) { stack in
            stack.backend.rejectedIDs = ["n-1"]
            let cursor = try PulledChanges(await stack.sendPull(token: "device-a")).cursor
            #expect(try await stack.sendPush(cursor, Self.tag, token: "device-a").status == 200)
            let admin = stack.store
            #expect(try await admin.commands.scheduleRetries(nil, of: nil, at: 1_800_000_000_000).count == 1)
            stack.backend.rejectedIDs = []
            // Within auth_ttl: the gateway still takes the session for Ada's.
            try await stack.backend.give(sessionOf: "device-a", to: Self.bob)
            #expect(try await stack.sendPull(cursor, token: "device-a").outcome == "503 identity.changed")
            _ = try PulledChanges(await stack.sendPull(cursor, token: "device-a"))
            #expect(try await stack.backend.records()["tags"]?["n-1"] == nil)
            #expect(try await admin.inspection.quarantinedPushes(of: nil, after: 0, limit: 9).count == 1)
        }
    }

    @Test(arguments: ["backend:GET /users/me id", "bearer"], [true, false])
    func `B11: a receipt is not shown to a token that was revoked within auth_ttl`(
        _ principal: String, _ keepsCheckpoints: Bool
    ) async throws {
        var options = StackOptions(["identity.principal": principal, "identity.auth_ttl": "1h"])
        if !keepsCheckpoints { options.configuration = try StackConfiguration.withRequestCheckpoints() }
        try await PushReceiptTests.started(options) { stack, cursor in
            let answer = try await stack.sendPush(cursor, PushReceiptTests.created)
            #expect(answer.status == 200)
            #expect(try await stack.sendPush(cursor, PushReceiptTests.created).body == answer.body)
            stack.backend.inject(DemoFault("GET", times: 2, action: .status(401)))
            stack.backend.inject(DemoFault("POST", "/sync/stream", times: 2, action: .status(401)))
            #expect(
                try await stack.sendPush(cursor, PushReceiptTests.created).outcome == "401 backend.credential")
            #expect(stack.backend.count("POST", "/sync/push") == 1)
        }
    }

    @Test(arguments: ["backend:GET /users/me id", "bearer", "cookie:device"])
    func `B8: one token with two values of a forwarded field has two sessions and shares no receipt`(
        _ principal: String
    ) async throws {
        let overrides = ["identity.principal": principal, "backend.forward_headers": "X-Tenant, X-App"]
        for (harmless, pushes) in [("x-app", 2), ("x-app, x-tenant", 1)] {
            let options = StackOptions(overrides.merging(["backend.harmless_headers": harmless]) { $1 })
            try await GatewayStack.with(options) { stack in
                try await stack.seed(tasks: 3)
                func fields(_ tenant: Int, app: Int) -> [String: String] {
                    ["X-Tenant": "\(tenant)", "X-App": "\(app)", "Cookie": "device=1"]
                }
                let cursor = try PulledChanges(await stack.sendPull(nil, fields(1, app: 1))).cursor
                _ = try PulledChanges(await stack.sendPull(cursor, fields(1, app: 2)))
                for (tenant, app) in [(1, 1), (1, 2), (2, 1)] {
                    _ = try await stack.sendPush(cursor, .changes("tags", deleted: ["x"]), fields(tenant, app: app))
                }
                #expect(stack.backend.count("POST", "/sync/push") == pushes)
                let answer = try await stack.sendPull(cursor, fields(2, app: 1))
                let restart = principal.hasPrefix("backend") ? "other_session" : "unknown_cursor"
                #expect(try await stack.figures(of: answer)["restart"] == (pushes == 1 ? nil : restart))
            }
        }
    }

    @Test func `B8: a receipt hangs on all credentials of a request, not on the cookie that names its caller`()
        async throws
    {
        try await GatewayStack.with(StackOptions(["identity.principal": "cookie:device"])) { stack in
            let fields = ["Cookie": "device=1"]
            let cursor = try PulledChanges(await stack.sendPull(nil, fields)).cursor
            for token in ["ada-token", "ada-token", "bob-token"] {
                _ = try await stack.sendPush(cursor, .changes("tags", deleted: ["x"]), token: token, fields)
            }
            #expect(stack.backend.count("POST", "/sync/push") == 2)
        }
    }
}
