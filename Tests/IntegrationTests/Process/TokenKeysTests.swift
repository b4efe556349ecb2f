// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import NIOConcurrencyHelpers
import Testing

/// Where `rind serve` takes the keys of tokens from.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"))
struct TokenKeysTests {
    private static func pull(_ gateway: GatewayProcess, _ token: String) async throws -> String {
        try await gateway.http.send(
            "GET", GatewayStack.pullTarget(), headers: GatewayStack.headers(token)
        ).outcome
    }

    private static func with(
        _ keys: String, tokens: [String], files: [String: String] = [:],
        _ body: (GatewayProcess, String) async throws -> Void
    ) async throws {
        var options = StackOptions()
        options.backend.accounts[0].tokens += tokens
        try await GatewayStack.withBackend(options) { backend, directory in
            for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: "\(directory)/\(name)")) }
            let url = try await backend.url
            let overrides = [
                "identity.principal": "jwt:sub", "identity.session": "jwt:sub", "admin.listen": "127.0.0.1:0",
                "identity.jwt_keys": keys.replacing("DIR", with: directory),
            ]
            try await GatewayProcess.with(backend: url, directory: directory, overrides: overrides) {
                try await body($0, directory)
            }
        }
    }

    @Test func `keys from a URL are there soon after the start, and a new one with its first token`() async throws {
        let (old, new) = (TestIssuer(), TestIssuer())
        let tokens = [try old.token("ada"), try new.token("ada", id: "two")]
        let answer = NIOLockedValueBox<String?>(nil)
        try await LoopbackServer.run { peer in
            while let request = try await peer.readRequest() {
                #expect(request.line == "GET /keys HTTP/1.1" && !request.head.lowercased().contains("authorization"))
                let text = answer.withLockedValue { $0 }
                try await peer.answer(text ?? "", status: text == nil ? "503 Unavailable" : "200 OK")
            }
        } _: { issuer in
            try await Self.with("\(issuer.url)/keys", tokens: tokens) { gateway, _ in
                // The gateway starts without its issuer, and signs nobody out for that.
                #expect(try await Self.pull(gateway, tokens[0]) == "503 identity.keys")
                _ = try await gateway.line(with: "could not be fetched", "status 503", issuer.url)
                answer.withLockedValue { $0 = old.jwks() }
                try await eventually { try await Self.pull(gateway, tokens[0]) == "200" }
                #expect(try await Self.pull(gateway, tokens[1]) == "401 identity.token")
                answer.withLockedValue { $0 = new.jwks("two") }
                try await eventually { try await Self.pull(gateway, tokens[1]) == "200" }
                #expect(try await Self.pull(gateway, tokens[0]) == "401 identity.token")
                let metrics = try await gateway.admin().send("GET", "/metrics").text
                #expect(metrics.contains("\nrind_token_keys_age_seconds "))
                #expect(!gateway.log.contains(tokens[0]))
                gateway.send(SIGTERM)
                #expect(try await gateway.end() == 0)
            }
        }
    }

    @Test func `after a reload the metrics are those of the keys in use, and fetched keys count on`() async throws {
        let issuer = TestIssuer()
        let isAway = NIOLockedValueBox(false)
        try await LoopbackServer.run { peer in
            while try await peer.readRequest() != nil {
                let status = isAway.withLockedValue { $0 } ? "503 Unavailable" : "200 OK"
                try await peer.answer(issuer.jwks(), status: status)
            }
        } _: { server in
            var options = StackOptions()
            options.backend.accounts[0].tokens.append(try issuer.token("ada"))
            let token = try #require(options.backend.accounts[0].tokens.last)
            try await GatewayStack.withBackend(options) { backend, directory in
                try await GatewayProcess.with(
                    backend: try await backend.url, directory: directory, overrides: ["admin.listen": "127.0.0.1:0"]
                ) { gateway in
                    func reload(_ identity: String) async throws {
                        let text = try StackConfiguration.quickstart()
                            .replacing(#/(?m)^principal = .*$/#, with: identity)
                        try Data(text.utf8).write(to: URL(filePath: "\(directory)/rind.ini"), options: .atomic)
                        gateway.send(SIGHUP)
                    }
                    func hasAge() async throws -> Bool {
                        let metrics = try await gateway.admin().send("GET", "/metrics").text
                        return metrics.contains("\nrind_token_keys_age_seconds ")
                    }
                    #expect(try await !hasAge())
                    let identity = "principal = jwt:sub\nsession = jwt:sub\njwt_keys = \(server.url)/keys"
                    try await reload(identity)
                    try await eventually { try await hasAge() }
                    #expect(try await Self.pull(gateway, token) == "200")
                    isAway.withLockedValue { $0 = true }
                    try await reload(identity + "\njwt_leeway = 61s\njwt_refresh = 10s")
                    try await eventually { gateway.log.components(separatedBy: "config.reloaded").count > 2 }
                    #expect(try await Self.pull(gateway, token) == "200")
                    try await reload("principal = bearer")
                    try await eventually { try await !hasAge() }
                }
            }
        }
    }

    @Test func `a reload takes keys from a file that has changed, and keeps them where it is broken`() async throws {
        let (old, new) = (TestIssuer(), TestIssuer())
        let tokens = [try old.token("ada"), try new.token("ada")]
        try await Self.with("DIR/keys", tokens: tokens, files: ["keys": old.pem]) { gateway, directory in
            #expect(try await Self.pull(gateway, tokens[0]) == "200")
            let file = URL(filePath: "\(directory)/keys")
            try Data("garbage".utf8).write(to: file)
            gateway.send(SIGHUP)
            let line = try await gateway.line(with: "identity.keys", "\(directory)/keys", #""level":"error""#)
            #expect(line.contains("neither PEM nor a JWKS"))
            _ = try await gateway.line(with: "config.not_reloaded")
            #expect(try await Self.pull(gateway, tokens[0]) == "200")
            try Data(new.jwks().utf8).write(to: file)
            gateway.send(SIGHUP)
            _ = try await gateway.line(with: "config.reloaded")
            #expect(try await Self.pull(gateway, tokens[1]) == "200")
            #expect(try await Self.pull(gateway, tokens[0]) == "401 identity.token")
        }
    }

    @Test func `a start without usable keys in its file ends, and says why`() async throws {
        do {
            try await Self.with("DIR/keys", tokens: [], files: ["keys": "{}"]) { _, _ in }
            Issue.record("it started")
        } catch GatewayProcess.Failure.ended(let status, let said) {
            #expect(status == 78 && said.contains("/keys") && said.contains("identity.keys"), "\(said)")
        }
    }
}
