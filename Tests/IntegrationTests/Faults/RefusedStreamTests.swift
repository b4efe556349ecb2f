// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Streams that do not begin, or break too often.
@Suite(.timeLimit(.minutes(5))) struct RefusedStreamTests {
    /// What the backend says, and what the client hears of it.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let path: String
        let action: DemoFault.Action
        var times = 20
        let outcome: String
        var retryAfter: String?

        var testDescription: String { "\(path) \(action)" }

        private static func stream(
            _ action: DemoFault.Action, _ outcome: String, retryAfter: String? = nil
        ) -> Refusal {
            Refusal(path: "/sync/stream", action: action, outcome: outcome, retryAfter: retryAfter)
        }

        static let all: [Refusal] = [
            .stream(.status(401), "401 backend.credential"),
            .stream(.status(403), "403 backend.credential"),
            .stream(.status(429, retryAfter: 7), "429 backend.busy", retryAfter: "7"),
            .stream(.status(503, retryAfter: 30), "503 backend.busy", retryAfter: "30"),
            .stream(.status(400), "502 backend.refused"),
            .stream(.status(404), "502 backend.refused"),
            .stream(.status(302), "502 backend.status"),
            .stream(.status(500), "502 backend.stream_broken", retryAfter: "5"),
            .stream(.loseAnswer, "502 backend.stream_broken", retryAfter: "5"),
            .stream(.stream(.cut(after: 0)), "502 backend.stream_broken", retryAfter: "5"),
            .stream(.stream(.cut(after: 3)), "502 backend.stream_broken", retryAfter: "5"),
            Refusal(path: "/users/me", action: .status(401), outcome: "401 backend.credential"),
            Refusal(path: "/users/me", action: .status(403), outcome: "403 backend.credential"),
            Refusal(
                path: "/users/me", action: .status(429, retryAfter: 3), outcome: "429 backend.busy", retryAfter: "3"),
            Refusal(path: "/users/me", action: .status(500), outcome: "502 backend.failed", retryAfter: "5"),
            Refusal(path: "/users/me", action: .status(404), outcome: "502 backend.refused"),
            Refusal(path: "/users/me", action: .loseAnswer, outcome: "502 backend.closed", retryAfter: "5"),
        ]
    }

    @Test(arguments: Refusal.all)
    func `a pull that the backend does not serve is an honest error and changes nothing`(
        _ refusal: Refusal
    ) async throws {
        // Who is calling is asked anew each time.
        let overrides = ["identity.auth_ttl": "0s", "backend.resume_backoff": "5ms", "pull.repeat_window": "0s"]
        try await GatewayStack.with(StackOptions(overrides)) { stack in
            try await stack.seed()
            let fault = DemoFault(nil, refusal.path, times: refusal.times, action: refusal.action)

            stack.backend.inject(fault)
            let first = try await stack.sendPull()
            #expect(first.outcome == refusal.outcome)
            #expect(first["Retry-After"] == refusal.retryAfter)
            #expect(first.isComplete && !first.text.isEmpty && !first.text.contains("told to fail"))
            stack.backend.clearFaults()
            let whole = try PulledChanges(await stack.sendPull())

            try await stack.change()
            let before = try stack.clientState()
            stack.backend.inject(fault)
            let later = try await stack.sendPull(whole.cursor)
            // Once the call has worked, it is the account that is not there.
            let isGone = refusal.path == "/users/me" && refusal.outcome == "502 backend.refused"
            #expect(later.outcome == (isGone ? "401 identity.gone" : refusal.outcome))
            stack.backend.clearFaults()
            #expect(try stack.clientState() == before)
            let changes = try PulledChanges(await stack.sendPull(whole.cursor))
            #expect(changes.count == 9 && changes.deleted == ["tasks": ["t-1", "t-2"]])
        }
    }

    /// A device whose tokens the backend is about to refuse, with changes that it lacks.
    private static func withChange(
        _ overrides: [String: String] = [:], _ body: (GatewayStack, inout StackDevice) async throws -> Void
    ) async throws {
        var options = StackOptions(["pull.repeat_window": "0s"].merging(overrides) { $1 })
        options.configuration = try StackConfiguration.withRequestCheckpoints()
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 12)
            var device = try await stack.quietDevices()[0]
            try await stack.change()
            try await body(stack, &device)
        }
    }

    @Test(arguments: [400, 404, 410])
    func `a stream that only tries a credential is tried without tokens, too`(status: Int) async throws {
        let bearer = ["identity.principal": "bearer", "identity.auth_ttl": "0s"]
        try await Self.withChange(bearer) { stack, device in
            try device.model.create("tasks", id: "n", ["name": "mine", "project_id": "p-0"])
            stack.backend.inject(DemoFault(nil, "/sync/stream", action: .status(status)))
            let before = stack.backend.count("POST", "/sync/stream")
            try await device.push()
            #expect(stack.backend.count("POST", "/sync/stream") == before + 2)
            let last = stack.backend.requests.last { $0.path == "/sync/stream" }
            #expect(last?.body.contains(#""checkpoints":{}"#) == true, "\(last?.body ?? "")")
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test func `a refusal of tokens that names their types stops no device`() async throws {
        try await Self.withChange { stack, device in
            let types = "ProjectsV2, TasksV2, CommentsV1, TagsV1, TaskTagsV1"
            stack.backend.inject(
                DemoFault(nil, "/sync/stream", action: .status(400, message: "unknown tokens of \(types)")))
            let answer = try await device.sync().pull
            #expect(try await stack.figures(of: answer)["restart"] == "refused_tokens")
            try await stack.expectEqual(device)
        }
    }

    @Test(arguments: [400, 410, 412, 422])
    func `tokens that are refused with the request of the stream stop no device`(status: Int) async throws {
        try await Self.withChange { stack, device in
            stack.backend.inject(DemoFault(nil, "/sync/stream", action: .status(status)))
            let answer = try await device.sync().pull
            #expect(try await stack.figures(of: answer)["restart"] == "refused_tokens")
            #expect(stack.logged("backend.tokens_refused").count == 1)
            try await stack.expectEqual(device)
            // What is refused without tokens, too, is about something else.
            stack.backend.inject(DemoFault(nil, "/sync/stream", times: 2, action: .status(status)))
            #expect(try await device.pullLosingAnswer().outcome == "502 backend.refused")
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }
}

extension DemoFault.Stream {
    static func cut(after lines: Int) -> DemoFault.Stream {
        var stream = DemoFault.Stream()
        stream.cutAfterLines = lines
        return stream
    }
}
