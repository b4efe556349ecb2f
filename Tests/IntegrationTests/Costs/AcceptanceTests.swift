// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GRDB
import GatewayTesting
import NIOConcurrencyHelpers
import SQLiteState
import Testing

/// What a pull writes about its session: that the backend has accepted its credential.
@Suite(.timeLimit(.minutes(2))) struct AcceptanceTests {
    /// The transactions and acceptances that the state has written.
    private final class Writes: Sendable {
        private let statements = NIOLockedValueBox<[String]>([])

        /// Adds a statement of the state.
        func add(_ statement: String) { statements.withLockedValue { $0.append(statement) } }

        /// Returns the number of write transactions and of acceptances of one request.
        func during(_ body: () async throws -> Void) async rethrows -> (transactions: Int, acceptances: Int) {
            statements.withLockedValue { $0 = [] }
            try await body()
            let seen = statements.withLockedValue(\.self)
            return (
                seen.count { $0.hasPrefix("BEGIN IMMEDIATE") },
                // Each use of a session is noted in its row, at most once a day; an acceptance, once an hour.
                seen.count { $0.hasPrefix("INSERT INTO entry") && $0.contains("VALUES ($1, 21,") }
            )
        }
    }

    private static func with(
        busyTimeout: Duration = .seconds(5), _ body: (GatewayStack, ManualClock, Writes) async throws -> Void
    ) async throws {
        let (clock, writes) = (ManualClock(), Writes())
        var options = StackOptions([
            "identity.principal": "bearer", "backend.resume_backoff": "5ms", "pull.repeat_window": "0s",
        ])
        options.configuration = try StackConfiguration.withRequestCheckpoints()
        options.clock = ManualWallClock(clock)
        options.state.busyTimeout = busyTimeout
        options.state.trace = { writes.add($0) }
        try await GatewayStack.with(options) { stack in
            try await stack.seed()
            try await body(stack, clock, writes)
        }
    }

    /// A connection of another process, so to say, that may keep the state locked.
    private static func connection(_ stack: GatewayStack) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: stack.directory + "/state.db", configuration: configuration)
    }

    private static func pull(_ stack: GatewayStack, _ status: Int, _ cursor: Int64? = nil) async throws {
        let answer = try await stack.sendPull(cursor)
        #expect(answer.status == status)
    }

    @Test func `a first pull is one transaction, with the acceptance in it`() async throws {
        try await Self.with { stack, _, writes in
            let first = try await writes.during { try await Self.pull(stack, 200) }
            #expect(first == (1, 1))
        }
    }

    @Test func `an acceptance is noted by a pull that fails, once`() async throws {
        try await Self.with { stack, _, writes in
            stack.backend.inject(DemoFault(nil, "/sync/stream", times: 20, action: .stream(.cut(after: 3))))
            let broken = try await writes.during { try await Self.pull(stack, 502) }
            #expect(broken == (1, 1))
            let again = try await writes.during { try await Self.pull(stack, 502) }
            #expect(again == (0, 0))
        }
    }

    @Test func `an acceptance is noted by a pull that brings nothing, once an hour`() async throws {
        try await Self.with { stack, clock, writes in
            let cursor = try await PulledChanges(stack.sendPull()).cursor
            // Confirms the cursor.
            _ = try await stack.sendPull(cursor)
            for (minutes, acceptances) in [(50, 0), (11, 1), (50, 0), (11, 1)] as [(Int64, Int)] {
                clock.advance(byMilliseconds: minutes * 60_000)
                let found = try await writes.during { _ = try await stack.sendPull(cursor) }
                #expect(found.acceptances == acceptances)
            }
        }
    }

    @Test func `an acceptance that cannot be stored fails the pull, and is noted by the next one`() async throws {
        try await Self.with(busyTimeout: .milliseconds(50)) { stack, clock, writes in
            let cursor = try await PulledChanges(stack.sendPull()).cursor
            _ = try await stack.sendPull(cursor)
            clock.advance(byMilliseconds: 61 * 60_000)
            let lock = try Self.connection(stack)
            try await lock.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            let refused = try await stack.sendPull(cursor)
            #expect(refused.status == 503)
            // The line of a request is written when its answer has gone.
            try await eventually { !stack.logged("state.busy").isEmpty }
            try await lock.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            let noted = try await writes.during { try await Self.pull(stack, 200, cursor) }
            #expect(noted.acceptances == 1)
            let again = try await writes.during { try await Self.pull(stack, 200, cursor) }
            #expect(again.acceptances == 0)
        }
    }

    @Test func `a pull that has failed ends with its own error where its acceptance cannot be stored`() async throws {
        try await Self.with(busyTimeout: .milliseconds(50)) { stack, _, writes in
            let lock = try Self.connection(stack)
            try await lock.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            stack.backend.inject(DemoFault(nil, "/sync/stream", times: 20, action: .stream(.cut(after: 3))))
            try await Self.pull(stack, 502)
            try await lock.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            let noted = try await writes.during { try await Self.pull(stack, 502) }
            #expect(noted == (1, 1))
        }
    }
}
