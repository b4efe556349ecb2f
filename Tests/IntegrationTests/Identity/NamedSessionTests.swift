// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Sessions that have a name of their own.
@Suite(.timeLimit(.minutes(5))) struct NamedSessionTests {
    private static func cookies(_ other: String) -> [String: String] {
        ["Cookie": "demo_access_token=device-a; other=\(other)"]
    }

    @Test(arguments: [("", "other_session"), ("cookie:demo_access_token", nil)] as [(String, String?)])
    func `a cookie that changes beside the session's makes no new session where that one is named`(
        _ session: String, _ restart: String?
    ) async throws {
        try await GatewayStack.with(StackOptions(["identity.session": session])) { stack in
            try await stack.seed(tasks: 3)
            let cursor = try PulledChanges(await stack.sendPull(token: nil, Self.cookies("1"))).cursor
            let answer = try await stack.sendPull(cursor, token: nil, Self.cookies("2"))
            #expect(try await stack.figures(of: answer)["restart"] == restart)
            #expect(try PulledChanges(answer).isEmpty)
        }
    }

    @Test func `two tokens with one name are one session, and without it the credential is`() async throws {
        try await GatewayStack.with(StackOptions(["identity.session": "header:x-device"])) { stack in
            try await stack.seed(tasks: 3)
            let name = ["X-Device": "phone"]
            let cursor = try PulledChanges(await stack.sendPull(token: "device-a", name)).cursor
            let named = try await stack.sendPull(cursor, token: "device-b", name)
            #expect(try await stack.figures(of: named)["restart"] == nil)
            for fields in [[:], ["X-Device": String(repeating: "a", count: 300)], ["X-Device": "tablet"]] {
                let other = try await stack.sendPull(cursor, token: "device-b", fields)
                #expect(try await stack.figures(of: other)["restart"] == "other_session")
            }
        }
    }

    @Test func `a name that stands for two sessions of the backend loses nothing`() async throws {
        let options = StackOptions(["identity.session": "header:x-device", "pull.repeat_window": "0s"])
        try await GatewayStack.with(options) { stack in
            // A stream of which a part has never brought anything leaves the position unknown.
            var seed = DemoSeed()
            (seed.projects, seed.tasks, seed.comments, seed.tags, seed.taskTags) = (2, 10, 4, 2, 0)
            try await stack.backend.seed(seed)
            let name = ["X-Device": "phone"]
            func pull(_ cursor: Int64?, _ token: String) async throws -> PulledChanges {
                try PulledChanges(await stack.sendPull(cursor, version: 2, token: token, name))
            }
            let first = try await pull(nil, "device-a").cursor
            try await stack.backend.edit(.put("projects", ["id": "p-new", "name": "new"]))
            let second = try await pull(first, "device-a").cursor
            stack.backend.clearRequests()
            _ = try await pull(second, "device-a")
            #expect(stack.backend.count("GET", "/sync/ack") == 0, "the position is not known")
            // The other session moves to the first cursor; the position that is stored then is not that of the first.
            _ = try await pull(first, "device-b")
            let restored = try await stack.sendPull(first, version: 2, token: "device-a", name)
            #expect(restored.text.contains("p-new"))
        }
    }
}
