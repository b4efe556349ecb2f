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
        let id = try caller(principal, session, into: &context)
        guard let presented else { return context }
        if let id, let (row, anchor, step) = try cursorRow(presented, of: principal, id: id, into: &context) {
            context.row = row
            context.isFork = anchor.tip.map { $0 != presented && $0 != row.parent } ?? false
            context.acceptedAt = anchor.acceptedAt
            context.resyncAt = anchor.resyncAt
            context.firstSeen = anchor.firstSeen
            // The pushes of another device show nothing about this one.
            context.pushedVersion = context.isFork ? nil : anchor.pushedVersion
            let outline = try outline(of: anchor, at: presented, first: step)
            context.ledger = outline
            context.held = try counts(of: outline).mapValues(\.held)
        } else {
            context.belongsToAnotherPrincipal = try exists(
                """
                SELECT 1 FROM cursor c JOIN replica r ON r.id = c.replica AND r.dead = 0
                WHERE c.cursor = ? AND c.principal IS NOT ? LIMIT 1
                """, [presented.rawValue, id])
        }
        return context
    }

    /// Reads what the state knows of a principal and a session, and returns the principal's number; nil if it is new.
    private func caller(
        _ principal: Principal, _ session: Session, into context: inout StoredPullContext
    ) throws -> Int64? {
        let row = try row(
            """
            SELECT p.id, p.newest, p.sequence, p.id_sequence,
                EXISTS (SELECT 1 FROM replica WHERE principal = p.id AND base IS NOT NULL),
                EXISTS (SELECT 1 FROM push_journal WHERE principal = p.id AND state = 'open'),
                EXISTS (SELECT 1 FROM push_quarantine WHERE principal = p.id AND marked_at IS NOT NULL),
                s.generation, v.tokens IS NOT NULL, coalesce(v.tokens, x''), s.accepted_at,
                EXISTS (SELECT 1 FROM push WHERE principal = p.id),
                EXISTS (SELECT 1 FROM push_quarantine WHERE principal = p.id), p.distrusted_at
            FROM principal p LEFT JOIN session s ON s.principal = p.id AND s.digest = ?
            LEFT JOIN vector v ON v.id = s.position WHERE p.digest = ?
            """, [key(session.rawValue, "session"), key(principal.rawValue, "principal")])
        guard let row else { return nil }
        let id = try row.integer(0)
        context.newest = SyncModel.Cursor(rawValue: try row.integer(1))
        context.sequence = try row.number(2)
        context.idSequence = try row.number(3)
        context.hasLedgers = try row.integer(4) != 0
        if try row.integer(5) != 0 {
            context.unfinished.openJournals = try rows(
                "SELECT id FROM push_journal WHERE principal = ? AND state = 'open' ORDER BY id", [id]
            ).map { try $0.integer(0) }
        }
        context.unfinished.hasScheduledRetries = try row.integer(6) != 0
        context.hasReceipts = try row.integer(11) != 0
        context.hasQuarantined = try row.integer(12) != 0
        context.distrustedAt = try row.instant(13)
        guard try row.optionalInteger(7) != nil else { return id }
        context.session = try SessionRow(
            generation: Int(row.number(7)),
            position: row.integer(8) == 0 ? .unknown : .at(Self.vector(row.bytes(9))),
            acceptedAt: row.optionalInstant(10))
        return id
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

    /// Returns a cursor with its vector, what its ledger hangs on, and the step from it down to the ledger's base.
    private func cursorRow(
        _ cursor: SyncModel.Cursor, of principal: Principal, id: Int64, into context: inout StoredPullContext
    ) throws -> (row: CursorRow, anchor: LedgerAnchor, step: LedgerStep)? {
        let row = try row(
            """
            SELECT c.replica, c.parent, v.tokens, c.schema_version, s.digest, c.generation, c.confirmed, c.mapping,
                c.noted, coalesce(w.states, x''), c.id_sequence, coalesce(c.kept, x''),
                (SELECT max(cursor) FROM cursor WHERE replica = c.replica),
                EXISTS (SELECT 1 FROM owed
                    WHERE replica = c.replica AND (delivered IS NULL OR delivered > c.cursor)),
                EXISTS (SELECT 1 FROM owed WHERE replica = c.replica),
                (SELECT group_concat(kind) FROM device_trouble WHERE replica = c.replica),
                c.layer, c.below, c.exact, coalesce(l.chunks, 0), \(LedgerAnchor.columns)
            FROM cursor c JOIN replica r ON r.id = c.replica AND r.dead = 0
            JOIN vector v ON v.id = c.vector JOIN session s ON s.id = c.session
            LEFT JOIN sweep_states w ON w.id = c.sweeps LEFT JOIN layer l ON l.id = c.layer
            WHERE c.principal = ? AND c.cursor = ?
            """, [id, cursor.rawValue])
        guard let row else { return nil }
        context.newestOfReplica = try row.optionalInteger(12).flatMap(SyncModel.Cursor.init(rawValue:))
        context.hasRedeliveries = try row.integer(13) != 0
        context.hasRecordedRedeliveries = try row.integer(14) != 0
        context.troubles = DeviceTrouble.Kind.set(try row.optionalText(15))
        let replica = ReplicaID(rawValue: try row.integer(0))
        let found = try CursorRow(
            principal: principal, cursor: cursor, replica: replica,
            parent: row.optionalInteger(1).flatMap(SyncModel.Cursor.init(rawValue:)),
            vector: Self.vector(row.bytes(2)),
            schemaVersion: row.optionalInteger(3).map(Int.init), session: Session(rawValue: row.text(4)),
            generation: Int(row.number(5)), isConfirmed: row.integer(6) != 0, mappingDigest: row.text(7),
            noted: row.number(8), comparisons: Self.comparisons(row.bytes(9)),
            ids: VisibleIDs(sequence: row.number(10), kept: Self.kept(row.bytes(11))))
        let step = try LedgerStep(
            cursor: cursor.rawValue, layer: row.optionalInteger(16), below: row.optionalInteger(17),
            isExact: row.integer(18) != 0, chunks: row.amount(19))
        return (found, try LedgerAnchor(row, of: replica, from: 20), step)
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
