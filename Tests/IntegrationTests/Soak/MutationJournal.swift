// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// What a course of mutated exchanges has come to, shared by its workers.
final class MutationJournal: Sendable {
    /// What a worker does just now.
    struct UnderWay: Sendable {
        var number: Int
        var began: ContinuousClock.Instant
        var exchange: MutatedExchange
        /// How many calls to the backend were made for it.
        var calls = 0
        /// What was done to the answers of the backend.
        var answers: [String] = []
    }

    private struct State {
        var underWay: [Int: UnderWay] = [:]
        var outcomes: [String: Int] = [:]
        var done = 0
        var failures: [String] = []
        var isClosed = false
    }

    private let seed: UInt64
    private let state = NIOLockedValueBox(State())

    /// The course's seed is told with each failure.
    init(seed: UInt64) { self.seed = seed }

    /// How many exchanges are through.
    var done: Int { state.withLockedValue(\.done) }
    /// What went wrong, in words for reading; the first few.
    var failures: [String] { state.withLockedValue(\.failures) }

    /// What comes now comes from the end of the course, and is no failure.
    func close() { state.withLockedValue { $0.isClosed = true } }

    /// How often exchanges ended how.
    var summary: String {
        state.withLockedValue(\.outcomes).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
    }

    func begin(_ number: Int, _ exchange: MutatedExchange, worker: Int) {
        let underWay = UnderWay(number: number, began: .now, exchange: exchange)
        state.withLockedValue { $0.underWay[worker] = underWay }
    }

    func end(_ outcomes: [String], worker: Int) {
        state.withLockedValue { state in
            state.underWay[worker] = nil
            state.done += 1
            for outcome in outcomes { state.outcomes[outcome, default: 0] += 1 }
        }
    }

    /// The backend is called: by whose exchange, and as the how many-th.
    func call(worker: Int) -> (number: Int, call: Int)? {
        state.withLockedValue { state in
            guard let underWay = state.underWay[worker] else { return nil }
            state.underWay[worker]?.calls += 1
            return (underWay.number, underWay.calls)
        }
    }

    /// The backend's answer goes to the gateway like this.
    func note(_ answer: RelayedAnswer, to request: RelayedRequest, worker: Int) {
        let shown = MutatedExchange(kind: "", pieces: [answer.bytes], methods: []).shown
        let text = "\(request.method) \(request.target) → \(shown.prefix(1_500)) then \(answer.ending)"
        state.withLockedValue { $0.underWay[worker]?.answers.append(text) }
    }

    /// Something is wrong with what a worker does just now.
    func fail(_ what: String, worker: Int) {
        state.withLockedValue { state in
            guard !state.isClosed, state.failures.count < 10, let underWay = state.underWay[worker] else { return }
            let answers = underWay.answers.map { "\n    backend: \($0)" }.joined()
            state.failures.append(
                """
                \(what)
                    seed \(seed), request \(underWay.number), \(underWay.exchange.kind), \(underWay.exchange.ending)
                    bytes: \(underWay.exchange.shown)\(answers)
                    again: RIND_TEST_SEED=\(seed) RIND_TEST_MUTATION=\(underWay.number) \
                swift test --filter MutatedExchangeTests
                """)
        }
    }

    /// Something is wrong that is no exchange's.
    func fail(_ what: String) {
        state.withLockedValue { state in
            guard !state.isClosed, state.failures.count < 10 else { return }
            let numbers = state.underWay.values.map(\.number).sorted()
            state.failures.append(
                """
                \(what)
                    seed \(seed), after \(state.done) requests; under way: \(numbers)
                    again: RIND_TEST_SEED=\(seed) RIND_TEST_MUTATIONS=\(state.done + 100) \
                swift test --filter MutatedExchangeTests
                """)
        }
    }

    /// Reports whoever has been at it for longer than any exchange may take.
    func failSlow(after limit: Duration) -> Bool {
        let now = ContinuousClock.now
        let slow = state.withLockedValue { $0.underWay.filter { now - $0.value.began > limit }.keys.sorted() }
        for worker in slow { fail("no end within \(limit)", worker: worker) }
        return !slow.isEmpty
    }
}
