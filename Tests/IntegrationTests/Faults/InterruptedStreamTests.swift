// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import NIOConcurrencyHelpers
import Testing

/// What happens between the gateway and the backend's stream is not the client's concern.
@Suite(.timeLimit(.minutes(5))) struct InterruptedStreamTests {
    /// Something that happens to one stream request, or several.
    struct Interruption: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fault: DemoFault

        init(_ name: String, _ fault: DemoFault) {
            testDescription = name
            self.fault = fault
        }

        /// A stream that goes wrong.
        static func stream(_ name: String, times: Int = 1, _ change: (inout DemoFault.Stream) -> Void) -> Interruption {
            var fault = DemoFault.stream(change)
            fault.times = times
            return Interruption(name, fault)
        }

        /// A request that is not answered with a stream.
        static func request(_ name: String, times: Int = 1, _ action: DemoFault.Action) -> Interruption {
            Interruption(name, DemoFault("POST", "/sync/stream", times: times, action: action))
        }

        static let all: [Interruption] =
            ([0, 1, 2, 3, 9, 40] as [Int]).map { count in
                .stream("cut after \(count) lines") { $0.cutAfterLines = count }
            }
            + ([1, 90, 700, 5_000] as [Int]).map { count in
                .stream("cut after \(count) bytes") { $0.cutAfterBytes = count }
            }
            + ([0, 1, 9] as [Int]).map { count in
                .stream("ended after \(count) lines") { $0.endAfterLines = count }
            }
            + [
                .stream("three cuts in a row", times: 3) { $0.cutAfterLines = 2 },
                .stream("no complete line") { $0.omitsComplete = true },
                .stream("no complete line, three times", times: 3) { $0.omitsComplete = true },
                .stream("silence at once") { $0.stallAfterLines = 0 },
                .stream("silence in the middle") { $0.stallAfterLines = 9 },
                .stream("a drip of lines") { $0.delayPerLine = 3 },
                .request("500", .status(500)), .request("502 twice", times: 2, .status(502)),
                .request("503", .status(503)), .request("503, back in a second", .status(503, retryAfter: 1)),
                .request("429", .status(429)), .request("an answer that never comes", .loseAnswer),
                .request("an answer that comes too late", .delay(10_000)),
            ]
    }

    /// How long the gateway waits for the backend: less than what comes too late, and enough for what is only slow.
    private static let patience = TestRun.isSanitized ? "8s" : "1500ms"

    /// Each request is streamed, so that answers can be compared.
    static let overrides = [
        "backend.idle_timeout": patience, "backend.first_byte_timeout": patience, "backend.resume_backoff": "5ms",
        "pull.repeat_window": "0s",
    ]

    static func options(isCompressed: Bool = false) -> StackOptions {
        var options = StackOptions(overrides)
        options.backend.compresses = isCompressed
        return options
    }

    @Test(arguments: Interruption.all, [true, false])
    func `an interrupted stream is taken up again and the answer is the one without it`(
        _ interruption: Interruption, _ isCompressed: Bool
    ) async throws {
        try await GatewayStack.with(Self.options(isCompressed: isCompressed)) { stack in
            try await stack.seed()
            let whole = try PulledChanges(await stack.sendPull())
            #expect(whole.count > 40 && whole.repeated.isEmpty)

            stack.backend.inject(interruption.fault)
            let first = try PulledChanges(await stack.sendPull())
            #expect(first.bringsTheSame(as: whole))
            stack.backend.clearFaults()

            try await stack.change()
            stack.backend.inject(interruption.fault)
            let later = try PulledChanges(await stack.sendPull(first.cursor))
            stack.backend.clearFaults()
            let undisturbed = try PulledChanges(await stack.sendPull(first.cursor))
            #expect(later.bringsTheSame(as: undisturbed))
            #expect(later.count == 9 && later.deleted == ["tasks": ["t-1", "t-2"]] && later.repeated.isEmpty)

            #expect(try PulledChanges(await stack.sendPull(later.cursor)).isEmpty)
        }
    }

    @Test func `a resumed stream goes on from the tokens that came`() async throws {
        try await GatewayStack.with(Self.options()) { stack in
            try await stack.seed()
            stack.backend.inject(.stream { $0.cutAfterLines = 30 })
            let answer = try await stack.sendPull()
            let streams = stack.backend.requests.filter { $0.path == "/sync/stream" }
            #expect(streams.count == 2)
            // Posted to resume, and never "when done".
            let acks = stack.backend.requests.filter { $0.method == "POST" && $0.path == "/sync/ack" }
            #expect(acks.count == 1)
            let tokens = acks.first?.json?["acks"]?.array?.compactMap(\.string) ?? []
            #expect(tokens.contains { $0.hasPrefix("TaskV2|") })
            #expect(!tokens.contains { $0.hasPrefix("SyncCompleteV1|") })
            #expect(try await stack.figures(of: answer)["resumes"] == "1")
        }
    }

    @Test func `a record that changes between the halves of a stream comes once and new`() async throws {
        try await GatewayStack.with(Self.options()) { stack in
            try await stack.seed()
            let backend = stack.backend
            backend.inject(.stream { $0.cutAfterLines = 20 })
            let isFirst = NIOLockedValueBox(true)
            backend.streamHook = { point in
                // Its line has been made by now; what is written here is for the second half.
                guard point == StreamPoint(request: "TasksV2", part: .deletes) else { return }
                guard
                    isFirst.withLockedValue({ first in
                        defer { first = false }; return first
                    })
                else { return }
                try await backend.edit(.put("projects", ["id": "p-0", "name": "after"]))
            }
            let pulled = try PulledChanges(await stack.sendPull())
            #expect(pulled.repeated.isEmpty)
            #expect(pulled.created["projects"]?["p-0"]?["name"] == "after")
            #expect(try PulledChanges(await stack.sendPull(pulled.cursor)).isEmpty)
        }
    }

    @Test func `lines that come twice, in one stream and in the resumed one, come once`() async throws {
        try await GatewayStack.with(Self.options()) { stack in
            try await stack.seed()
            stack.backend.inject(
                .stream { stream in
                    for line in 0..<20 { stream.malformed[line] = .duplicate }
                    stream.cutAfterLines = 20
                })
            stack.backend.inject(.stream { stream in for line in 0..<20 { stream.malformed[line] = .duplicate } })
            let pulled = try PulledChanges(await stack.sendPull())
            let whole = try PulledChanges(await stack.sendPull())
            #expect(pulled.repeated.isEmpty && pulled.bringsTheSame(as: whole))
        }
    }

    @Test(arguments: [false, true])
    func `a stream that ends without its complete line says so in the log, and where it broke off`(
        hasLine: Bool
    ) async throws {
        try await GatewayStack.with(Self.options()) { stack in
            try await stack.seed(tasks: 6)
            let first = try PulledChanges(await stack.sendPull())
            try await stack.seed(tasks: 8)
            var fault = DemoFault.stream { hasLine ? ($0.omitsLastLineEnd = true) : ($0.omitsComplete = true) }
            fault.times = 99
            stack.backend.inject(fault)
            let answer = try await stack.sendPull(first.cursor)
            #expect(answer.outcome == "502 backend.stream_broken")
            // Whom a failed sync is about.
            let figures = try await stack.figures(of: answer)
            #expect(figures["principal"] != nil && figures["replica"] != nil, "\(figures)")
            #expect(figures["presented"] == "\(first.cursor)")
            let line = try #require(stack.logged(hasLine ? "stream.no_line_end" : "stream.incomplete").first)
            #expect("\(line.level)" == "notice" && line.metadata["call"] == "POST /sync/stream")
            #expect(line.metadata["lines"] != "0" && line.metadata["last_type"] != nil)
            #expect((line.metadata["bytes"] != nil) == hasLine)
        }
    }
}
