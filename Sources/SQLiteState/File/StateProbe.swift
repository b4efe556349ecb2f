// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import StateStore

/// Tries something at most once a second and never twice at the same time, however many callers ask for the result.
final class StateProbe: Sendable {
    private let schedule = NIOLockedValueBox(ProbeSchedule<Waiter>())

    private typealias Waiter = AsyncStream<StateError?>.Continuation

    /// Gives the newest result, or waits for the one that is being made.
    ///
    /// - Parameters:
    ///   - limit: How long to wait; then the result is ``StateError/slow``.
    ///   - attempt: Begins a try, and calls its argument once when the try is over, even if nobody waits any more.
    /// - Throws: ``StateError``, or `CancellationError`.
    func result(
        within limit: Duration, _ attempt: (@escaping @Sendable (StateError?) -> Void) -> Void
    ) async throws {
        let (results, waiter) = AsyncStream.makeStream(of: StateError?.self, bufferingPolicy: .bufferingNewest(1))
        switch schedule.withLockedValue({ $0.ask(waiter, within: limit, at: .now) }) {
        case .known(let error):
            if let error { throw error }
            return
        case .begin:
            attempt { [schedule] error in
                for waiter in schedule.withLockedValue({ $0.end(error, at: .now) }) {
                    waiter.yield(error)
                    waiter.finish()
                }
            }
        case .wait: break
        }
        if let error = try await Self.first(of: results, within: limit) { throw error }
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

/// Decides what a caller that asks for a result gets: the last one, the next one, or the task of making it.
struct ProbeSchedule<Waiter: Sendable>: Sendable {
    /// How long a result is good.
    static var interval: Duration { .seconds(1) }

    /// What the caller has to do.
    enum Answer {
        /// Nothing: this is the result.
        case known(StateError?)
        /// Make one, then wait for it like the others.
        case begin
        /// Wait for the one that is being made.
        case wait
    }

    private var last: (error: StateError?, at: ContinuousClock.Instant)?
    private var begun: ContinuousClock.Instant?
    private var waiters: [Waiter] = []

    /// A caller asks; its waiter is kept unless the result is known.
    mutating func ask(_ waiter: Waiter, within limit: Duration, at now: ContinuousClock.Instant) -> Answer {
        if let begun {
            // So only those who come within the limit are kept, however long the try hangs.
            guard now - begun < limit else { return .known(.slow) }
            waiters.append(waiter)
            return .wait
        }
        if let last, now - last.at < Self.interval { return .known(last.error) }
        begun = now
        waiters.append(waiter)
        return .begin
    }

    /// The try is over.
    ///
    /// - Returns: The waiters that get its result.
    mutating func end(_ error: StateError?, at now: ContinuousClock.Instant) -> [Waiter] {
        last = (error, now)
        begun = nil
        defer { waiters = [] }
        return waiters
    }
}
