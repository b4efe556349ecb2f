// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Locks the principals first, so that nothing is written for them meanwhile; the pages keep the deleted rows until
    /// the database's next vacuum.
    package func erase(_ principal: Principal) async throws -> [CopiedTable: Int] {
        let (first, deletions) = try PostgresStatement.erasure(of: principal)
        let counts = try await write(first + deletions.map(\.statement)).dropFirst(first.count).map(\.count)
        return Dictionary(uniqueKeysWithValues: zip(deletions.map(\.table), counts)).filter { $0.value > 0 }
    }

    /// Collects receipts, ledgers, cursors, replicas, sessions and principals, in this order, so that each step frees
    /// the next.
    ///
    /// Several gateways may do so at the same time; each statement finds its rows by an index.
    package func collect(_ wanted: Retention) async throws -> Collected {
        var collected = Collected()
        var retention = try await passTime(wanted, into: &collected)
        retention.cursorLead = cursorLead
        collected.receipts = try await collectBatches { batch in
            PostgresStatement(
                """
                DELETE FROM receipt WHERE (principal, digest) IN (
                    SELECT principal, digest FROM receipt WHERE expires_at <= $1 LIMIT $2) AND expires_at <= $1
                """, [.instant(retention.now), .int(batch)])
        }
        try await collectLedgers(retention, into: &collected)
        try await collectRedeliveries(retention)
        collected.journals = try await collectJournals(retention)
        try await collectBatches { batch in
            PostgresStatement(
                """
                DELETE FROM push_refusal WHERE (principal, client_table, record) IN (
                    SELECT principal, client_table, record FROM push_refusal WHERE last_at < $1 LIMIT $2)
                """, [.instant(retention.journalsBefore), .int(batch)])
        }
        collected.cursors = try await collectCursors(before: retention.supersededCursorsBefore)
        collected.replicas = try await buryUnseen(retention)
        try await buryDead(at: retention.now)
        collected.sessions = try await collectBatches { batch in
            PostgresStatement(
                """
                DELETE FROM session WHERE (principal, session) IN (
                    SELECT principal, session FROM session s WHERE last_seen < $1 AND NOT EXISTS (
                        SELECT 1 FROM cursor c WHERE c.principal = s.principal AND c.session = s.session) LIMIT $2)
                    AND last_seen < $1
                """, [.instant(retention.seenBefore), .int(batch)])
        }
        collected.principals = try await collectPrincipals(before: retention.seenBefore)
        return collected
    }

    /// Runs a statement that changes at most a batch of rows, until it finds fewer; may be cancelled in between.
    @discardableResult
    func collectBatches(_ statement: (Int) -> PostgresStatement) async throws -> Int {
        let batch = max(1, limits.collectBatch)
        var total = 0
        while true {
            try Task.checkCancellation()
            let results = try await write([statement(batch)])
            // A statement that changes several tables says how many rows it has found.
            let count = try results.row(0).map { Int(try $0.integer(0)) } ?? results.first?.count ?? 0
            total += count
            if count < batch { return total }
        }
    }

    private func collectRedeliveries(_ retention: Retention) async throws {
        try await collectBatches { batch in
            PostgresStatement(
                """
                DELETE FROM owed WHERE (principal, replica, client_table, record) IN (
                    SELECT principal, replica, client_table, record FROM owed
                    WHERE since < $1 AND (delivered IS NOT NULL OR since < $2) LIMIT $3)
                    AND since < $1 AND (delivered IS NOT NULL OR since < $2)
                """, [.instant(retention.undoBefore), .instant(retention.seenBefore), .int(batch)])
        }
    }

    /// Deletes journals of pushes that ended long ago, and open ones that have not changed for longer than a device may
    /// stay away.
    private func collectJournals(_ retention: Retention) async throws -> Int {
        try await collectBatches { batch in
            PostgresStatement(
                """
                DELETE FROM push_journal WHERE id IN (
                    SELECT id FROM push_journal WHERE changed_at < greatest($1, $2)
                        AND changed_at < CASE state WHEN 'open' THEN $2 ELSE $1 END LIMIT $3)
                """, [.instant(retention.journalsBefore), .instant(retention.seenBefore), .int(batch)])
        }
    }

    /// Deletes cursors that are superseded by a later, confirmed one of the same replica.
    ///
    /// A cursor without such a successor stays, however old it is: it may be the one that an idle device will present.
    /// A cursor also stays if newer cursors of a ledger rest on it.
    private func collectCursors(before: Int64) async throws -> Int {
        try await collectBatches { batch in
            PostgresStatement(
                """
                DELETE FROM cursor WHERE (principal, cursor) IN (
                    SELECT c.principal, c.cursor FROM cursor c
                    WHERE c.cursor < $1 AND c.layer IS NULL AND EXISTS (
                        SELECT 1 FROM replica r WHERE r.principal = c.principal AND r.id = c.replica AND NOT r.dead
                            AND r.tip > c.cursor AND r.compacted IS DISTINCT FROM c.cursor)
                    ORDER BY c.cursor LIMIT $2) AND layer IS NULL
                """, [.integer(before), .int(batch)])
        }
    }

    /// Deletes what dead replicas have left: their cursors, redeliveries and layers, and then the replicas themselves.
    private func buryDead(at now: Instant) async throws {
        try await collectBatches { batch in
            PostgresStatement(
                """
                DELETE FROM cursor WHERE (principal, cursor) IN (
                    SELECT c.principal, c.cursor FROM replica r
                    JOIN cursor c ON c.principal = r.principal AND c.replica = r.id WHERE r.dead LIMIT $1)
                """, [.int(batch)])
        }
        try await collectBatches { batch in
            PostgresStatement(
                """
                DELETE FROM owed WHERE (principal, replica, client_table, record) IN (
                    SELECT o.principal, o.replica, o.client_table, o.record FROM replica r
                    JOIN owed o ON o.principal = r.principal AND o.replica = r.id WHERE r.dead LIMIT $1)
                """, [.int(batch)])
        }
        try await collectTroubles()
        // Only detached: reads in progress may still use them for a while.
        try await collectBatches { batch in
            PostgresStatement(
                """
                UPDATE layer SET replica = NULL, made_at = $1 WHERE id IN (
                    SELECT l.id FROM replica r JOIN layer l ON l.replica = r.id WHERE r.dead LIMIT $2)
                """, [.instant(now), .int(batch)])
        }
        try await collectBatches { batch in
            PostgresStatement(
                """
                DELETE FROM replica WHERE (principal, id) IN (
                    SELECT r.principal, r.id FROM replica r WHERE r.dead AND NOT EXISTS (
                        SELECT 1 FROM cursor c WHERE c.principal = r.principal AND c.replica = r.id) LIMIT $1)
                """, [.int(batch)])
        }
    }

    /// Deletes principals that have nothing left; each is locked first, so that nothing of it can be written meanwhile.
    private func collectPrincipals(before: Instant) async throws -> Int {
        let batch = max(1, limits.collectBatch)
        var total = 0
        while true {
            try Task.checkCancellation()
            let count = try await collectPrincipals(before: before, batch)
            total += count
            if count < batch { return total }
        }
    }

    private func collectPrincipals(before: Instant, _ batch: Int) async throws -> Int {
        try await transaction { transaction in
            let found = try await transaction.query(
                PostgresStatement(
                    """
                    SELECT p.principal FROM principal p WHERE p.last_seen < $1 AND \(Self.isEmpty)
                    ORDER BY p.principal LIMIT $2 FOR UPDATE SKIP LOCKED
                    """, [.instant(before), .int(batch)]))
            // Each one anew: what was written before it was locked is seen now.
            let results = try await transaction.pipeline(
                found.rows.flatMap { row in
                    let owner = PostgresParameter.text(try row.text(0))
                    return [
                        PostgresStatement(
                            """
                            WITH gone AS (
                                DELETE FROM principal p WHERE p.principal = $1 AND p.last_seen < $2 AND \(Self.isEmpty)
                                RETURNING newest
                            ), kept AS (
                                -- The greatest cursor ever handed out must not become smaller with its owner.
                                UPDATE meta SET value = greatest(value, newest) FROM gone
                                WHERE key = 'newest_collected' AND newest > value
                            )
                            SELECT count(*) FROM gone
                            """, [owner, .instant(before)]),
                        PostgresStatement(
                            """
                            DELETE FROM push_refusal WHERE principal = $1
                                AND NOT EXISTS (SELECT 1 FROM principal WHERE principal = $1)
                            """, [owner]),
                        PostgresStatement(
                            """
                            DELETE FROM lease WHERE principal = $1 AND holder IS NULL
                                AND distrust_until < (extract(epoch FROM clock_timestamp()) * 1000)::bigint
                                AND NOT EXISTS (SELECT 1 FROM principal WHERE principal = $1)
                            """, [owner]),
                    ]
                })
            return try results.reduce(0) { $0 + Int(try $1.rows.first?.integer(0) ?? 0) }
        }
    }

    /// The condition that nothing else belongs to a principal `p`.
    private static let isEmpty = [
        "replica", "session", "receipt", "push_note", "push_quarantine", "push_journal",
        "id_map",
    ].map { "NOT EXISTS (SELECT 1 FROM \($0) x WHERE x.principal = p.principal)" }.joined(separator: " AND ")
}
