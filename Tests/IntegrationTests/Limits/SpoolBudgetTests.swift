// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Gateway
import GatewayTesting
import Testing

/// What answers hold until they are sent or dropped, with real sockets and clients that do not read.
@Suite(.timeLimit(.minutes(5)), .disabled(if: TestRun.isSanitized, "a sanitizer takes too long for its timeouts"))
struct SpoolBudgetTests {
    private static let rows = 24_000
    private static let mebibyte = 1 << 20

    /// A type of many rows before a gateway with one place for pulls and little room for answers.
    private static func options(_ overrides: [String: String] = [:]) throws -> StackOptions {
        let usual = [
            "limits.pulls": "1", "pull.first_byte_after": "0s", "spool.memory": "64KiB", "spool.max": "24MiB",
            "spool.memory_total": "8MiB", "spool.disk_total": "48MiB", "pull.max_line": "1MiB",
            // Streams that are kept for repeats would hold what tests count.
            "pull.repeat_window": "0s",
        ]
        var options = StackOptions(usual.merging(overrides) { $1 })
        options.configuration =
            try StackConfiguration.quickstart() + """

                [table bulk]
                request = BulkTasksV1
                upsert = BulkTaskV1
                [columns bulk]
                name = string
                note = string
                position = number
                created_at = timestamp createdAt readonly
                project_id = string projectId
                """
        options.backend.bulkRows = rows
        options.backend.accounts[0].tokens += ["device-c", "device-d"]
        return options
    }

    private static func request(_ stack: GatewayStack, _ token: String) -> [UInt8] {
        stack.http.request(
            "GET", GatewayStack.pullTarget(), headers: GatewayStack.headers(token, ["Connection": "close"]))
    }

    @Test func `clients that do not read hold no more than answers may, and others are served`() async throws {
        try await GatewayStack.with(Self.options()) { stack in
            let refused = try await withThrowingTaskGroup(of: Void.self) { group -> [RawAnswer] in
                let latch = Latch()
                var refused: [RawAnswer] = []
                for token in ["ada-token", "device-a", "device-b", "device-c"] {
                    let (begun, beginning) = AsyncStream.makeStream(of: [UInt8].self)
                    group.addTask {
                        try await stack.http.withConnection { connection in
                            await connection.write(Self.request(stack, token))
                            beginning.yield(await connection.bytes())
                            await latch.pass()
                        }
                    }
                    let head = String(decoding: await begun.first { _ in true } ?? [], as: UTF8.self)
                    if !head.hasPrefix("HTTP/1.1 200") { refused.append(try await stack.sendPull(token: token)) }
                    let held = stack.gateway.spooled
                    #expect(held.disk <= 24 * Self.mebibyte && held.memory <= 4 * Self.mebibyte)
                }
                #expect(stack.gateway.spooled.disk > 8 * Self.mebibyte)
                // One user's clients do not stand in the way of another one.
                let other = try await stack.sendPull(token: "bob-token")
                #expect(other.status == 200 && other.isComplete && other.body.count > 8 * Self.mebibyte)
                await latch.open()
                try await group.waitForAll()
                return refused
            }
            #expect(refused.count >= 1)
            #expect(refused.allSatisfy { $0.outcome == "503 limit.spool" && $0["Retry-After"] == "30" })
            try await eventually { stack.gateway.spooled == (0, 0) }
            #expect(try await stack.sendPull(token: "device-d").status == 200)
        }
    }

    /// Room for a whole answer in memory.
    private static func roomyOptions() throws -> StackOptions {
        try options([
            "spool.memory": "16MiB", "spool.memory_total": "64MiB", "spool.disk_total": "64MiB",
        ])
    }

    @Test func `the answer of a client that does not read leaves the memory, and is whole when it does`() async throws {
        try await GatewayStack.with(Self.roomyOptions()) { stack in
            try await stack.http.withConnection { connection in
                await connection.write(Self.request(stack, "ada-token"))
                try await eventually {
                    let held = stack.gateway.spooled
                    return held.disk > 8 * Self.mebibyte && held.memory <= Self.mebibyte / 4
                }
                let answer = try await connection.answer()
                #expect(answer.status == 200 && answer.isComplete)
                #expect(try PulledChanges(answer).created["bulk"]?.count == Self.rows)
            }
            try await eventually { stack.gateway.spooled == (0, 0) }
        }
    }

    @Test func `a client that goes before it reads leaves nothing behind`() async throws {
        try await GatewayStack.with(Self.roomyOptions()) { stack in
            try await stack.http.withConnection { connection in
                await connection.write(Self.request(stack, "ada-token"))
                try await eventually { stack.gateway.spooled.disk > 8 * Self.mebibyte }
            }
            try await eventually { stack.gateway.spooled == (0, 0) }
        }
    }

    @Test func `an answer that would never fit is not worth another try`() async throws {
        try await GatewayStack.with(Self.options(["spool.max": "8MiB", "spool.disk_total": "8MiB"])) { stack in
            let answer = try await stack.sendPull()
            #expect(answer.outcome == "500 spool.too_large" && answer["Retry-After"] == nil)
            try await eventually { stack.gateway.spooled == (0, 0) }
        }
    }

    @Test func `a stream kept for a repeat goes when its time is over, though nobody pulls`() async throws {
        try await GatewayStack.with(StackOptions(["pull.repeat_window": "2s"])) { stack in
            // Less is simply streamed again.
            try await stack.seed(tasks: 1_500)
            _ = try PulledChanges(await stack.sendPull())
            #expect(stack.gateway.spooled.memory > 0)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await stack.gateway.dropExpired() }
                group.addTask { try? await eventually { stack.gateway.spooled == (0, 0) } }
                _ = await group.next()
                group.cancelAll()
            }
            #expect(stack.gateway.spooled == (0, 0))
        }
    }
}
