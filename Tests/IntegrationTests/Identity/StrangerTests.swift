// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// What a caller gets, and leaves behind, whose credential the backend does not accept.
@Suite(.timeLimit(.minutes(5))) struct StrangerTests {
    /// Who a caller is known by, and who keeps the checkpoints.
    enum Setting: CaseIterable, Sendable {
        case bearer, cookie, bearerRequest, cookieRequest

        var isRequest: Bool { self == .bearerRequest || self == .cookieRequest }

        func options(_ overrides: [String: String] = [:]) throws -> StackOptions {
            let principal = self == .bearer || self == .bearerRequest ? "bearer" : "cookie:device"
            var options = StackOptions(overrides.merging(["identity.principal": principal]) { $1 })
            if isRequest { options.configuration = try StackConfiguration.withRequestCheckpoints() }
            return options
        }
    }

    /// A cookie that is easy to guess, for settings that believe it.
    private static let cookie = ["Cookie": "device=1"]

    private static func everything(_ stack: GatewayStack) throws -> StateDump {
        try StateDump(path: stack.statePath, kinds: StateDump.allKinds)
    }

    @Test(arguments: Setting.allCases)
    func `A8: a made-up token is refused and leaves nothing in the state`(_ setting: Setting) async throws {
        try await GatewayStack.with(setting.options()) { stack in
            try await stack.seed(tasks: 3)
            let cursor = try PulledChanges(await stack.sendPull(nil, Self.cookie)).cursor
            let before = try Self.everything(stack)
            for time in [nil, cursor, cursor - 5, 1] {
                for changes in [DemoValue.changes("tags", created: [["id": "x", "label": "y"]]), .changes("tags")] {
                    let pushed = try await stack.sendPush(time, changes, token: "made-up", Self.cookie)
                    #expect(pushed.outcome == "401 backend.credential")
                }
                let pulled = try await stack.sendPull(time, token: "made-up", Self.cookie)
                #expect(pulled.outcome == "401 backend.credential")
            }
            // Not even that a cursor came back: whoever guesses it would make its device a fork.
            #expect(try Self.everything(stack) == before)
            #expect(stack.backend.count("POST", "/sync/push") == 0)
        }
    }

    @Test(arguments: Setting.allCases)
    func `A8: a push by calls of a made-up token opens no journal`(_ setting: Setting) async throws {
        var options = try setting.options()
        options.configuration = try StackConfiguration.withCalls(requestCheckpoints: setting.isRequest)
        try await GatewayStack.with(options) { stack in
            let before = try Self.everything(stack)
            let tag = DemoValue.changes("tags", created: [["id": "x", "label": "y"]])
            let pushed = try await stack.sendPush(nil, tag, token: "made-up", Self.cookie)
            #expect(pushed.outcome == "401 backend.credential")
            #expect(try Self.everything(stack) == before && stack.backend.count("POST", "/tags") == 0)
            #expect(try await stack.sendPush(nil, tag, Self.cookie).status == 200)
        }
    }

    @Test(arguments: Setting.allCases)
    func `a device of an accepted caller syncs as ever`(_ setting: Setting) async throws {
        try await GatewayStack.with(setting.options(["identity.auth_ttl": "0s"])) { stack in
            try await stack.seed(tasks: 3)
            var cursor = try PulledChanges(await stack.sendPull(nil, Self.cookie)).cursor
            for number in 0..<3 {
                let task: DemoValue = ["id": .string("n-\(number)"), "name": "new", "project_id": "p-0"]
                let pushed = try await stack.sendPush(cursor, .changes("tasks", created: [task]), Self.cookie)
                #expect(pushed.status == 200)
                let pulled = try PulledChanges(await stack.sendPull(cursor, Self.cookie))
                #expect(pulled.updated["tasks"]?.keys.sorted() == ["n-\(number)"] && pulled.created == [:])
                cursor = pulled.cursor
            }
            #expect(try await stack.records("tasks").count == 6)
        }
    }

    @Test func `where a stream shows that a credential is accepted, it is of one type and from where the caller is`()
        async throws
    {
        try await GatewayStack.with(Setting.bearerRequest.options(["identity.auth_ttl": "0s"])) { stack in
            try await stack.seed(tasks: 3)
            let cursor = try PulledChanges(await stack.sendPull()).cursor
            _ = try PulledChanges(await stack.sendPull(cursor))
            stack.backend.clearRequests()
            #expect(try await stack.sendPush(cursor, .changes("tags")).status == 200)
            let streams = stack.backend.requests.filter { $0.path == "/sync/stream" }
            let body = try #require(streams.first?.json)
            #expect(streams.count == 1 && body["types"]?.array?.count == 1)
            #expect(body["checkpoints"]?.object?.isEmpty == false)
        }
    }

    @Test func `a request type that the backend has given up keeps nobody from pushing`() async throws {
        try await GatewayStack.with(Setting.bearerRequest.options()) { stack in
            stack.backend.inject(DemoFault("POST", "/sync/stream", times: 2, action: .status(400)))
            let tag = DemoValue.changes("tags", created: [["id": "x", "label": "y"]])
            let answer = try await stack.sendPush(nil, tag)
            #expect(answer.status == 200)
        }
    }
}
