// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// A backend that is down: clients learn that at once, and nothing is called busy.
@Suite(.timeLimit(.minutes(5))) struct DownBackendTests {
    /// A configuration that finds out who is calling by itself, so that the sync itself meets the backend first.
    private static func options(_ checkpoints: String, byCalls: Bool) throws -> StackOptions {
        var options = StackOptions(["identity.principal": "bearer"])
        options.configuration =
            switch (checkpoints, byCalls) {
            case ("request", false): try StackConfiguration.withRequestCheckpoints()
            case (_, true): try StackConfiguration.withCalls(requestCheckpoints: checkpoints == "request")
            default: nil
            }
        return options
    }

    @Test(arguments: ["server", "request"], [true, false])
    func `nothing listens: pulls and pushes say so at once, and the next sync goes on`(
        checkpoints: String, byCalls: Bool
    ) async throws {
        let options = try Self.options(checkpoints, byCalls: byCalls)
        try await GatewayStack.withBackend(options) { backend, directory in
            var cursor: Int64 = 0
            let push = DemoValue.changes("tags", created: [["id": "n-1", "label": "new"]])
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                cursor = try PulledChanges(await stack.sendPull()).cursor
            }
            var down = options
            down.overrides["backend.url"] = "http://127.0.0.1:1"
            try await GatewayStack.with(down, backend: backend, directory: directory) { stack in
                for pull in [nil, cursor] {
                    let answer = try await stack.sendPull(pull)
                    #expect(answer.outcome == "502 backend.connect" && answer["Retry-After"] == "5")
                }
                for time in [nil, cursor] {
                    let answer = try await stack.sendPush(time, push)
                    #expect(answer.outcome == "502 backend.connect")
                }
                #expect(stack.log.lines(containing: "puts a push off").isEmpty)
                #expect(stack.log.lines(containing: "stream broke").isEmpty)
            }
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                let answer = try await stack.sendPush(cursor, push)
                #expect(answer.status == 200)
                #expect(try await backend.records()["tags"]?["n-1"] != nil)
            }
        }
    }

    @Test(arguments: [true, false])
    func `a name without an address is not called busy either, once the retry budget is used up`(
        byCalls: Bool
    ) async throws {
        var options = try Self.options("request", byCalls: byCalls)
        options.overrides["backend.url"] = "http://rind.invalid"
        options.overrides["push.retry_budget"] = "20ms"
        try await GatewayStack.with(options) { stack in
            let push = DemoValue.changes("tags", created: [["id": "n-1", "label": "new"]])
            let answer = try await stack.sendPush(nil, push)
            #expect(answer.outcome == "502 backend.resolve")
        }
    }
}
