// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import GRDB
import NIOConcurrencyHelpers
import StateProbes
package import StateStore
import SyncModel

/// Stores the state in one SQLite file, for one gateway.
///
/// Access is on GRDB's own queues, one connection for writes and a few for reads, so that nothing blocks a thread of the
/// concurrency runtime; only reads of a few rows run in the caller's thread, on ``ReadersAtHand``. Reads see the newest
/// commit.
package final class SQLiteStateStore: StateStore {
    /// The limits on what the store keeps and how often it writes.
    package let limits: StateLimits
    /// The lead of cursors over the clock, as ``acceptClock(at:)`` has left it, in milliseconds.
    package let cursorLead: Int64
    let probe = StateProbe()
    private let pool: DatabasePool
    private let group = GroupCommit()
    private let readersAtHand: ReadersAtHand
    private let watch: StateWatch
    /// The store's hold on the file; nil once the file is released.
    private let hold: NIOLockedValueBox<Hold?>

    /// The kinds of hold that a store has on its file.
    enum Hold {
        /// The lock beside the file, by its descriptor: the store of a gateway.
        case lock(CInt)
        /// Only a connection, beside the gateway's.
        case connection
    }

    init(
        pool: DatabasePool, file: StateFile, hold: Hold, options: Options
    ) throws {
        cursorLead = try pool.read { try $0.cursorLead() }
        self.pool = pool
        readersAtHand = try ReadersAtHand(
            path: file.path, configuration: Self.configuration(options), count: options.readersAtHand)
        watch = StateWatch(file, report: options.report)
        limits = options.limits
        self.hold = NIOLockedValueBox(hold)
    }

    deinit {
        if case .lock(let descriptor) = hold.withLockedValue({ $0.take() }) { StateFile.unlock(descriptor) }
    }

    var file: StateFile { watch.file }

    /// The path of the state file: absolute, without symbolic links.
    package var path: String { file.path }

    /// Runs one consistent read, cancelled with its task.
    func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        do {
            return try await pool.read(checkingPath(body))
        } catch {
            throw watch.error(error)
        }
    }

    /// Runs one consistent read of a few rows, in the caller's thread if a connection is at hand.
    func readFew<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try Task.checkCancellation()
        if let result = try await readAtHand(body) { return result }
        return try await read(body)
    }

    /// Runs a ``readForWrite(_:)`` of a few rows, in the caller's thread if a connection is at hand.
    func readFewForWrite<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        if let result = try await readAtHand(body) { return result }
        return try await readForWrite(body)
    }

    /// Runs a read of rows that few principals have, if a look at hand finds that this one has some; otherwise nil.
    ///
    /// The condition is one on a principal `p`, and `number` the value of its parameter, if there is one.
    func readSeldom<T: Sendable>(
        of principal: Principal, where condition: String, _ number: Int64? = nil,
        reading body: @escaping @Sendable (Database, Int64) throws -> T
    ) async throws -> T? {
        let owner = try await readFew { db in
            try db.integer(
                "SELECT p.id FROM principal p WHERE p.digest = ? AND \(condition)",
                [key(principal.rawValue, "principal")] + (number.map { [$0] } ?? []))
        }
        guard let owner else { return nil }
        return try await read { try body($0, owner) }
    }

    private func readAtHand<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T? {
        do { return try await readersAtHand.read(checkingPath(body)) } catch { throw watch.error(error) }
    }

    /// Runs one consistent read that continues when its task is cancelled, because it decides whether something is
    /// written: such a read is a part of the write.
    func readForWrite<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        let body = checkingPath(body)
        return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
            pool.asyncRead { [watch] database in
                let result = Result { try body(database.get()) }
                continuation.resume(with: result.mapError(watch.error))
            }
        }
    }

    /// Makes changes that are all or nothing, durable when the method returns; others may share their transaction.
    ///
    /// Does not use GRDB's `async` method, which rolls back when the task is cancelled: a client that hangs up at the
    /// wrong moment must not undo what the backend has accepted.
    func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
            beginWriting(body) { continuation.resume(with: $0) }
        }
    }

    /// Starts a ``write(_:)`` and returns; it is durable when `end` gets its result.
    func beginWriting<T: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> T, end: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        let body = checkingPath(body)
        let write = GroupCommit.Write { [watch] db in
            let value = try body(db)
            return {
                watch.committed()
                end(.success(value))
            }
        } fail: { [watch] error in
            end(.failure(watch.error(error)))
        }
        group.add(write)
        pool.asyncWriteWithoutTransaction { [group] db in group.run(in: db) }
    }

    /// Runs one transaction that becomes durable only with the next ``write(_:)``.
    ///
    /// SQLite writes it to the end of the log like any other but does not wait for the disk; the next commit that waits
    /// makes the whole log durable up to itself. Only for writes that mean nothing without a later commit.
    func writeWithoutWaiting<T: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        let body = checkingPath(body)
        return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
            pool.asyncWriteWithoutTransaction { [watch] db in
                let result = Result { try db.withoutWaiting { try db.commit { try body(db) } } }
                continuation.resume(with: result.mapError(watch.error))
            }
        }
    }

    /// Makes a transaction check first that its file is still at the path.
    private func checkingPath<T>(
        _ body: @escaping @Sendable (Database) throws -> T
    ) -> @Sendable (Database) throws -> T {
        { [watch] db in
            try watch.checkPath()
            return try body(db)
        }
    }

    /// Checks the state by a read, and by taking the write lock for a moment.
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
        // Takes and releases the write lock: finds out if the file is read-only or locked by another process.
        try await write { _ in }
    }

    /// Empties the log, closes all connections and releases the lock; a second call does nothing.
    package func close() async {
        // Only the call that takes the hold closes; a second time GRDB would hand SQLite a connection that is gone.
        guard let hold = hold.withLockedValue({ $0.take() }) else { return }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [pool, readersAtHand] in
                readersAtHand.close()
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
