// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import GRDB
import NIOConcurrencyHelpers
import StateProbes
import StateSQL
package import StateStore

/// Keeps the bytes of a state in one SQLite file, for one gateway.
///
/// Access is on GRDB's own queues, one connection for writes and a few for reads, so that nothing blocks a thread of
/// the concurrency runtime; only reads of a few rows run in the caller's thread, on ``ReadersAtHand``. Reads see the
/// newest commit.
package final class SQLiteBytes: ByteStore {
    /// True: changes that wait for the disk together wait once.
    package let commitsInGroups = true
    /// The number of this opening: positions that were stored in another one do not count, since the file may be older
    /// than what the backend has seen (finding 4).
    package let epoch: Int64
    let probe = StateProbe()
    private let pool: DatabasePool
    private let readersAtHand: ReadersAtHand
    private let watch: StateWatch
    /// Nil for a command beside a gateway, which runs only for moments.
    private let counter: CommitCounter?
    private let numbers = NIOLockedValueBox<[RowKind: Int64]>([:])
    private let isSaving = NIOLockedValueBox(false)
    /// The store's hold on the file; nil once the file is released.
    private let hold: NIOLockedValueBox<Hold?>

    /// The kinds of hold that a store has on its file.
    enum Hold {
        /// The lock beside the file, by its descriptor: the store of a gateway.
        case lock(CInt)
        /// Only a connection, beside the gateway's.
        case connection
    }

    init(pool: DatabasePool, file: StateFile, hold: Hold, options: SQLiteStateStore.Options) throws {
        self.pool = pool
        readersAtHand = try ReadersAtHand(path: file.path, configuration: Self.configuration(options))
        self.hold = NIOLockedValueBox(hold)
        if case .lock = hold {
            watch = StateWatch(file, withLog: true, report: options.report)
            (epoch, counter) = (.random(in: 1 ... .max), CommitCounter(path: file.path))
        } else {
            // Commands beside a gateway know no position.
            watch = StateWatch(file, withLog: false, report: options.report)
            (epoch, counter) = (0, nil)
        }
    }

    deinit {
        if case .lock(let descriptor) = hold.withLockedValue({ $0.take() }) { StateFile.unlock(descriptor) }
    }

    /// The path of the state file: absolute, without symbolic links.
    package var path: String { watch.file.path }

    package func load(_ lookups: [Lookup]) async throws -> [[ByteRow]] {
        let body = checkingPath { db in try lookups.map { try db.rows(RowStatement.reading($0)) } }
        return try await reading(lookups.allSatisfy(\.isSmall), body)
    }

    package func chunks(_ numbers: [Int64]) async throws -> [[UInt8]?] {
        try await reading(numbers.count <= 64, checkingPath { db in try numbers.map { try db.chunk($0) } })
    }

    /// Runs one consistent read, in the caller's thread if it is small and a connection is at hand; it goes on when the
    /// task is cancelled, because it may decide whether something is written.
    private func reading<T: Sendable>(
        _ isSmall: Bool, _ body: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        if isSmall {
            do {
                if let result = try await readersAtHand.read(body) { return result }
            } catch {
                throw watch.error(error)
            }
        }
        return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
            pool.asyncRead { [watch] database in
                let result = Result { try body(database.get()) }
                continuation.resume(with: result.mapError(watch.error))
            }
        }
    }

    package func foreignChanges() throws -> Int64? {
        guard let counter else { return nil }
        guard hold.withLockedValue({ $0 != nil }) else { throw StateError.closed }
        do { try checkFiles() } catch { throw watch.error(error) }
        return counter.foreignChanges
    }

    /// The location without secrets, for the operator.
    package var location: String { path }

    package func page(of table: ByteTableName, after key: RowKey?, limit: Int) async throws -> [ByteRow] {
        try await reading(false, checkingPath { db in try db.rows([.page(of: table, after: key, limit: limit)]) })
    }

    package func reserve(_ kind: RowKind, count: Int) async throws -> [Int64] {
        let known = try await load([.row(MetaKey.numbers(of: kind).row)])[0].first?.number ?? 0
        return numbers.withLockedValue { numbers in
            let first = max(known, numbers[kind] ?? 0) + 1
            numbers[kind] = first + Int64(count) - 1
            return Array(first..<first + Int64(count))
        }
    }

    package func commit(_ group: [RowChanges]) async throws -> [CommitOutcome] {
        let isDurable = group.contains(where: \.isDurable)
        let body = checkingPath { [counter] db in
            var (isChanged, isCommitted) = (false, false)
            // A transaction that has changed no row is not counted.
            defer { counter?.end(committed: isChanged && isCommitted) }
            let outcomes = try db.commit {
                counter?.begin()
                let before = db.totalChangesCount
                let outcomes = try group.map(db.make)
                isChanged = db.totalChangesCount != before
                return outcomes
            }
            isCommitted = true
            return outcomes
        }
        return try await writing { db in try isDurable ? body(db) : db.withoutWaiting { try body(db) } }
    }

    /// Runs a transaction even if the task is cancelled: GRDB's own method would roll it back.
    private func writing<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
            pool.asyncWriteWithoutTransaction { [watch] db in
                let result = Result { try body(db) }
                if case .success = result { watch.committed() }
                continuation.resume(with: result.mapError(watch.error))
            }
        }
    }

    /// Makes a transaction check first that its files are still there.
    private func checkingPath<T>(
        _ body: @escaping @Sendable (Database) throws -> T
    ) -> @Sendable (Database) throws -> T {
        { [self] db in
            try checkFiles()
            return try body(db)
        }
    }

    /// Fails if a file of the store is gone.
    ///
    /// What the log has is moved into the file at once then, while nobody else has written: it ends with the process,
    /// which may be killed.
    private func checkFiles() throws(StateError) {
        do throws(StateError) { try watch.checkPath() } catch {
            guard hold.withLockedValue({ $0 != nil }) else { throw .closed }
            if isSaving.withLockedValue({ isSaving in
                defer { isSaving = true }
                return !isSaving
            }) {
                pool.asyncWriteWithoutTransaction { [watch, isSaving] db in
                    if watch.isAlone { _ = try? db.checkpoint(.truncate) }
                    isSaving.withLockedValue { $0 = false }
                }
            }
            throw error
        }
    }

    package func check(thoroughly: Bool) async throws {
        let path = path
        try await reading(
            false,
            checkingPath { db in
                guard try db.integer("PRAGMA application_id") == Self.applicationID else {
                    throw StateError.notRind(path: path)
                }
                guard thoroughly else { return }
                let problem = try String.fetchOne(db, sql: "PRAGMA quick_check(1)")
                guard problem == "ok" else { throw StateError.corrupt(problem ?? "the check gave no result") }
            })
        // Takes and releases the write lock: finds out if the file is read-only or locked by another process.
        _ = try await commit([])
    }

    package func checkWriting(within limit: Duration) async throws {
        try await probe.result(within: limit) {
            do { try watch.file.checkRoom() } catch { throw watch.error(error) }
            var changes = RowChanges()
            changes.increments[MetaKey.probe.row] = 1
            _ = try await commit([changes])
        }
    }

    /// Empties the log, closes all connections and releases the lock; a second call does nothing.
    package func close() async {
        // Only the call that takes the hold closes; a second time GRDB would hand SQLite a connection that is gone.
        guard let hold = hold.withLockedValue({ $0.take() }) else { return }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                readersAtHand.close()
                if case .lock(let descriptor) = hold {
                    closeAlone()
                    StateFile.unlock(descriptor)
                } else {
                    try? pool.close()
                }
                continuation.resume()
            }
        }
    }

    /// The number of times that what a lost log had is tried to be moved into the file, each for `busyTimeout`.
    private static let attempts = 4

    private func closeAlone() {
        guard watch.isAlone else {
            // SQLite would remove a log that another program has begun. The process ends soon.
            _ = Unmanaged.passRetained(self)
            return
        }
        var isEmptied = false
        let isWhole = watch.isWhole
        for _ in 0..<(isWhole ? 1 : Self.attempts) where !isEmptied {
            isEmptied = (try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }) != nil
        }
        // Otherwise the log stays beside the file until the next start, which is harmless.
        if !isWhole, !isEmptied { _ = watch.error(StateError.corrupt("what a lost '-wal' had is not in the file")) }
        try? pool.close()
        counter?.release()
    }
}

extension Lookup {
    /// True if the rows are few, whatever the state holds.
    fileprivate var isSmall: Bool {
        switch self {
        case .row, .replica, .named, .newestCursor: true
        case .rows(_, _, _, _, let limit), .numbered(_, _, _, let limit, _), .all(_, _, _, let limit, _),
            .principals(_, let limit):
            limit <= 100
        case .count: false
        }
    }
}
