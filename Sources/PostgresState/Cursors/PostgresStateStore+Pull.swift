// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Reads the context in one round trip.
    package func pullContext(
        principal: Principal, session: Session, presented: Cursor?
    ) async throws -> StoredPullContext {
        try Self.context(
            try await read(Self.contextStatements(principal, session, at: presented)), of: principal, at: presented)
    }

    /// Returns the statements of a context.
    static func contextStatements(
        _ principal: Principal, _ session: Session, at presented: Cursor?
    ) throws -> [PostgresStatement] {
        let statements = [try caller(principal, session), try openJournals(of: principal)]
        guard let presented else { return statements }
        return statements + [
            try row(of: presented, principal), try .chain(from: presented, of: principal),
            try foreign(presented, principal),
        ]
    }

    /// Returns the context from the results of its statements.
    static func context(
        _ results: [PostgresResult], of principal: Principal, at presented: Cursor?
    ) throws -> StoredPullContext {
        var context = StoredPullContext()
        if let row = results.row(0) { try context.take(caller: row) }
        context.unfinished.openJournals = try results.rows(1).map { try $0.integer(0) }
        guard let presented else { return context }
        context.belongsToAnotherPrincipal = try results.row(4)?.bool(0) == true
        guard let row = results.row(2) else { return context }
        try context.take(cursor: presented, of: principal, row, LedgerChain(results.rows(3)))
        return context
    }

    /// Confirms the cursor if its replica goes on with it: one round trip, which takes a lock only if something is due.
    package func confirm(principal: Principal, cursor: Cursor, at now: Instant) async throws {
        let results = try await write(try confirmation(of: cursor, of: principal, at: now))
        guard !results.rows(1).isEmpty else { throw StateError.cursorUnknown(cursor) }
    }

    /// Returns the statements that confirm a cursor; the second has no row if it is unknown.
    func confirmation(
        of cursor: Cursor, of principal: Principal, at now: Instant
    ) throws -> [PostgresStatement] {
        let parameters: [PostgresParameter] = [
            try .principal(principal), .cursor(cursor), .instant(now), .integer(limits.touchInterval),
        ]
        return [
            PostgresStatement(
                """
                SELECT 1 FROM principal WHERE principal = $1 AND EXISTS (
                    SELECT 1 FROM cursor c JOIN replica r ON r.principal = $1 AND r.id = c.replica AND NOT r.dead
                    WHERE c.principal = $1 AND c.cursor = $2 AND (
                        (NOT c.confirmed AND (r.tip IS NULL OR c.parent = r.tip))
                        OR (r.last_seen < $3 AND $3 - r.last_seen >= $4))) FOR UPDATE
                """, parameters),
            PostgresStatement(
                """
                WITH found AS (
                    SELECT c.replica, NOT c.confirmed AND (r.tip IS NULL OR c.parent = r.tip) AS is_news,
                        r.last_seen < $3 AND $3 - r.last_seen >= $4 AS is_due
                    FROM cursor c JOIN replica r ON r.principal = $1 AND r.id = c.replica AND NOT r.dead
                    WHERE c.principal = $1 AND c.cursor = $2
                ), marked AS (
                    UPDATE cursor c SET confirmed = true FROM found
                    WHERE c.principal = $1 AND c.cursor = $2 AND found.is_news
                ), moved AS (
                    UPDATE replica r SET confirmed = r.confirmed OR found.is_news,
                        tip = CASE WHEN found.is_news THEN $2 ELSE r.tip END, last_seen = greatest(r.last_seen, $3)
                    FROM found
                    WHERE r.principal = $1 AND r.id = found.replica AND (found.is_news OR found.is_due)
                )
                SELECT 1 FROM found
                """, parameters),
        ]
    }

    /// Returns the last entry of an index, or the greatest cursor of the principals that were forgotten.
    package func newestCursor() async throws -> Cursor? {
        try await read([
            """
            SELECT greatest((SELECT value FROM meta WHERE key = 'newest_collected'),
                (SELECT newest FROM principal ORDER BY newest DESC LIMIT 1))
            """
        ]).row(0)?.cursor(0)
    }
}

// The statements of a context, and their rows.
extension PostgresStateStore {
    private static func caller(_ principal: Principal, _ session: Session) throws -> PostgresStatement {
        PostgresStatement(
            """
            SELECT p.newest, p.sequence, p.id_sequence,
                EXISTS (SELECT 1 FROM replica r WHERE r.principal = $1 AND r.base IS NOT NULL AND NOT r.dead),
                EXISTS (SELECT 1 FROM push_quarantine q WHERE q.principal = $1 AND q.marked_at IS NOT NULL),
                s.generation, s.position, s.accepted_at,
                EXISTS (SELECT 1 FROM receipt WHERE principal = $1),
                EXISTS (SELECT 1 FROM push_quarantine WHERE principal = $1), p.distrusted_at
            FROM principal p LEFT JOIN session s ON s.principal = $1 AND s.session = $2 WHERE p.principal = $1
            """, [try .principal(principal), .text(try key(session.rawValue, "session"))])
    }

    private static func openJournals(of principal: Principal) throws -> PostgresStatement {
        PostgresStatement(
            "SELECT id FROM push_journal WHERE principal = $1 AND state = 'open' ORDER BY id",
            [try .principal(principal)])
    }

