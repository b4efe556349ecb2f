// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import NIOConcurrencyHelpers

/// A copy of the backend's database as it was at a moment.
package struct DemoBackup: Sendable {
    let store: DemoStore
}

// Copies of the database: backups, and replicas that streams are read from, as many products read theirs.
extension DemoBackend {
    /// Copies the database.
    package func backUp() throws -> DemoBackup {
        var memory = configuration
        memory.file = nil
        let copy = try DemoStore(configuration: memory, clock: clock)
        try store.queue.backup(to: copy.queue)
        return DemoBackup(store: copy)
    }

    /// Puts a backup in place of all that is in the database, sessions and their checkpoints included.
    package func restore(_ backup: DemoBackup) throws { try backup.store.queue.backup(to: store.queue) }

    /// Reads all streams from a replica that stays as the database is now, until ``catchUp()``.
    ///
    /// Writes, and the checkpoints of sessions, go to the database itself.
    package func fallBehind() throws {
        let copy = try backUp().store
        replica.withLockedValue { $0 = copy }
    }

    /// Reads streams from the database itself again.
    package func catchUp() { replica.withLockedValue { $0 = nil } }

    /// Returns the database that a stream of a session is read from, with the session's present checkpoints.
    func streamStore(of session: String) async throws -> DemoStore {
        guard let replica = replica.withLockedValue(\.self) else { return store }
        try await store.copySession(session, to: replica)
        return replica
    }

    /// Keeps the positions that a stream from a replica has reached by itself.
    func keepPositions(of session: String, from streamed: DemoStore) async throws {
        guard streamed.queue !== store.queue else { return }
        try await streamed.copySession(session, to: store)
    }
}

extension DemoStore {
    /// Gives a session the checkpoints that it has in this database.
    fileprivate func copySession(_ session: String, to other: DemoStore) async throws {
        let (checkpoints, isPendingReset) = try await write { db in
            let sql = "SELECT is_pending_reset FROM sessions WHERE id = ?"
            return (
                try Checkpoints.all(of: session, in: db),
                try Bool.fetchOne(db, sql: sql, arguments: [session]) ?? false
            )
        }
        try await other.write { db in
            try Checkpoints.clear(session, in: db)
            try db.execute(
                sql: "UPDATE sessions SET is_pending_reset = ? WHERE id = ?", arguments: [isPendingReset, session])
            for (type, ack) in checkpoints { try Checkpoints.set(ack, type: type, of: session, in: db) }
        }
    }
}
