// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import Testing

/// What the server adds to syncs: codings, web pages, request ids, health, the log.
@Suite(.timeLimit(.minutes(5))) struct ServerAnswerTests {
    @Test func `answers are compressed for those who accept it, and bodies may be compressed`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed()
            let plain = try await stack.sendPull()
            let packed = try await stack.sendPull(nil, ["Accept-Encoding": "br, gzip;q=0.8"])
            #expect(plain["Content-Encoding"] == nil && packed["Content-Encoding"] == "gzip")
            #expect(packed.body.count < plain.body.count / 2 && packed["Vary"]?.contains("Accept-Encoding") == true)
            let (first, second) = (try PulledChanges(plain), try PulledChanges(packed.inflated()))
            #expect(first.bringsTheSame(as: second))
            for refusal in ["identity", "gzip;q=0", "br"] {
                #expect(try await stack.sendPull(nil, ["Accept-Encoding": refusal])["Content-Encoding"] == nil)
            }
            let push = try await stack.send(
                "POST", "/sync", ["Content-Encoding": "gzip"],
                body: try gzip(Array(PushReceiptTests.created.json.utf8)))
            #expect(push.status == 200)
            #expect(try await stack.backend.records()["tasks"]?["n-1"] != nil)
        }
    }

    @Test func `sync answers are kept by nobody on the way`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            for answer in [try await stack.sendPull(), try await stack.sendPush(nil, PushReceiptTests.created)] {
                #expect(answer["Cache-Control"] == "no-store" && answer["X-Accel-Buffering"] == "no")
                #expect(answer["Content-Type"]?.hasPrefix("application/json") == true)
            }
            #expect(try await stack.sendPull(token: nil)["Cache-Control"] == "no-store")
        }
    }

    @Test func `web pages of the configured origins may sync, others may not`() async throws {
        try await GatewayStack.with(StackOptions(["gateway.cors_origins": "https://app.test"])) { stack in
            try await stack.seed(tasks: 6)
            for target in ["/sync", "/users/me"] {
                let asked = try await stack.send(
                    "OPTIONS", target, token: nil,
                    [
                        "Origin": "https://app.test", "Access-Control-Request-Method": "POST",
                        "Access-Control-Request-Headers": "authorization, content-type",
                    ])
                #expect(asked.status == 204 && asked["Access-Control-Allow-Origin"] == "https://app.test")
                #expect(asked["Access-Control-Allow-Methods"]?.contains("POST") == true)
                #expect(asked["Access-Control-Allow-Headers"]?.contains("authorization") == true)
                let stranger = try await stack.send(
                    "OPTIONS", target, token: nil,
                    ["Origin": "https://evil.test", "Access-Control-Request-Method": "POST"])
                #expect(stranger["Access-Control-Allow-Origin"] == nil)
            }
            #expect(stack.backend.requests.isEmpty)
            for origin in ["https://app.test", "https://evil.test"] {
                let allowed = origin == "https://app.test" ? origin : nil
                let pulled = try await stack.sendPull(nil, ["Origin": origin])
                #expect(pulled.status == 200 && pulled["Access-Control-Allow-Origin"] == allowed)
                let passed = try await stack.send("GET", "/users/me", ["Origin": origin])
                #expect(passed["Access-Control-Allow-Origin"] == allowed)
                let failed = try await stack.send("GET", "/sync?last_pulled_at=x", ["Origin": origin])
                #expect(failed.status == 400 && failed["Access-Control-Allow-Origin"] == allowed)
            }
            // A page of another site that uses the cookies of its visitor.
            let forged = try await stack.send(
                "POST", "/sync", token: nil, ["Origin": "https://evil.test", "Cookie": "demo_access_token=ada-token"],
                body: Array(PushReceiptTests.created.json.utf8))
            #expect(forged.outcome == "403 request.origin")
            #expect(stack.backend.count("POST", "/sync/push") == 0)
        }
    }

    @Test func `every request has a name, in the answer, at the backend and in the log`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            let named = try await stack.sendPull(nil, ["X-Request-Id": "trace.4711"])
            #expect(named["X-Request-Id"] == "trace.4711")
            #expect(stack.backend.requests.allSatisfy { $0.headers["x-request-id"] == "trace.4711" })
            let odd = try await stack.sendPull(token: nil, ["X-Request-Id": "two words"])
            let made = try #require(odd["X-Request-Id"])
            #expect(!made.contains(" ") && odd.text.contains(made))
            try await eventually { stack.syncLines.count == 2 }
            #expect(stack.syncLines.map { $0.metadata["request_id"] } == ["trace.4711", made])
        }
    }

    @Test func `each request is one line of the log, without credentials, bodies and queries`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            let cursor = try PulledChanges(await stack.sendPull()).cursor
            _ = try await stack.sendPush(cursor, PushReceiptTests.created)
            _ = try await stack.send("GET", "/users/me?secret=1")
            _ = try await stack.sendPull(cursor, token: "wrong-token")
            func requests() -> [CapturedLog.Line] {
                stack.log.lines.filter { ["sync", "request"].contains($0.message) }
            }
            try await eventually { requests().count == 4 }
            #expect(requests().map { $0.metadata["status"] } == ["200", "200", "200", "401"])
            #expect(requests().map { $0.metadata["mode"] } == ["first", "push", nil, nil])
            let first = requests()[0].metadata
            for name in ["duration_ms", "bytes_out", "records", "lines", "cursor", "replica", "principal"] {
                #expect(first[name] != nil, "\(name)")
            }
            let all = stack.log.lines.map(\.description).joined(separator: "\n")
            for secret in ["ada-token", "wrong-token", "secret=1", "n-1"] { #expect(!all.contains(secret)) }
        }
    }

    @Test func `health is told to anybody, and a state that is gone is not ready`() async throws {
        try await GatewayStack.with { stack in
            for path in ["/livez", "/readyz"] {
                #expect(try await stack.send("GET", path, token: nil).text == "ok\n")
                let head = try await stack.send("HEAD", path, token: nil)
                #expect(head.status == 200 && head.body.isEmpty)
                #expect(try await stack.send("POST", path, token: nil).status == 405)
            }
            try FileManager.default.moveItem(atPath: stack.statePath, toPath: stack.statePath + ".moved")
            #expect(try await stack.send("GET", "/readyz", token: nil).outcome == "503 state.replaced")
            #expect(try await stack.send("GET", "/livez", token: nil).status == 200)
        }
    }
}
