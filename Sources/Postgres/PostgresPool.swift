// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Logging
import NIOCore
import Threads

/// Runs transactions on a few connections to a PostgreSQL server.
///
/// One thread of its own waits for all connections, and others for as long as names are resolved and connections are
/// opened or cancelled; no call blocks its task. Nothing depends on a session, so a pooler such as pgbouncer in
/// transaction mode may stand in between. While the server is away, calls wait until their limits.
package final class PostgresPool: Sendable {
    /// The connection string without secrets, for the log.
    package let info: ConnectionInfo
    private let mailbox: Mailbox
    private let thread: DedicatedThread

    private init(info: ConnectionInfo, mailbox: Mailbox, thread: DedicatedThread) {
        self.info = info
        self.mailbox = mailbox
        self.thread = thread
    }

    /// Starts the thread; connections are opened when they are needed.
    ///
    /// - Parameters:
    ///   - settings: The settings.
    ///   - logger: Receives the server's notices, at debug.
    ///   - jitter: Draws a number between 0 and 1 for each pause between failed attempts to connect.
    /// - Returns: The pool.
    /// - Throws: ``PostgresError/invalidSettings``, or ``PostgresError/system(_:)`` if there is no thread for it.
    package static func start(
        _ settings: PostgresSettings, logger: Logger,
        jitter: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) throws(PostgresError) -> PostgresPool {
        let info = try ConnectionInfo(settings.conninfo)
        guard let mailbox = Mailbox() else { throw .system("no descriptors are left") }
        let thread = DedicatedThread.start {
            let notices = NoticeReceiver(logger: logger)
            PoolLoop(info, settings: settings, mailbox: mailbox, notices: notices, jitter: jitter).run()
        }
        guard let thread else { throw .system("no thread could be started") }
        return PostgresPool(info: info, mailbox: mailbox, thread: thread)
    }

    deinit {
        // An owner that forgets the shutdown leaves no thread behind; after a shutdown this does nothing.
        mailbox.post(.stop)
        thread.detach()
    }

    /// Refuses new transactions with ``PostgresError/closed``, lets the running ones finish, and closes the connections.
    ///
    /// Calling it again is harmless.
    package func shutdown() async {
        mailbox.post(.stop)
        await thread.join()
    }

    /// Runs one statement in a transaction of its own: one round trip.
    ///
    /// - Parameters:
    ///   - statement: The statement.
    ///   - mode: The kind of transaction, which also says whether a cancellation ends it.
    ///   - limit: The longest time for everything, the wait for a connection included.
    /// - Returns: The result.
    /// - Throws: ``PostgresError``, or `CancellationError` if a read was cancelled.
    package func query(
        _ statement: PostgresStatement, _ mode: PostgresMode, within limit: Duration
    ) async throws -> PostgresResult {
        try await pipeline([statement], mode, within: limit).first ?? PostgresResult()
    }

    /// Runs statements in one transaction: one round trip.
    ///
    /// - Parameters:
    ///   - statements: The statements; if one fails, none has had an effect.
    ///   - mode: The kind of transaction, which also says whether a cancellation ends it.
    ///   - limit: The longest time for everything, the wait for a connection included.
    /// - Returns: The results, one for each statement.
    /// - Throws: ``PostgresError``, or `CancellationError` if a read was cancelled.
    package func pipeline(
        _ statements: [PostgresStatement], _ mode: PostgresMode, within limit: Duration
    ) async throws -> [PostgresResult] {
        try await withTransaction(mode, within: limit) { transaction in
            try await transaction.commit(statements)
        }
    }

    /// Runs a transaction whose statements depend on each other: one round trip for each call of `body`, and one for
    /// the COMMIT of a write that does not end with ``PostgresTransaction/commit(_:)``.
    ///
    /// If `body` throws, the transaction is rolled back. A write is not ended by the cancellation of its task: its
    /// statements go on, and only `body` itself may look at the cancellation. It must not wait for anything else
    /// meanwhile: the transaction holds a connection and locks until its limit has passed.
    ///
    /// - Parameters:
    ///   - mode: The kind of transaction.
    ///   - limit: The longest time for everything, the wait for a connection included.
    ///   - body: Uses the transaction, which cannot leave it.
    /// - Returns: The result of `body`, after the COMMIT.
    /// - Throws: ``PostgresError``, the error of `body`, or `CancellationError` if a read was cancelled.
    package func withTransaction<R>(
        _ mode: PostgresMode, within limit: Duration,
        _ body: (inout PostgresTransaction) async throws -> R
    ) async throws -> R {
        var transaction = PostgresTransaction(mode, deadline: .now() + TimeAmount(limit), mailbox: mailbox)
        let result: R
        do {
            result = try await body(&transaction)
        } catch {
            transaction.rollBack()
            throw error
        }
        try await transaction.end()
        return result
    }
}