    private static func row(of cursor: Cursor, _ principal: Principal) throws -> PostgresStatement {
        PostgresStatement(
            """
            SELECT c.parent, c.vector, c.schema_version, c.session, c.generation, c.confirmed, c.mapping, c.noted,
                c.comparisons, c.id_sequence, c.kept,
                (SELECT n.cursor FROM cursor n WHERE n.principal = $1 AND n.replica = c.replica
                    ORDER BY n.cursor DESC LIMIT 1),
                EXISTS (SELECT 1 FROM owed o WHERE o.principal = $1 AND o.replica = c.replica
                    AND (o.delivered IS NULL OR o.delivered > c.cursor)),
                EXISTS (SELECT 1 FROM owed o WHERE o.principal = $1 AND o.replica = c.replica),
                (SELECT string_agg(t.kind, ',') FROM device_trouble t
                    WHERE t.principal = $1 AND t.replica = c.replica),
                \(LedgerAnchor.columns)
            FROM cursor c JOIN replica r ON r.principal = $1 AND r.id = c.replica AND NOT r.dead
            WHERE c.principal = $1 AND c.cursor = $2
            """, [try .principal(principal), .cursor(cursor)])
    }

    /// Finds out whether a cursor belongs to another principal; looks only if it does not belong to this one.
    private static func foreign(_ cursor: Cursor, _ principal: Principal) throws -> PostgresStatement {
        PostgresStatement(
            """
            SELECT NOT EXISTS (
                    SELECT 1 FROM cursor c JOIN replica r ON r.principal = $1 AND r.id = c.replica AND NOT r.dead
                    WHERE c.principal = $1 AND c.cursor = $2)
                AND EXISTS (
                    SELECT 1 FROM cursor c JOIN replica r ON r.principal = c.principal AND r.id = c.replica
                    WHERE c.cursor = $2 AND c.principal <> $1 AND NOT r.dead)
            """, [try .principal(principal), .cursor(cursor)])
    }

    /// Decodes stored comparison states.
    static func comparisons(_ states: [UInt8]) throws -> [String: FullComparison] {
        guard let comparisons = FullComparisonStates.decode(states) else {
            throw StateError.corrupt("the comparison states of a cursor cannot be read")
        }
        return comparisons
    }

    fileprivate static func vector(_ tokens: [UInt8]) throws -> CheckpointVector {
        guard let vector = Netstrings.decode(tokens) else {
            throw StateError.corrupt("a checkpoint vector cannot be read")
        }
        return vector
    }
}

extension StoredPullContext {
    fileprivate mutating func take(caller row: PostgresRow) throws {
        newest = try row.cursor(0)
        sequence = try row.number(1)
        idSequence = try row.number(2)
        hasLedgers = try row.bool(3)
        unfinished.hasScheduledRetries = try row.bool(4)
        hasReceipts = try row.bool(8)
        hasQuarantined = try row.bool(9)
        distrustedAt = try row.instant(10)
        guard try row.optionalInteger(5) != nil else { return }
        session = SessionRow(
            generation: Int(try row.number(5)),
            position: try row.optionalBytes(6).map { .at(try PostgresStateStore.vector($0)) } ?? .unknown,
            acceptedAt: try row.optionalInstant(7))
    }

    fileprivate mutating func take(
        cursor: Cursor, of principal: Principal, _ row: PostgresRow, _ chain: LedgerChain
    ) throws {
        let anchor = try LedgerAnchor(row, from: 15)
        let found = try CursorRow(
            principal: principal, cursor: cursor, replica: anchor.replica, parent: row.cursor(0),
            vector: PostgresStateStore.vector(row.bytes(1)), schemaVersion: row.optionalInt(2),
            session: Session(rawValue: row.text(3)), generation: Int(row.number(4)), isConfirmed: row.bool(5),
            mappingDigest: row.text(6), noted: row.number(7),
            comparisons: PostgresStateStore.comparisons(row.bytes(8)),
            ids: VisibleIDs(sequence: row.number(9), kept: KeptIDs.decode(row.bytes(10))))
        self.row = found
        newestOfReplica = try row.cursor(11)
        hasRedeliveries = try row.bool(12)
        hasRecordedRedeliveries = try row.bool(13)
        troubles = DeviceTrouble.Kind.set(try row.optionalText(14))
        isFork = anchor.tip.map { $0 != cursor && $0 != found.parent } ?? false
        acceptedAt = anchor.acceptedAt
        resyncAt = anchor.resyncAt
        firstSeen = anchor.firstSeen
        // The pushes of another device show nothing about this one.
        pushedVersion = isFork ? nil : anchor.pushedVersion
        ledger = chain.outline(anchor)
        held = chain.counts.mapValues(\.held)
    }
}

/// The stored form of the records that a device knows by the backend's ids: table and id in turn, as netstrings.
enum KeptIDs {
    static func encode(_ kept: Set<VisibleIDs.Entry>) throws(StateError) -> [UInt8] {
        guard kept.count <= VisibleIDs.maximumKept else { throw .tooLarge("list of kept ids") }
        var bytes: [UInt8] = []
        for record in kept.sorted(by: { ($0.table, $0.id) < ($1.table, $1.id) }) {
            Netstrings.append(record.table.utf8, to: &bytes)
            Netstrings.append(record.id.utf8, to: &bytes)
        }
        return bytes
    }

    static func decode(_ bytes: [UInt8]) throws(StateError) -> Set<VisibleIDs.Entry> {
        var rest = bytes[...]
        var kept: Set<VisibleIDs.Entry> = []
        while !rest.isEmpty {
            guard let table = Netstrings.next(in: &rest), let id = Netstrings.next(in: &rest) else {
                throw .corrupt("the kept ids of a cursor cannot be read")
            }
            kept.insert(VisibleIDs.Entry(table: table, id: id))
        }
        return kept
    }
}
