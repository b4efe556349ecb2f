// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Decides which job gets which connection, and when another one is opened.
///
/// Connections are opened one at a time, and only while a job waits. As long as the server cannot be reached, jobs wait
/// until their deadlines, and attempts follow each other with growing pauses. A refused password fails the waiting jobs
/// at once, since time does not mend it.
struct PoolMachine {
    /// The next thing to do.
    enum Action: Hashable {
        case open
        case assign(job: UInt64, connection: UInt64)
        case fail(job: UInt64, PostgresError)
        case close(connection: UInt64)
    }

    private struct Waiter {
        let job: UInt64
        let deadline: NIODeadline
    }

    private enum Opening {
        case no
        case running
        case pausing(until: NIODeadline)
    }

    private let maximumConnections: Int
    private let maximumWaiting: Int
    private let backoff: Backoff
    private var waiting: [Waiter] = []
    private var idle: [UInt64] = []
    private var busy: Set<UInt64> = []
    private var opening = Opening.no
    /// The last failures in a row to open a connection.
    private var failures: (count: Int, last: PostgresError)?
    private var isClosed = false

    init(_ settings: PostgresSettings) {
        maximumConnections = max(1, settings.maximumConnections)
        maximumWaiting = settings.maximumWaiting
        backoff = settings.backoff
    }

    /// The time of the next ``tick(at:)``; nil if nothing waits for time to pass.
    var wake: NIODeadline? {
        guard let first = waiting.map(\.deadline).min() else { return nil }
        if case .pausing(let end) = opening { return min(first, end) }
        return first
    }

    /// Gives a job a connection until ``release(_:)`` or ``remove(_:at:)``, or lets it wait for one.
    mutating func request(job: UInt64, deadline: NIODeadline, at now: NIODeadline) -> [Action] {
        guard !isClosed else { return [.fail(job: job, .closed)] }
        // The one used last, so that the others grow old together.
        if let connection = idle.popLast() { return [assign(connection, to: job)] }
        guard waiting.count < maximumWaiting else { return [.fail(job: job, .queueFull)] }
        waiting.append(Waiter(job: job, deadline: deadline))
        return openIfNeeded(at: now)
    }

    /// Forgets a waiting job.
    mutating func cancel(job: UInt64) { waiting.removeAll { $0.job == job } }

    /// Takes the connection that was opened.
    mutating func opened(_ connection: UInt64, at now: NIODeadline) -> [Action] {
        opening = .no
        failures = nil
        return release(connection) + openIfNeeded(at: now)
    }

    /// Notes that no connection could be opened, and pauses before the next attempt.
    mutating func failed(_ error: PostgresError, at now: NIODeadline, jitter: Double) -> [Action] {
        let count = (failures?.count ?? 0) + 1
        failures = (count, error)
        opening = .pausing(until: now + TimeAmount(backoff.pause(afterFailures: count, jitter: jitter)))
        switch error {
        case .authentication where total == 0, .invalidSettings where total == 0: return failAll(error)
        default: return []
        }
    }

    /// Takes back a connection that can be used again.
    mutating func release(_ connection: UInt64) -> [Action] {
        busy.remove(connection)
        if isClosed { return [.close(connection: connection)] }
        guard !waiting.isEmpty else {
            idle.append(connection)
            return []
        }
        return [assign(connection, to: waiting.removeFirst().job)]
    }

    /// Forgets a connection that has ended, whether it was in use or not.
    mutating func remove(_ connection: UInt64, at now: NIODeadline) -> [Action] {
        busy.remove(connection)
        idle.removeAll { $0 == connection }
        return openIfNeeded(at: now)
    }

    /// Fails the jobs that have waited for too long, and opens a connection if a pause is over.
    mutating func tick(at now: NIODeadline) -> [Action] {
        let expired = waiting.filter { $0.deadline <= now }
        waiting.removeAll { $0.deadline <= now }
        return expired.map { .fail(job: $0.job, lateness) } + openIfNeeded(at: now)
    }

    /// Refuses jobs from now on, and closes each connection as soon as it is free.
    mutating func close() -> [Action] {
        isClosed = true
        defer { idle = [] }
        return failAll(.closed) + idle.map { .close(connection: $0) }
    }

    /// The number of connections that are open, or whose end is not known yet.
    private var total: Int { idle.count + busy.count }

    /// The error of a job that has waited for too long.
    private var lateness: PostgresError {
        if total > 0 { return .timeout(.pool) }
        return failures?.last ?? .unreachable("the server did not answer in time")
    }

    private mutating func assign(_ connection: UInt64, to job: UInt64) -> Action {
        busy.insert(connection)
        return .assign(job: job, connection: connection)
    }

    private mutating func failAll(_ error: PostgresError) -> [Action] {
        defer { waiting = [] }
        return waiting.map { .fail(job: $0.job, error) }
    }

    private mutating func openIfNeeded(at now: NIODeadline) -> [Action] {
        if case .running = opening { return [] }
        if case .pausing(let end) = opening, end > now { return [] }
        guard !isClosed, !waiting.isEmpty, total < maximumConnections else { return [] }
        opening = .running
        return [.open]
    }
}
