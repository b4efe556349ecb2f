// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Two credentials that the backend takes for one session, which nobody tells the gateway.
@Suite(.timeLimit(.minutes(5))) struct SharedSessionTests {
    private static let options = StackOptions([
        "wire.token_header": "x-jwt-token", "pull.repeat_window": "0s", "identity.auth_ttl": "0s",
    ])

    /// Rows of every type, so that the backend has no checkpoints to write by itself.
    private static func seed(_ stack: GatewayStack) async throws {
        try await stack.seed(tasks: 6)
        try await stack.backend.edit(.put("task_tags", ["taskId": "t-0", "tagId": "ada-tag-0"]))
    }

    private static func pull(
        _ stack: GatewayStack, _ cursor: Int64?, asBearer: Bool
    ) async throws -> PulledChanges {
        let fields = asBearer ? [:] : ["x-jwt-token": "device-a"]
        return try PulledChanges(await stack.sendPull(cursor, token: asBearer ? "device-a" : nil, fields))
    }

    @Test func `what one of them has passed is not lost for the other`() async throws {
        try await GatewayStack.with(Self.options) { stack in
            try await Self.seed(stack)
            // The first one has a cursor, and the backend is believed to hold what it stands for.
            let first = try await Self.pull(stack, nil, asBearer: true)
            let second = try await Self.pull(stack, first.cursor, asBearer: true)
            let lists = stack.backend.count("GET", "/sync/ack")
            _ = try await Self.pull(stack, second.cursor, asBearer: true)
            try #require(stack.backend.count("GET", "/sync/ack") == lists)
            // The other one goes on behind it, and further.
            let other = try await Self.pull(stack, nil, asBearer: false)
            try await stack.change()
            let later = try await Self.pull(stack, other.cursor, asBearer: false)
            #expect(!later.isEmpty)
            _ = try await Self.pull(stack, later.cursor, asBearer: false)
            #expect(try await Self.pull(stack, second.cursor, asBearer: true).bringsTheSame(as: later))
        }
    }

    @Test func `two devices that pull in turn while nothing moves ask nothing and write nothing`() async throws {
        try await GatewayStack.with { stack in
            try await Self.seed(stack)
            var cursors: [String: Int64] = [:]
            for token in ["ada-token", "device-a", "ada-token", "device-a", "ada-token", "device-a"] {
                cursors[token] = try PulledChanges(await stack.sendPull(cursors[token], token: token)).cursor
            }
            let before = try StateDump(path: stack.statePath, kinds: StateDump.allKinds)
            let lists = stack.backend.count("GET", "/sync/ack")
            for token in ["ada-token", "device-a", "ada-token", "device-a"] {
                let idle = try PulledChanges(await stack.sendPull(cursors[token], token: token))
                #expect(idle.isEmpty && idle.cursor == cursors[token])
            }
            #expect(try StateDump(path: stack.statePath, kinds: StateDump.allKinds) == before)
            #expect(stack.backend.count("GET", "/sync/ack") == lists)
        }
    }
}
