// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import StateStore

/// Makes an attempt at most once a second and never two at the same time, however many callers ask for the result.
package final class StateProbe: Sendable {
    private let schedule = NIOLockedValueBox(ProbeSchedule<Waiter>())

    /// Creates a probe that has made no attempt yet.
    package init() {}

    private typealias Waiter = AsyncStream<StateError?>.Continuation

    /// Returns the newest result, or makes an attempt in the caller's task, or waits for the one in progress.
    ///
    /// - Parameters:
    ///   - limit: The longest wait for another caller's attempt; after it the result is ``StateError/slow``.
    ///   - attempt: Makes an attempt, which has the same limit, and goes on when the task is cancelled.
    /// - Throws: ``StateError``, or `CancellationError`.
    package func result(within limit: Duration, attempting attempt: () async throws -> Void) async throws {
        let (results, waiter) = AsyncStream.makeStream(of: StateError?.self, bufferingPolicy: .bufferingNewest(1))
        switch schedule.withLockedValue({ $0.ask(waiter, within: limit, at: .now) }) {
        case .known(let error): if let error { throw error }
        case .wait: if let error = try await Self.first(of: results, within: limit) { throw error }
        case .begin:
            var failure: StateError?
            do { try await attempt() } catch { failure = error as? StateError ?? .failed("\(type(of: error))") }
            end(failure)
            if let failure { throw failure }
        }
    }

    private func end(_ error: StateError?) {
        for waiter in schedule.withLockedValue({ $0.end(error, at: .now) }) {
            waiter.yield(error)
            waiter.finish()
        }
    }

    private static func first(of results: AsyncStream<StateError?>, within limit: Duration) async throws -> StateError?
    {
        try await withThrowingTaskGroup(of: StateError?.self) { group in
            group.addTask {
                for await result in results { return result }
                throw CancellationError()
            }
            group.addTask {
                try await Task.sleep(for: limit)
                return .slow
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}

/// Decides what a caller that asks for a result does: take the last one, wait for the next one, or make it.
struct ProbeSchedule<Waiter: Sendable>: Sendable {
    /// The time for which a result stays valid.
    static var interval: Duration { .seconds(1) }

    /// The caller's next step.
    enum Answer {
        /// None: this is the result.
        case known(StateError?)
        /// Make an attempt, then wait for its result like the others.
        case begin
        /// Wait for the attempt in progress.
        case wait
    }

    private var last: (error: StateError?, at: ContinuousClock.Instant)?
    private var begun: ContinuousClock.Instant?
    private var waiters: [Waiter] = []

    /// Answers a caller that asks; its waiter is kept unless the result is known.
    mutating func ask(_ waiter: Waiter, within limit: Duration, at now: ContinuousClock.Instant) -> Answer {
        if let begun {
            // So only callers that come within the limit are kept, however long the attempt hangs.
            guard now - begun < limit else { return .known(.slow) }
            waiters.append(waiter)
            return .wait
        }
        if let last, now - last.at < Self.interval { return .known(last.error) }
        begun = now
        waiters.append(waiter)
        return .begin
    }

    /// Ends the attempt.
    ///
    /// - Returns: The waiters that get its result.
    mutating func end(_ error: StateError?, at now: ContinuousClock.Instant) -> [Waiter] {
        last = (error, now)
        begun = nil
        defer { waiters = [] }
        return waiters
    }
}
