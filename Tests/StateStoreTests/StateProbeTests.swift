// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import GRDB
import NIOConcurrencyHelpers
import Testing

@testable import SQLiteState
@testable import StateProbes
@testable import StateStore

@Suite struct StateProbeTests {
    private let start = ContinuousClock.now
    private let limit = Duration.seconds(5)

    /// What the schedule answers, as a word.
    private func word(_ answer: ProbeSchedule<Int>.Answer) -> String {
        switch answer {
        case .begin: "begin"
        case .wait: "wait"
        case .known(let error): error?.code ?? "good"
        }
    }

    @Test func `a result is good for a second, and then made anew by the first who asks`() {
        var schedule = ProbeSchedule<Int>()
        func ask(_ waiter: Int, after seconds: Double) -> String {
            word(schedule.ask(waiter, within: limit, at: start + .seconds(seconds)))
        }
        #expect(ask(1, after: 0) == "begin")
        #expect(ask(2, after: 0.1) == "wait")
        #expect(ask(3, after: 4.9) == "wait")
        #expect(ask(4, after: 5) == "state.slow")
        #expect(schedule.end(.full, at: start + .seconds(6)) == [1, 2, 3])
        #expect(ask(5, after: 6.9) == "state.full")
        #expect(ask(6, after: 7) == "begin")
        #expect(schedule.end(nil, at: start + .seconds(7.5)) == [6])
        #expect(ask(7, after: 8.4) == "good")
        #expect(ask(8, after: 8.5) == "begin")
    }

    @Test func `many who ask at once share one commit`() async throws {
        let statements = Statements()
        try await withSQLite(options: statements.options) { store in
            let begun = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 { group.addTask { try await store.checkWriting(within: .seconds(3_600)) } }
                try await group.waitForAll()
            }
            // One, unless other tests have kept this one waiting for longer than a result is good.
            let count = statements.take().count { $0.contains("number + excluded") }
            #expect((1...1 + Int((ContinuousClock.now - begun) / .seconds(1))).contains(count))
            let value = try sqlite(store.location) {
                try Int.fetchOne($0, sql: "SELECT number FROM entry WHERE key = CAST('probe' AS BLOB)")
            }
            #expect(value == count)
            #expect(try !names(beside: store.location).contains { $0.contains("probe") })
        }
    }

    @Test func `a try that takes too long is slow to those who come meanwhile, and goes on for the others`() async {
        let probe = StateProbe()
        let (begins, begun) = AsyncStream.makeStream(of: Void.self)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        await withTaskGroup { group in
            group.addTask {
                await #expect(throws: StateError.busy) {
                    try await probe.result(within: .seconds(3_600)) {
                        begun.finish()
                        for await _ in ends {}
                        throw StateError.busy
                    }
                }
            }
            for await _ in begins {}
            for limit in [20, 1] {
                await #expect(throws: StateError.slow) {
                    try await probe.result(within: .milliseconds(limit)) { Issue.record("two at the same time") }
                }
            }
            // Whether it waits, or comes when the result is old again.
            group.addTask {
                await #expect(throws: StateError.busy) {
                    try await probe.result(within: .seconds(3_600)) { throw StateError.busy }
                }
            }
            end.finish()
        }
    }

    @Test func `a state that takes no writes fails with its code`() async throws {
        try await withStateFile { path in
            try await withSQLite(path) { _ in }
            try await withShared(path) { store in
                let refused = StateError.readOnly(
                    "SQLite may not write '\(path)' (attempt to write a readonly database)")
                await #expect(throws: refused) { try await store.checkWriting(within: .seconds(3_600)) }
            }
        }
    }
}
