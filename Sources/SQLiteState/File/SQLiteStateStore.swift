// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import GRDB
import NIOConcurrencyHelpers
package import StateStore

/// The state in one SQLite file, for one gateway.
///
/// All access is on GRDB's own queues, one connection for writes and a few for reads, so nothing blocks a thread of
/// the cooperative pool. Reads see the newest commit.
package final class SQLiteStateStore: StateStore {
    /// What the store keeps and how often it writes.
    package let limits: StateLimits
    /// How far cursors run ahead of the clock, as ``acceptClock(at:)`` has left it, in milliseconds.
    package let cursorLead: Int64
    let probe = StateProbe()
    private let pool: DatabasePool
    private let watch: StateWatch
    /// What the store has of the file; nil once it is given back.
    private let hold: NIOLockedValueBox<Hold?>

    /// What a store has of its file.
    enum Hold {
        /// The lock beside it, by its descriptor: the store of a gateway.
        case lock(CInt)
        /// Nothing but a connection, beside the gateway's.
        case connection
    }

    init(
        pool: DatabasePool, file: StateFile, hold: Hold, options: Options
    ) throws {
        cursorLead = try pool.read { try $0.cursorLead() }
        self.pool = pool
        watch = StateWatch(file, report: options.report)
        limits = options.limits
        self.hold = NIOLockedValueBox(hold)
    }

    deinit {
        if case .lock(let descriptor) = hold.withLockedValue({ $0.take() }) { StateFile.unlock(descriptor) }
    }

    var file: StateFile { watch.file }

    /// Where the state is: absolute, without symbolic links.
    package var path: String { file.path }

    /// One consistent read, cancelled with its task.
    func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        do {
            return try await pool.read(inPlace(body))
        } catch {
            throw watch.error(error)
        }
    }

    /// One consistent read that goes on when its task is cancelled, for what decides whether something is written: to
    /// look is a part of the writing then.
    func look<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        let body = inPlace(body)
        return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
            pool.asyncRead { [watch] database in
                let result = Result { try body(database.get()) }
                continuation.resume(with: result.mapError(watch.error))
            }
        }
    }

    /// One transaction, durable when it returns.
    ///
    /// Not GRDB's `async` method, which rolls back when the task is cancelled: a client that hangs up at the wrong
    /// moment must not take back what the backend has been told.
    func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
            beginWriting(body) { continuation.resume(with: $0) }
        }
    }

    /// One transaction that goes on by itself, durable when `end` gets its result.
    func beginWriting<T: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> T, end: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        pool.asyncWrite(inPlace(body)) { [watch] _, result in
            if case .success = result { watch.committed() }
            end(result.mapError(watch.error))
        }
    }

    /// One transaction that is durable with the next one of ``write(_:)``, not before.
    ///
    /// SQLite writes it to the end of the log like any other and leaves out the wait for the disk; the next commit
    /// that waits makes the whole log durable up to itself. Only for what means nothing without a later commit.
    func writeWithoutWaiting<T: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        let body = inPlace(body)
        return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
            pool.asyncWriteWithoutTransaction { [watch] db in
                let result = Result {
                    try db.run("PRAGMA synchronous = NORMAL")
                    defer {
                        let isRestored = (try? db.run("PRAGMA synchronous = FULL")) != nil
                        precondition(isRestored, "a state that cannot promise durability must not go on")
                    }
                    var value: T?
                    try db.inTransaction {
                        value = try body(db)
                        return .commit
                    }
                    guard let value else { throw StateError.failed("a transaction without result") }
                    return value
                }
                continuation.resume(with: result.mapError(watch.error))
            }
        }
    }

    /// Lets a transaction look first whether its file still stands at the path.
    private func inPlace<T>(
        _ body: @escaping @Sendable (Database) throws -> T
    ) -> @Sendable (Database) throws -> T {
        { [watch] db in
            try watch.checkPlace()
            return try body(db)
        }
    }

    /// Reads, and takes the write lock for a moment.
    package func check(thoroughly: Bool) async throws {
        let path = file.path
        try await read { db in
            guard try db.integer("PRAGMA application_id") == SQLiteStateStore.applicationID else {
                throw StateError.notRind(path: path)
            }
            guard thoroughly else { return }
            let problem = try db.row("PRAGMA quick_check(1)")?.text(0)
            guard problem == "ok" else { throw StateError.corrupt(problem ?? "the check gave no result") }
            guard try !db.exists("PRAGMA foreign_key_check") else {
                throw StateError.corrupt("a row names another that is not there")
            }
        }
        // Takes the write lock and gives it back: finds a file that is read-only or held by somebody else.
        try await write { _ in }
    }

    /// Empties the log, closes all connections and gives the lock back; a second call does nothing.
    package func close() async {
        // Whoever takes it out closes; a second time GRDB would hand SQLite a connection that is gone.
        guard let hold = hold.withLockedValue({ $0.take() }) else { return }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [pool] in
                guard case .lock(let descriptor) = hold else {
                    try? pool.close()
                    return continuation.resume()
                }
                // Without this the log stays beside the file until the next start, which is harmless.
                _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
                try? pool.close()
                StateFile.unlock(descriptor)
                continuation.resume()
            }
        }
    }
}
