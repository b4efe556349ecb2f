// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// A transaction that is under way, on a connection of its own from its first statement on.
///
/// It cannot be copied or leave its closure, and each call borrows it exclusively, so two calls at once do not compile.
/// After an error it takes no more statements: PostgreSQL would refuse them.
package struct PostgresTransaction: ~Copyable {
    private enum State {
        case new
        case open(connection: UInt64)
        case failed
        case ended
    }

    /// Statements that come before all others and with the COMMIT, whose results nobody gets; set before the first call.
    package var frame: (first: [PostgresStatement], last: [PostgresStatement]) = ([], [])
    private let mode: PostgresMode
    private let deadline: NIODeadline
    private let mailbox: Mailbox
    private var state = State.new

    init(_ mode: PostgresMode, deadline: NIODeadline, mailbox: Mailbox) {
        self.mode = mode
        self.deadline = deadline
        self.mailbox = mailbox
    }

    /// Runs one statement: one round trip, together with the BEGIN if it is the first.
    package mutating func query(_ statement: PostgresStatement) async throws -> PostgresResult {
        try await pipeline([statement]).first ?? PostgresResult()
    }

    /// Runs statements that do not depend on each other: one round trip, together with the BEGIN if they are the first.
    ///
    /// - Returns: The results, one for each statement.
    package mutating func pipeline(_ statements: [PostgresStatement]) async throws -> [PostgresResult] {
        try await run(statements, commits: false)
    }

    /// Runs the last statements together with the COMMIT: one round trip.
    ///
    /// The transaction takes no more statements.
    ///
    /// - Returns: The results, one for each statement.
    /// - Throws: ``PostgresError/outcomeUnknown(_:)`` if the connection ends meanwhile, besides what any call throws.
    package mutating func commit(_ statements: [PostgresStatement] = []) async throws -> [PostgresResult] {
        try await run(statements, commits: true)
    }

    /// Commits a write that its closure has left open; a read just ends.
    mutating func end() async throws {
        switch (state, mode) {
        case (.open, .readWrite), (.open, .snapshotWrite): _ = try await run([], commits: true)
        case (.failed, .readWrite), (.failed, .snapshotWrite): throw PostgresError.rolledBack
        default: rollBack()
        }
    }

    /// Gives the transaction up, without waiting for the server.
    mutating func rollBack() {
        if case .open(let connection) = state { mailbox.post(.rollBack(connection: connection)) }
        state = .ended
    }

    private mutating func run(_ statements: [PostgresStatement], commits: Bool) async throws -> [PostgresResult] {
        var connection: UInt64?
        var first: [PostgresStatement] = []
        switch state {
        case .new: first = frame.first
        case .open(let held): connection = held
        case .failed: throw PostgresError.rolledBack
        case .ended: preconditionFailure("a statement follows the COMMIT of its transaction")
        }
        // Before anything has changed, so that the connection is given back.
        if mode == .readOnly { try Task.checkCancellation() }
        // Until the outcome is known. An error leaves it so: the pool's thread has given the connection back already.
        state = .failed
        let last = commits ? frame.last : []
        let job = Job(
            id: mailbox.makeJobID(), mode: mode, connection: connection, statements: first + statements + last,
            commits: commits, deadline: deadline, reply: Reply())
        let output = try await Self.output(of: job, from: mailbox)
        state = commits ? .ended : .open(connection: output.connection)
        return Array(output.results.dropFirst(first.count).dropLast(last.count))
    }

    private static func output(of job: Job, from mailbox: Mailbox) async throws -> Job.Output {
        // Posted before a cancellation handler is set, so that a cancellation always comes after it.
        if !mailbox.post(.run(job)) { job.reply.resolve(.failure(PostgresError.closed)) }
        guard job.mode == .readOnly else { return try await job.reply.value() }
        return try await withTaskCancellationHandler {
            try await job.reply.value()
        } onCancel: {
            job.reply.resolve(.failure(CancellationError()))
            mailbox.post(.cancel(job: job.id))
        }
    }
}
