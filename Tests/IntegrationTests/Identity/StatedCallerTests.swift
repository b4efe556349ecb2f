// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import Gateway
import GatewayConfig
import GatewayTesting
import Logging
import StateStore
import SyncModel
import Testing

/// Callers whom a token or a proxy names.
@Suite(.timeLimit(.minutes(5))) struct StatedCallerTests {
    private static func principals(_ stack: GatewayStack) async throws -> Set<Principal> {
        Set(try await stack.store.inspection.replicas(of: nil, after: nil, limit: 99).map(\.principal))
    }

    /// Options for tokens of an issuer, which are sessions of Ada's at the backend.
    private static func options(
        _ issuer: TestIssuer, _ tokens: [String], _ overrides: [String: String] = [:]
    ) async throws -> StackOptions {
        var options = StackOptions(
            ["identity.principal": "jwt:sub", "identity.jwt_keys": "keys.pem"].merging(overrides) { $1 })
        options.backend.accounts[0].tokens += tokens
        var identity = try StackConfiguration.load(options, backendURL: "http://127.0.0.1:1", state: "/tmp/none")
            .identity
        identity.jwtKeys = nil
        options.tokens = try await TokenKeys(
            identity, file: Array(issuer.pem.utf8), clock: SystemClock(), logger: Logger(label: "test"))
        return options
    }

    @Test func `a verified token names its caller, whichever token it is`() async throws {
        let issuer = TestIssuer()
        let tokens = [try issuer.token("ada"), try issuer.token("ada", #","jti":"2""#)]
        try await GatewayStack.with(Self.options(issuer, tokens)) { stack in
            try await stack.seed(tasks: 3)
            let cursor = try PulledChanges(await stack.sendPull(token: tokens[0])).cursor
            #expect(try await stack.sendPull(cursor, token: tokens[1]).status == 200)
            #expect(try await Self.principals(stack).count == 1)
        }
    }

    @Test func `a token that does not count is refused, leaves nothing, and the log says by which check`() async throws
    {
        let issuer = TestIssuer()
        let (expired, forged) = (try issuer.token("ada", lasting: -100), try TestIssuer().token("ada"))
        let nameless = try issuer.token("", #","name":"x""#)
        // The backend takes all of them: it is the gateway that refuses.
        let tokens = [expired, forged, nameless, "opaque"]
        let options = try await Self.options(issuer, tokens)
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 1)
            for (token, check) in zip(tokens, ["exp", "signature", "claim", "form"]) {
                #expect(try await stack.sendPull(token: token).outcome == "401 identity.token")
                let line = stack.log.lines.last { $0.metadata["check"] == check }
                #expect(line?.metadata["code"] == "identity.token", "\(check)")
            }
            #expect(try await stack.sendPull(token: nil).outcome == "401 request.not_signed_in")
            #expect(try await Self.principals(stack).isEmpty)
            let log = stack.log.lines.map { "\($0.message) \($0.metadata)" }.joined()
            for token in tokens.dropLast() { #expect(!log.contains(token)) }
        }
    }

    @Test func `a token that the backend refuses does not count, whoever has signed it`() async throws {
        let issuer = TestIssuer()
        let token = try issuer.token("ada")
        try await GatewayStack.with(Self.options(issuer, [])) { stack in
            try await stack.seed(tasks: 1)
            #expect(try await stack.sendPull(token: token).outcome == "401 backend.credential")
            #expect(try await Self.principals(stack).isEmpty)
        }
    }

    @Test func `a trusted proxy names the caller, to the backend as well`() async throws {
        let overrides = ["identity.principal": "header:x-jwt-token", "gateway.trusted_proxies": "127.0.0.0/8"]
        try await GatewayStack.with(StackOptions(overrides)) { stack in
            try await stack.seed(tasks: 3)
            let answer = try await stack.sendPull(token: nil, ["X-JWT-Token": "device-a"])
            #expect(answer.status == 200)
            #expect(stack.backend.requests.last { $0.path == "/sync/stream" }?.headers["x-jwt-token"] == "device-a")
            // A name alone makes a caller: two of them are two.
            #expect(try await stack.sendPull(token: nil, ["X-JWT-Token": "device-b"]).status == 200)
            #expect(try await Self.principals(stack).count == 2)
            #expect(try await stack.sendPull().outcome == "401 request.not_signed_in")
            #expect(try await stack.sendPull(token: nil, ["X-JWT-Token": ""]).outcome.hasPrefix("401 "))
            let long = String(repeating: "a", count: 256)
            #expect(try await stack.sendPull(token: nil, ["X-JWT-Token": long]).outcome == "401 identity.header")
            let twice = try await stack.sendPull(token: nil, ["X-JWT-Token": "device-a", "x-jwt-token": "device-b"])
            #expect(twice.outcome == "401 identity.header")
            let passed = try await stack.send("GET", "/users/me", token: nil, ["X-JWT-Token": "device-a"])
            #expect(passed.status == 200)
        }
    }

    @Test func `the name from a proxy is not taken for the token that names a session`() async throws {
        let overrides = [
            "identity.principal": "header:x-jwt-token", "identity.session": "jwt:sid",
            "gateway.trusted_proxies": "127.0.0.0/8",
        ]
        try await GatewayStack.with(Self.options(TestIssuer(), [], overrides)) { stack in
            try await stack.seed(tasks: 1)
            #expect(try await stack.sendPull(token: nil, ["X-JWT-Token": "device-a"]).status == 200)
        }
    }

    @Test func `nobody but a trusted proxy may name a caller, on any path`() async throws {
        let overrides = ["identity.principal": "header:x-jwt-token", "gateway.trusted_proxies": "192.0.2.0/24"]
        try await GatewayStack.with(StackOptions(overrides)) { stack in
            for target in [GatewayStack.pullTarget(), "/users/me"] {
                let answer = try await stack.send("GET", target, token: nil, ["X-JWT-Token": "device-a"])
                #expect(answer.outcome == "403 identity.untrusted_peer", "\(target)")
            }
            #expect(try await stack.sendPull().outcome == "401 request.not_signed_in")
            #expect(stack.backend.requests.allSatisfy { $0.headers["x-jwt-token"] == nil })
            // What passes through without the field goes on as ever.
            #expect(try await stack.send("GET", "/users/me", token: "device-a").status == 200)
        }
    }
}
