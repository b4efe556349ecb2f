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
            // Before anybody is identified, so that a refusal costs little.
            #expect(try await stack.sendPull(token: nil).outcome == "503 limit.pulls")
            await latch.open()
            #expect(try await [ada.status, bob.status] == [200, 200])
            #expect(try await stack.sendPull(token: "device-a").status == 200)
            #expect(try await stack.sendPull(token: nil).status == 401)
        }
    }

    @Test func `pulls of one user leave permits for those of others`() async throws {
        try await GatewayStack.with(StackOptions(["limits.pulls": "4"])) { stack in
            try await stack.seed(tasks: 6)
            let latch = Latch()
            stack.backend.holdStreams(with: latch)
            async let first = stack.sendPull()
            async let second = stack.sendPull(token: "device-a")
            try await eventually { await latch.arrivals == 2 }
            let third = try await stack.sendPull(token: "device-b")
            #expect(third.outcome == "503 limit.pulls" && third["Retry-After"] != nil)
            async let bob = stack.sendPull(token: "bob-token")
            try await eventually { await latch.arrivals == 3 }
            await latch.open()
            #expect(try await [first.status, second.status, bob.status] == [200, 200, 200])
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
