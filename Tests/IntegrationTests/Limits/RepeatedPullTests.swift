// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Pulls that are answered without a stream, or with nothing.
@Suite(.timeLimit(.minutes(5))) struct RepeatedPullTests {
    @Test func `a repeated pull is answered without another stream, under a new cursor`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            let first = try PulledChanges(await stack.sendPull(version: 2))
            try await stack.change()
            let lost = try PulledChanges(await stack.sendPull(first.cursor, version: 2))
            let streams = stack.backend.count("POST", "/sync/stream")
            let answer = try await stack.sendPull(first.cursor, version: 2)
            let again = try PulledChanges(answer)
            #expect(stack.backend.count("POST", "/sync/stream") == streams)
            #expect(again.bringsTheSame(as: lost) && again.cursor != lost.cursor)
            #expect(try await stack.figures(of: answer)["mode"] == "repeated")
            // Another schema version is another pull, and a first one is never answered from what is kept.
            _ = try PulledChanges(await stack.sendPull(first.cursor, version: 3))
            _ = try PulledChanges(await stack.sendPull())
            #expect(stack.backend.count("POST", "/sync/stream") == streams + 2)
        }
    }

    @Test func `a kept answer from before a reset is not what a repeated pull gets`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            let first = try PulledChanges(await stack.sendPull())
            try await stack.change()
            let lost = try PulledChanges(await stack.sendPull(first.cursor))
            // Another device of the same session is the one that meets the reset.
            try await stack.backend.setPendingReset(true, token: "ada-token")
            _ = try PulledChanges(await stack.sendPull())
            let streams = stack.backend.count("POST", "/sync/stream")
            let answer = try await stack.sendPull(first.cursor)
            let again = try PulledChanges(answer)
            // Everything was streamed, and what differs is what the lost answer had brought.
            #expect(stack.backend.count("POST", "/sync/stream") > streams && again.bringsTheSame(as: lost))
            #expect(try await stack.figures(of: answer)["restart"] == "older_generation")
        }
    }

    @Test(arguments: ["backend:GET /users/me id", "bearer"])
    func `nothing that is kept is shown to a credential that the backend no longer accepts`(
        _ principal: String
    ) async throws {
        let options = StackOptions(["identity.principal": principal, "identity.auth_ttl": "0s"])
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 6)
            let first = try PulledChanges(await stack.sendPull())
            try await stack.change()
            _ = try PulledChanges(await stack.sendPull(first.cursor))
            stack.backend.inject(DemoFault("GET", times: 2, action: .status(401)))
            let refused = try await stack.sendPull(first.cursor)
            #expect(refused.outcome == "401 backend.credential" && !refused.text.contains("changed"))
            stack.backend.clearFaults()
            let streams = stack.backend.count("POST", "/sync/stream")
            #expect(try PulledChanges(await stack.sendPull(first.cursor)).count == 9)
            #expect(stack.backend.count("POST", "/sync/stream") == streams)
        }
    }

    @Test func `an idle pull gives the cursor back and writes nothing`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            let first = try PulledChanges(await stack.sendPull())
            // Confirms the cursor; from then on there is nothing to note.
            #expect(try PulledChanges(await stack.sendPull(first.cursor)).cursor == first.cursor)
            let before = try StateDump(path: stack.statePath, tables: StateDump.allTables)
            for _ in 0..<3 {
                let idle = try PulledChanges(await stack.sendPull(first.cursor))
                #expect(idle.isEmpty && idle.cursor == first.cursor)
            }
            #expect(try StateDump(path: stack.statePath, tables: StateDump.allTables) == before)
        }
    }
}
