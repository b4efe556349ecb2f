// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
package import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Reads the context by a few key look-ups and those of the ledger, in one read transaction.
    package func pullContext(
        principal: Principal, session: Session, presented: SyncModel.Cursor?
    ) async throws -> StoredPullContext {
        try await readFew { try $0.pullContext(of: principal, session, at: presented) }
    }

    /// Reads first, and takes the write lock only if there is something to write.
    package func confirm(principal: Principal, cursor: SyncModel.Cursor, at now: Instant) async throws {
        let interval = limits.touchInterval
        let isNews = try await readFewForWrite { db in
            let found = try db.confirmation(of: cursor, principal)
            return found.isNews || isDue(now, after: found.lastSeen, interval)
        }
        guard isNews else { return }
        try await write { db in
            let found = try db.confirmation(of: cursor, principal)
            if found.isNews {
                try db.run(
                    "UPDATE cursor SET confirmed = 1 WHERE principal = ? AND cursor = ?",
                    [found.principal, cursor.rawValue])
                try db.run(
                    "UPDATE replica SET confirmed = 1, tip = ? WHERE id = ?", [cursor.rawValue, found.replica])
            }
            try db.run("UPDATE replica SET last_seen = max(last_seen, ?) WHERE id = ?", [now, found.replica])
        }
    }

    /// Returns the last entry of an index, or the greatest cursor of the principals that were forgotten.
    package func newestCursor() async throws -> SyncModel.Cursor? {
        try await read { db in
            let collected = try db.integer("SELECT value FROM meta WHERE key = 'newest_collected'") ?? 0
            return SyncModel.Cursor(rawValue: max(collected, try db.integer("SELECT max(newest) FROM principal") ?? 0))
        }
    }
}

/// Reads the rows that pulls need.
extension Database {
    fileprivate func pullContext(
        of principal: Principal, _ session: Session, at presented: SyncModel.Cursor?
    ) throws -> StoredPullContext {
        var context = StoredPullContext()
        let known = try row(
            "SELECT id, newest, sequence, id_sequence FROM principal WHERE digest = ?",
            [key(principal.rawValue, "principal")])
        let id = try known?.integer(0)
        if let id, let known {
            context.newest = SyncModel.Cursor(rawValue: try known.integer(1))
            context.sequence = try known.number(2)
            context.idSequence = try known.number(3)
            context.hasLedgers = try exists(
                "SELECT 1 FROM replica WHERE principal = ? AND base IS NOT NULL LIMIT 1", [id])
            context.session = try sessionRow(session, of: id)
        }
        guard let presented else { return context }
        if let id, let row = try cursorRow(presented, of: principal, id) {
            context.row = row
            context.newestOfReplica = try newestCursor(of: row.replica)
            guard let anchor = try anchor(of: row.replica) else { return context }
            context.isFork = anchor.tip.map { $0 != presented && $0 != row.parent } ?? false
            context.acceptedAt = anchor.acceptedAt
            context.resyncAt = anchor.resyncAt
            // The pushes of another device show nothing about this one.
            context.pushedVersion = context.isFork ? nil : anchor.pushedVersion
            context.lastSeen = anchor.lastSeen
            context.hasRedeliveries = try exists(
                "SELECT 1 FROM owed WHERE replica = ? AND (delivered IS NULL OR delivered > ?) LIMIT 1",
                [row.replica.rawValue, presented.rawValue])
            context.ledger = try outline(of: anchor, at: presented)
        } else {
            context.belongsToAnotherPrincipal = try exists(
                """
                SELECT 1 FROM cursor c JOIN replica r ON r.id = c.replica AND r.dead = 0
                WHERE c.cursor = ? AND c.principal IS NOT ? LIMIT 1
                """, [presented.rawValue, id])
        }
        return context
    }

    /// Returns the data needed to confirm a cursor; it is news if the replica goes on with the cursor.
    fileprivate func confirmation(
        of cursor: SyncModel.Cursor, _ principal: Principal
    ) throws -> (principal: Int64, replica: Int64, isNews: Bool, lastSeen: Instant) {
        let row = try row(
            """
            SELECT c.principal, c.replica, c.confirmed = 0 AND (r.tip IS NULL OR c.parent = r.tip), r.last_seen
            FROM cursor c JOIN replica r ON r.id = c.replica AND r.dead = 0
            WHERE c.principal = (SELECT id FROM principal WHERE digest = ?) AND c.cursor = ?
            """, [key(principal.rawValue, "principal"), cursor.rawValue])
        guard let row else { throw StateError.cursorUnknown(cursor) }
        return try (row.integer(0), row.integer(1), row.integer(2) != 0, row.instant(3))
    }

    /// Returns a session, or the values of a new one if the state does not know it.
    fileprivate func sessionRow(_ session: Session, of principal: Int64) throws -> SessionRow {
        let row = try row(
            """
            SELECT s.generation, v.tokens IS NOT NULL, coalesce(v.tokens, x''), s.accepted_at
            FROM session s LEFT JOIN vector v ON v.id = s.position WHERE s.principal = ? AND s.digest = ?
            """, [principal, key(session.rawValue, "session")])
        guard let row else { return SessionRow() }
        return try SessionRow(
            generation: Int(row.number(0)),
            position: row.integer(1) == 0 ? .unknown : .at(Self.vector(row.bytes(2))),
            acceptedAt: row.optionalInstant(3))
    }

    /// Returns a cursor with its vector.
    fileprivate func cursorRow(_ cursor: SyncModel.Cursor, of principal: Principal, _ id: Int64) throws -> CursorRow? {
        let row = try row(
            """
            SELECT c.replica, c.parent, v.tokens, c.schema_version, s.digest, c.generation, c.confirmed, c.mapping,
                c.noted, coalesce(w.states, x''), c.id_sequence, coalesce(c.kept, x'')
            FROM cursor c JOIN replica r ON r.id = c.replica AND r.dead = 0
            JOIN vector v ON v.id = c.vector JOIN session s ON s.id = c.session
            LEFT JOIN sweep_states w ON w.id = c.sweeps
            WHERE c.principal = ? AND c.cursor = ?
            """, [id, cursor.rawValue])
        return try row.map { row in
            try CursorRow(
                principal: principal, cursor: cursor, replica: ReplicaID(rawValue: row.integer(0)),
                parent: row.optionalInteger(1).flatMap(SyncModel.Cursor.init(rawValue:)),
                vector: Self.vector(row.bytes(2)),
                schemaVersion: row.optionalInteger(3).map(Int.init), session: Session(rawValue: row.text(4)),
                generation: Int(row.number(5)), isConfirmed: row.integer(6) != 0, mappingDigest: row.text(7),
                noted: row.number(8), comparisons: Self.comparisons(row.bytes(9)),
                ids: VisibleIDs(sequence: row.number(10), kept: Self.kept(row.bytes(11))))
        }
    }

    /// Decodes stored comparison states.
    static func comparisons(_ states: [UInt8]) throws -> [String: FullComparison] {
        guard let comparisons = FullComparisonStates.decode(states) else {
            throw StateError.corrupt("the comparison states of a cursor cannot be read")
        }
        return comparisons
    }

    private static func vector(_ tokens: [UInt8]) throws -> CheckpointVector {
        guard let vector = Netstrings.decode(tokens) else {
            throw StateError.corrupt("a checkpoint vector cannot be read")
        }
        return vector
    }
}
