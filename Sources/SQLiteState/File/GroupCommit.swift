// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import NIOConcurrencyHelpers

/// Commits the writes that wait for each other in one transaction, so that they wait for the disk once, together.
///
/// Each write has a savepoint of its own: one that fails changes nothing and leaves the others as they are. If the
/// transaction as a whole cannot be committed, each write is tried once more in a transaction of its own, so that every
/// caller gets the result of its own write. A write that comes while no other is waiting is a transaction of its own,
/// too, without a savepoint.
///
/// Every write that is added must be followed by one call of ``run(in:)`` on the connection's queue. Such a call takes
/// all that is waiting, so that the calls which belong to the others find nothing to do. Writes keep their order.
final class GroupCommit: Sendable {
    /// One call's changes; they may be carried out twice, but never both times with success.
    struct Write: Sendable {
        /// Makes the changes; returns what delivers their result once they are durable.
        let body: @Sendable (Database) throws -> @Sendable () -> Void
        /// Delivers the error to the caller.
        let fail: @Sendable (any Error) -> Void
    }

    /// The most writes of a group.
    private static let limit = 64
    /// The time after which a group takes no further write: those that are in it wait for its commit.
    private static let patience = Duration.milliseconds(10)

    private let waiting = NIOLockedValueBox<[Write]>([])

    /// Adds a write that waits for the next group.
    func add(_ write: Write) { waiting.withLockedValue { $0.append(write) } }

    /// Commits the writes that are waiting.
    func run(in db: Database) {
        let writes = waiting.withLockedValue { waiting in
            defer { waiting.removeFirst(min(waiting.count, Self.limit)) }
            return waiting.prefix(Self.limit)
        }
        guard writes.count > 1 else { return writes.forEach { runAlone($0, in: db) } }
        guard let done = try? db.commit({ try attempt(writes, in: db) }) else {
            return writes.forEach { runAlone($0, in: db) }
        }
        if done.count < writes.count {
            // Their own calls of this function are still to come.
            waiting.withLockedValue { $0.insert(contentsOf: writes.dropFirst(done.count), at: 0) }
        }
        for deliver in done { deliver() }
    }

    private func runAlone(_ write: Write, in db: Database) {
        do {
            try db.commit { try write.body(db) }()
        } catch {
            write.fail(error)
        }
    }

    /// Makes the changes of the first few writes, until the group's patience ends.
    ///
    /// - Returns: What delivers the result of each.
    /// - Throws: An error after which the transaction is gone, or cannot go on.
    private func attempt(_ writes: ArraySlice<Write>, in db: Database) throws -> [@Sendable () -> Void] {
        let begin = ContinuousClock.now
        var done: [@Sendable () -> Void] = []
        for write in writes where done.isEmpty || ContinuousClock.now - begin < Self.patience {
            try db.run("SAVEPOINT one_write")
            do {
                done.append(try write.body(db))
            } catch {
                // Throws if SQLite has rolled back the whole transaction by itself, as it does if the disk is full.
                try db.run("ROLLBACK TRANSACTION TO SAVEPOINT one_write")
                done.append { write.fail(error) }
            }
            try db.run("RELEASE SAVEPOINT one_write")
        }
        return done
    }
}
