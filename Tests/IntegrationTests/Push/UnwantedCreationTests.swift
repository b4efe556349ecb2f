// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import StateStore
import Testing

/// What becomes of creations that were noted, and that their user does not want any more.
@Suite(.timeLimit(.minutes(5))) struct UnwantedCreationTests {
    /// A creation that was noted and has not happened.
    private static func noted(
        _ means: JournalFindingTests.Means, _ body: (GatewayStack, inout StackDevice) async throws -> Void
    ) async throws {
        var options = try JournalFindingTests.options(means)
        options.overrides["push.idempotency_header"] = "Idempotency-Key"
        try await GatewayStack.with(options) { stack in
            var device = try await JournalFindingTests.createLosingAnswer(stack, .status(500))
            stack.backend.clearRequests()
            try await body(stack, &device)
            #expect(try await stack.openJournals().isEmpty)
            _ = try? await device.sync()
            for _ in 0..<2 { try await device.sync() }
            #expect(try await stack.backend.records()["tasks"]?.isEmpty ?? true)
            try await stack.expectEqual(device)
        }
    }

    @Test func `a creation that its user has deleted meanwhile is looked for, not carried out, where that can be`()
        async throws
    {
        try await Self.noted(.reference) { stack, device in
            try device.model.delete("tasks", "x")
            try await device.push()
            #expect(stack.backend.count("POST", "/tasks") == 0)
        }
    }

    @Test func `where it cannot be looked for the deletion finds it`() async throws {
        try await Self.noted(.key) { stack, device in
            try device.model.delete("tasks", "x")
            // What was made just now may look like another user's, once.
            _ = try? await device.push()
            #expect(stack.backend.count("POST", "/tasks") == 1)
        }
    }

    @Test(arguments: [JournalFindingTests.Means.key, .reference])
    func `a creation that its device does not show any more is not carried out`(
        _ means: JournalFindingTests.Means
    ) async throws {
        try await Self.noted(means) { stack, device in
            let cursor = device.model.lastPulledAt.map { Int64($0) }
            device = try await stack.device()
            let answer = try await stack.sendPush(cursor, .changes("tasks"))
            #expect(answer.outcome == "200", "\(answer)")
            #expect(stack.backend.count("POST", "/tasks") == 0)
        }
    }
}
