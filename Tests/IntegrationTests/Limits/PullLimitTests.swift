// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Locks and limits: what waits, what is refused, and what a client that goes away leaves behind.
@Suite(.timeLimit(.minutes(5))) struct PullLimitTests {
    @Test func `what comes beyond the queue of a session is refused at once and the rest is served`() async throws {
        try await GatewayStack.with(StackOptions(["limits.queue": "1"])) { stack in
            try await stack.seed(tasks: 6)
            let latch = Latch()
            stack.backend.holdStreams(with: latch)
            let outcomes = try await withThrowingTaskGroup(of: RawAnswer.self) { group in
                for _ in 0..<5 { group.addTask { try await stack.sendPull() } }
                var answers: [RawAnswer] = []
                while let answer = try await group.next() {
                    answers.append(answer)
                    if answers.count == 3 { await latch.open() }
                }
                return answers
            }
            #expect(outcomes.prefix(3).map(\.outcome) == Array(repeating: "429 limit.queue", count: 3))
            #expect(outcomes.prefix(3).allSatisfy { $0["Retry-After"] != nil })
            #expect(outcomes.suffix(2).map(\.status) == [200, 200])
        }
    }

    @Test func `who waits too long for a session is told to come back`() async throws {
        try await GatewayStack.with(StackOptions(["limits.queue_wait": "30ms"])) { stack in
            try await stack.seed(tasks: 6)
            let latch = Latch()
            stack.backend.holdStreams(with: latch)
            async let first = stack.sendPull()
            try await eventually { await latch.arrivals == 1 }
            let second = try await stack.sendPull()
            #expect(second.outcome == "503 limit.queue_wait" && second["Retry-After"] != nil)
            await latch.open()
            #expect(try await first.status == 200)
        }
    }

    @Test func `pulls beyond the limit of all clients are refused, and sessions do not wait for each other`()
        async throws
    {
        try await GatewayStack.with(StackOptions(["limits.pulls": "2"])) { stack in
            try await stack.seed(tasks: 6)
            let latch = Latch()
            stack.backend.holdStreams(with: latch)
            async let ada = stack.sendPull()
            async let bob = stack.sendPull(token: "bob-token")
            try await eventually { await latch.arrivals == 2 }
            let third = try await stack.sendPull(token: "device-a")
            #expect(third.outcome == "503 limit.pulls" && third["Retry-After"] != nil)
            await latch.open()
            #expect(try await [ada.status, bob.status] == [200, 200])
            #expect(try await stack.sendPull(token: "device-a").status == 200)
        }
    }

    @Test func `a client that hangs up ends its pull and frees the session`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            stack.backend.inject(.stream { $0.stallAfterLines = 3 })
            let request = stack.http.request("GET", GatewayStack.pullTarget(), headers: GatewayStack.headers())
            try await stack.http.withConnection { connection in
                await connection.write(request)
                try await eventually { stack.backend.count("POST", "/sync/stream") == 1 }
            }
            // The stalled stream would hold the session for the idle timeout of a minute.
            #expect(try await stack.sendPull().status == 200)
            try await eventually {
                stack.syncLines.contains { $0.metadata["code"] == "request.client_gone" }
            }
        }
    }

    @Test func `a client that hangs up while it waits leaves the queue`() async throws {
        try await GatewayStack.with(StackOptions(["limits.queue": "1"])) { stack in
            try await stack.seed(tasks: 6)
            let latch = Latch()
            stack.backend.holdStreams(with: latch)
            async let first = stack.sendPull()
            try await eventually { await latch.arrivals == 1 }
            let request = stack.http.request("GET", GatewayStack.pullTarget(), headers: GatewayStack.headers())
            for _ in 0..<3 {
                let before = stack.syncLines.count
                try await stack.http.withConnection { await $0.write(request) }
                try await eventually { stack.syncLines.count > before }
            }
            async let last = stack.sendPull()
            await latch.open()
            #expect(try await [first.status, last.status] == [200, 200])
        }
    }

    @Test func `a push whose client hangs up is finished`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            stack.backend.inject(DemoFault("POST", "/sync/push", action: .delay(50)))
            let body = Array(PushReceiptTests.created.json.utf8)
            let request = stack.http.request("POST", "/sync", headers: GatewayStack.headers(), body: body)
            try await stack.http.withConnection { connection in
                await connection.write(request)
                try await eventually { stack.backend.count("POST", "/sync/push") == 1 }
            }
            try await eventually { try await stack.backend.records()["tasks"]?["n-1"] != nil }
        }
    }
}

