// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
package import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Overwrites the deleted rows with zeros; copies of them in the log of the file go with its next checkpoint.
    package func erase(_ principal: Principal) async throws -> [CopiedTable: Int] {
        try await write { try $0.erase(principal) }
    }

    /// Collects receipts, ledgers, cursors, replicas, sessions and principals, in this order, so that each step frees
    /// the next.
    package func collect(_ retention: Retention) async throws -> Collected {
        let lead = cursorLead
        let (begun, retention) = try await write { db in
            var collected = Collected()
            var retention = try db.passTime(retention, into: &collected)
            retention.cursorLead = lead
            return (collected, retention)
        }
        var collected = begun
        collected.receipts = try await inBatches { db, batch in
            try db.run(
                "DELETE FROM push WHERE id IN (SELECT id FROM push WHERE expires_at <= ? LIMIT ?)",
                [retention.now, batch])
            return db.changesCount
        }
        try await collectLedgers(retention, into: &collected)
        try await collectRedeliveries(retention)
        collected.journals = try await inBatches {
            try $0.collectJournals(before: retention.journalsBefore, openBefore: retention.seenBefore, $1)
        }
        _ = try await inBatches { try $0.collectRefusals(before: retention.journalsBefore, $1) }
        collected.cursors = try await inBatches { try $0.collectCursors(before: retention.supersededCursorsBefore, $1) }
        collected.replicas = try await inBatches { try $0.buryUnseen(retention, $1) }
        _ = try await inBatches { try $0.buryDead(at: retention.now, $1) }
        collected.sessions = try await inBatches { try $0.collectSessions(before: retention.seenBefore, $1) }
        collected.principals = try await inBatches { try $0.collectPrincipals(before: retention.seenBefore, $1) }
        return collected
    }

    /// Runs transactions of at most `collectBatch` rows until one finds nothing more to do.
    func inBatches(_ body: @escaping @Sendable (Database, Int) throws -> Int) async throws -> Int {
        let batch = max(1, limits.collectBatch)
        var total = 0
        while true {
            try Task.checkCancellation()
            let count = try await write { try body($0, batch) }
            total += count
            if count < batch { return total }
        }
    }
}

extension Database {
    /// Deletes cursors that are superseded by a later, confirmed one of the same replica.
    ///
    /// A cursor without such a successor stays, however old it is: it may be the one that an idle device will present.
    /// A cursor also stays if newer cursors of a ledger rest on it.
    fileprivate func collectCursors(before: Int64, _ batch: Int) throws -> Int {
        let rows = try rows(
            """
            SELECT c.principal, c.cursor, c.vector, c.sweeps FROM cursor c
            WHERE c.cursor < ? AND c.layer IS NULL AND EXISTS (
                SELECT 1 FROM cursor d WHERE d.replica = c.replica AND d.cursor > c.cursor AND d.confirmed = 1)
                AND NOT EXISTS (SELECT 1 FROM replica WHERE id = c.replica AND folded = c.cursor)
            ORDER BY c.cursor LIMIT ?
            """, [before, batch])
        return try deleteCursors(rows)
    }

    fileprivate func collectSessions(before: Instant, _ batch: Int) throws -> Int {
        let rows = try rows(
            """
            SELECT id, position FROM session s
            WHERE last_seen < ? AND NOT EXISTS (SELECT 1 FROM cursor WHERE session = s.id) LIMIT ?
            """, [before, batch])
        for row in rows {
            try run("DELETE FROM session WHERE id = ?", [row.integer(0)])
            if let position = try row.optionalInteger(1) { try dropVectorIfUnused(position) }
        }
        return rows.count
    }

    fileprivate func collectPrincipals(before: Instant, _ batch: Int) throws -> Int {
        let rows = try rows(
            """
            SELECT id, newest FROM principal p WHERE last_seen < ?
                AND NOT EXISTS (SELECT 1 FROM replica WHERE principal = p.id)
                AND NOT EXISTS (SELECT 1 FROM session WHERE principal = p.id)
                AND NOT EXISTS (SELECT 1 FROM push WHERE principal = p.id)
                AND NOT EXISTS (SELECT 1 FROM push_note WHERE principal = p.id)
                AND NOT EXISTS (SELECT 1 FROM push_quarantine WHERE principal = p.id)
                AND NOT EXISTS (SELECT 1 FROM push_journal WHERE principal = p.id)
                AND NOT EXISTS (SELECT 1 FROM id_map WHERE principal = p.id)
            LIMIT ?
            """, [before, batch])
        for row in rows {
            // The greatest cursor ever handed out must not become smaller when its owner is forgotten.
            try run(
                "UPDATE meta SET value = max(value, ?) WHERE key = 'newest_collected'", [row.integer(1)])
            try run("DELETE FROM principal WHERE id = ?", [row.integer(0)])
        }
        return rows.count
    }
}
