// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Records the position in one round trip.
    package func setPosition(
        _ position: Position, principal: Principal, session: Session, at now: Instant
    ) async throws {
        try await write(try statements(for: position, of: principal, in: session, at: now))
    }

    /// Records the position and confirms the cursor in one round trip.
    package func setPosition(
        _ position: Position, principal: Principal, session: Session, confirming cursor: Cursor?, at now: Instant
    ) async throws {
        let first = try cursor.map { try confirmation(of: $0, of: principal, at: now) } ?? []
        let results = try await write(first + statements(for: position, of: principal, in: session, at: now))
        if let cursor, results.rows(1).isEmpty { throw StateError.cursorUnknown(cursor) }
    }

    private func statements(
        for position: Position, of principal: Principal, in session: Session, at now: Instant
    ) throws -> [PostgresStatement] {
        let tokens = try position.vector.map(encoded)
        var statements: [PostgresStatement] = [
            try .ensure(principal, at: now), try .ensure(session, of: principal, at: now),
        ]
        if position == .unknown { statements.append(try .forgetPositions(of: principal, except: session)) }
        statements.append(
            PostgresStatement(
                """
                UPDATE session SET position = $3, last_seen = greatest(last_seen, $4)
                WHERE principal = $1 AND session = $2 AND position IS DISTINCT FROM $3
                """, [try .principal(principal), .text(session.rawValue), .bytes(tokens), .instant(now)]))
        return statements
    }

    /// Raises the generation, which never goes back, even if the reset is not acknowledged afterwards.
    package func raiseGeneration(principal: Principal, session: Session, at now: Instant) async throws -> Int {
        let results = try await write([
            .ensure(principal, at: now), .lock(principal), .ensure(session, of: principal, at: now),
            .forgetPositions(of: principal, except: session),
            PostgresStatement(
                """
                UPDATE session SET generation = generation + 1, position = NULL, last_seen = greatest(last_seen, $3)
                WHERE principal = $1 AND session = $2 RETURNING generation
                """, [.principal(principal), .text(session.rawValue), .instant(now)]),
        ])
        guard let row = results.row(4) else { throw StateError.failed("a session that was created is not there") }
        return Int(try row.number(0))
    }

    /// Changes all rows in one transaction, for which the syncs of these principals wait.
    package func distrust(
        because restored: RestoredBackup, of principal: Principal?, at now: Instant
    ) async throws -> Int {
        let statements = try PostgresStatement.distrust(because: restored, of: principal, at: now + cursorLead)
        return try await write(statements).first?.count ?? 0
    }

    /// Writes only if the time is due; also if the clock has gone back.
    package func markAccepted(principal: Principal, session: Session, at now: Instant) async throws {
        try await write([
            .ensure(principal, at: now), .ensure(session, of: principal, at: now),
            PostgresStatement(
                """
                UPDATE session SET accepted_at = $3, last_seen = greatest(last_seen, $3)
                WHERE principal = $1 AND session = $2 AND (accepted_at IS NULL OR abs(accepted_at - $3) >= $4)
                """,
                [
                    .principal(principal), .text(session.rawValue), .instant(now), .integer(limits.acceptedInterval),
                ]),
        ])
    }

    /// Returns the stored form of a vector.
    func encoded(_ vector: CheckpointVector) throws(StateError) -> [UInt8] {
        let tokens = Netstrings.encode(vector)
        guard tokens.count <= limits.vectorBytes else { throw .tooLarge("checkpoint vector") }
        return tokens
    }
}

extension PostgresStatement {
    /// Creates a session that is not there yet.
    static func ensure(_ session: Session, of principal: Principal, at now: Instant) throws -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO session (principal, session, last_seen) VALUES ($1, $2, $3)
            ON CONFLICT (principal, session) DO NOTHING
            """, [try .principal(principal), .text(try key(session.rawValue, "session")), .instant(now)])
    }

    /// Forgets the positions of a principal's other sessions.
    ///
    /// Two credentials may stand for one session of the backend without Rind knowing it; a stored position that the
    /// session has passed would lose the changes in between.
    static func forgetPositions(of principal: Principal, except session: Session) throws -> PostgresStatement {
        PostgresStatement(
            """
            UPDATE session SET position = NULL WHERE principal = $1 AND session <> $2 AND position IS NOT NULL
            """, [try .principal(principal), .text(session.rawValue)])
    }
}
