// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
package import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Records the position, and drops the vector that only the old position named.
    package func setPosition(
        _ position: Position, principal: Principal, session: Session, at now: Instant
    ) async throws {
        let limit = limits.vectorBytes
        try await write { db in
            let owner = try db.ensurePrincipal(principal, at: now)
            let id = try db.ensureSession(session, of: owner, at: now).id
            if position == .unknown { try db.forgetPositions(of: owner, except: id) }
            try db.put(position, of: id, limit: limit, at: now)
        }
    }

    /// Raises the generation, which never goes back, even if the reset is not acknowledged afterwards.
    package func raiseGeneration(principal: Principal, session: Session, at now: Instant) async throws -> Int {
        try await write { db in
            let owner = try db.ensurePrincipal(principal, at: now)
            let (id, generation) = try db.ensureSession(session, of: owner, at: now)
            let old = try db.integer("SELECT position FROM session WHERE id = ?", [id])
            try db.run(
                """
                UPDATE session SET generation = generation + 1, position = NULL, last_seen = max(last_seen, ?)
                WHERE id = ?
                """, [now, id])
            if let old { try db.dropVectorIfUnused(old) }
            try db.forgetPositions(of: owner, except: id)
            return generation + 1
        }
    }

    /// Changes all rows in one transaction, and forgets all positions: a session whose position is unknown asks for it.
    package func distrust(
        because restored: RestoredBackup, of principal: Principal?, at now: Instant
    ) async throws -> Int {
        let now = now + cursorLead
        return try await write { db in
            try SQLiteStateStore.forgetPositions(db)
            return try db.distrust(because: restored, of: principal, at: now)
        }
    }

    /// Reads first; also writes if the clock has gone back.
    package func markAccepted(principal: Principal, session: Session, at now: Instant) async throws {
        let limits = limits
        let isNews = try await readFewForWrite { db in
            guard let owner = try db.principalID(principal), let id = try db.session(session, of: owner)?.id else {
                return true
            }
            guard let accepted = try db.row("SELECT accepted_at FROM session WHERE id = ?", [id])?.optionalInstant(0)
            else {
                return true
            }
            return limits.isAcceptanceDue(now, after: accepted)
        }
        guard isNews else { return }
        try await write { db in
            let owner = try db.ensurePrincipal(principal, at: now)
            let id = try db.ensureSession(session, of: owner, at: now).id
            try db.run(
                "UPDATE session SET accepted_at = ?, last_seen = max(last_seen, ?) WHERE id = ?", [now, now, id])
        }
    }
}

extension Database {
    /// Writes a session's position, and drops the vector that only the old one named.
    func put(_ position: Position, of session: Int64, limit: Int, at now: Instant) throws {
        let old = try integer("SELECT position FROM session WHERE id = ?", [session])
        let new: Int64? =
            switch position {
            case .unknown: nil
            case .at(let vector): try ensureVector(vector, limit: limit)
            }
        guard old != new else { return }
        try run("UPDATE session SET position = ?, last_seen = max(last_seen, ?) WHERE id = ?", [new, now, session])
        if let old { try dropVectorIfUnused(old) }
    }

    /// Forgets the positions of a principal's other sessions.
    ///
    /// Two credentials may stand for one session of the backend without Rind knowing it; a stored position that the
    /// session has passed would lose the changes in between. Asking the backend costs one call, once after another
    /// device has moved the session.
    fileprivate func forgetPositions(of principal: Int64, except session: Int64) throws {
        let others = try rows(
            "SELECT id, position FROM session WHERE principal = ? AND id <> ? AND position IS NOT NULL",
            [principal, session])
        for row in others {
            try run("UPDATE session SET position = NULL WHERE id = ?", [row.integer(0)])
            try dropVectorIfUnused(row.integer(1))
        }
    }
}
