// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// What moves checkpoints is out of reach, however its path is written.
@Suite(.timeLimit(.minutes(5))) struct DeniedPathTests {
    static let spellings = [
        "/sync/stream", "/sync/stream/", "/sync/ack", "/sync/PUSH", "/sync/push/more", "/sync/stream?x=1",
        "/sync//stream", "/sync/./ack",
        "/sync/x/../stream", "/x/../sync/ack", "/%73ync/stream", "/sync/%61ck", "/sync%2Fstream", "/sync%2fack",
        "/sync%252Fstream", "/SYNC/Stream", "/sync/stream;x=1", "/sync;y/stream", "/sync/%2e%2e/sync/ack",
        "/sync/stream/more", "/sync/stream%00", "/./sync/stream", "/sync/%2e/ack", "/sync\\ack", "/sync/ack#x",
        "/%2e%2e/sync/ack",
    ]

    @Test(arguments: ["GET", "POST", "DELETE", "PUT"])
    func `the backend's sync calls are refused in every spelling`(_ method: String) async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            let cursor = try PulledChanges(await stack.sendPull()).cursor
            let held = try await stack.backend.checkpoints(token: "ada-token")
            stack.backend.clearRequests()
            for target in Self.spellings {
                let answer = try await stack.send(method, target, body: method == "GET" ? [] : Array("{}".utf8))
                let codes = ["403 proxy.denied", "400 proxy.ambiguous_target", "400 request.target"]
                #expect(codes.contains(answer.outcome), "\(target): \(answer)")
            }
            #expect(stack.backend.requests.map(\.path) == [])
            #expect(try await stack.backend.checkpoints(token: "ada-token") == held)
            #expect(try PulledChanges(await stack.sendPull(cursor)).isEmpty)
        }
    }

    @Test func `paths that the operator denies are refused with all below them`() async throws {
        try await GatewayStack.with(StackOptions(["backend.denied_paths": "/users, /files/{name}"])) { stack in
            for target in ["/users/me", "/users", "/USERS/me", "/files/5.bin", "/files/x/../5.bin"] {
                let status = try await stack.send("GET", target).status
                #expect([400, 403].contains(status), "\(target)")
            }
            #expect(try await stack.send("POST", "/files", body: [1]).status == 201)
        }
    }

    @Test(arguments: [
        "http://127.0.0.1/users/me", "HTTP://evil.test/sync", "//evil.test/users/me", "evil.test:443", "*", "users/me",
        "", "/users/me\u{7f}", "/us ers/me",
    ])
    func `targets that are no path are refused`(_ target: String) async throws {
        try await GatewayStack.with { stack in
            for method in ["GET", "CONNECT", "POST"] {
                let answer = try await stack.send(method, target)
                // Without any target the line can be taken for one of HTTP/0.9.
                #expect([400, target.isEmpty ? 505 : 400].contains(answer.status), "\(method) \(target): \(answer)")
            }
            #expect(stack.backend.requests.isEmpty)
            #expect(try await stack.send("GET", "/livez").status == 200)
        }
    }
}