/// Answers that begin before the backend has ended.
@Suite(.timeLimit(.minutes(5))) struct EarlyAnswerTests {
    static let options = StackOptions([
        "pull.first_byte_after": "20ms", "pull.keep_alive_every": "20ms", "backend.idle_timeout": "1s",
        "backend.resume_attempts": "0",
    ])

    @Test(arguments: ["", "gzip"])
    func `a slow pull begins with white space and is JSON all the same`(_ coding: String) async throws {
        try await GatewayStack.with(Self.options) { stack in
            try await stack.seed(tasks: 6)
            let latch = Latch()
            stack.backend.holdStreams(with: latch)
            let request = stack.http.request(
                "GET", GatewayStack.pullTarget(),
                headers: GatewayStack.headers("ada-token", ["Accept-Encoding": coding, "Connection": "close"]))
            let bytes = try await stack.http.withConnection { connection in
                await connection.write(request)
                // The head and some white space, while no line has come yet.
                var early: [UInt8] = []
                let mark = Array("\r\n\r\n".utf8)
                while early.firstRange(of: mark).map({ early.count - $0.upperBound < 20 }) ?? true {
                    early += await connection.bytes()
                }
                await latch.open()
                return early + (await connection.rest())
            }
            let mark = try #require(bytes.firstRange(of: Array("\r\n\r\n".utf8)))
            let head = String(decoding: bytes[..<mark.lowerBound], as: UTF8.self)
            #expect(head.hasPrefix("HTTP/1.1 200") && head.contains("Content-Encoding: gzip") == (coding == "gzip"))
            let (body, isComplete) = dechunked(bytes[mark.upperBound...])
            #expect(isComplete)
            let pulled = try PulledChanges(body: coding == "gzip" ? gunzip(body) : body)
            #expect(pulled.created["tasks"]?.count == 6)
        }
    }

    @Test func `a failure after the first byte cuts the connection`() async throws {
        try await GatewayStack.with(Self.options) { stack in
            try await stack.seed(tasks: 6)
            stack.backend.inject(.stream { $0.stallAfterLines = 3 })
            let cut = try await stack.sendPull()
            #expect(cut.status == 200 && !cut.isComplete)
            #expect(cut.body.allSatisfy { $0 == UInt8(ascii: " ") } && !cut.body.isEmpty)
            #expect(try PulledChanges(await stack.sendPull()).count > 6)
        }
    }

    @Test func `a client of HTTP 1.0 gets no white space and an honest error`() async throws {
        try await GatewayStack.with(Self.options) { stack in
            try await stack.seed(tasks: 6)
            let head = "GET \(GatewayStack.pullTarget()) HTTP/1.0\r\nAuthorization: Bearer ada-token\r\n\r\n"
            func pull() async throws -> RawAnswer {
                try await stack.http.withConnection { connection in
                    await connection.write(Array(head.utf8))
                    return try await connection.answer()
                }
            }
            stack.backend.inject(.stream { $0.stallAfterLines = 3 })
            #expect(try await pull().outcome == "502 backend.stream_broken")
            stack.backend.inject(.stream { $0.delayPerLine = 10 })
            let answer = try await pull()
            #expect(answer.status == 200 && answer.body.first == UInt8(ascii: "{"))
            #expect(answer["Transfer-Encoding"] == nil)
        }
    }
}

/// Pulls that are answered without a stream, or with nothing.
@Suite(.timeLimit(.minutes(5))) struct RepeatedPullTests {
    @Test func `a repeated pull is answered without another stream, under a new cursor`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            let first = try PulledChanges(await stack.sendPull())
            try await stack.change()
            let lost = try PulledChanges(await stack.sendPull(first.cursor))
            let streams = stack.backend.count("POST", "/sync/stream")
            let answer = try await stack.sendPull(first.cursor)
            let again = try PulledChanges(answer)
            #expect(stack.backend.count("POST", "/sync/stream") == streams)
            #expect(again.bringsTheSame(as: lost) && again.cursor != lost.cursor)
            #expect(try await stack.figures(of: answer)["mode"] == "repeated")
            // Another schema version is another pull, and a first one is never answered from what is kept.
            _ = try PulledChanges(await stack.sendPull(first.cursor, version: 2))
            _ = try PulledChanges(await stack.sendPull())
            #expect(stack.backend.count("POST", "/sync/stream") == streams + 2)
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
