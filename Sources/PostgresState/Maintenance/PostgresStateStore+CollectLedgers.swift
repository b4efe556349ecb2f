// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore
import SyncModel

extension PostgresStateStore {
    /// Collects undos that lead back too far, deltas whose cursors never came back, detached layers, and notes that no
    /// cursor needs.
    func collectLedgers(_ retention: Retention, into collected: inout Collected) async throws {
        collected.undos = try await collectUndos(retention)
        collected.siblings = try await collectSiblings(retention)
        collected.chunks = try await collectChunks(before: retention.stagedBefore)
        collected.notes = try await collectBatches { batch in
            PostgresStatement(
                """
                DELETE FROM push_note WHERE (principal, sequence) IN (
                    SELECT principal, sequence FROM push_note WHERE made_at < $1 LIMIT $2)
                """, [.instant(retention.seenBefore), .int(batch)])
        }
        collected.notes += try await collectNotes(before: retention.undoBefore)
    }

    /// Collects old undos, but only of cursors that are in the base: every older cursor needs the undos of a compaction
    /// in progress.
    private func collectUndos(_ retention: Retention) async throws -> Int {
        try await collectBatches { batch in
            PostgresStatement(
                """
                WITH due AS (
                    SELECT l.id, l.principal, l.replica, l.cursor FROM layer l
                    JOIN replica r ON r.principal = l.principal AND r.id = l.replica
                    WHERE l.kind = 3 AND l.replica IS NOT NULL AND l.cursor < $1 AND l.cursor <= r.compacted
                    ORDER BY l.cursor LIMIT $3
                ), loosened AS (
                    UPDATE layer SET replica = NULL, made_at = $2 FROM due WHERE layer.id = due.id
                ), shortened AS (
                    UPDATE replica r SET horizon = greatest(coalesce(r.horizon, 0), top.cursor)
                    FROM (SELECT principal, replica, max(cursor) AS cursor FROM due GROUP BY principal, replica) top
                    WHERE r.principal = top.principal AND r.id = top.replica
                )
                SELECT count(*) FROM due
                """, [.integer(retention.undoCursorsBefore), .instant(retention.now), .int(batch)])
        }
    }

    /// Collects the deltas of cursors without which their replica has gone on.
    private func collectSiblings(_ retention: Retention) async throws -> Int {
        let batch = max(1, limits.collectBatch)
        var total = 0
        while true {
            try Task.checkCancellation()
            let count = try await transaction { transaction in
                let rows = try await transaction.query(
                    PostgresStatement(
                        """
                        SELECT c.principal, c.cursor, c.layer FROM cursor c
                        JOIN replica r ON r.principal = c.principal AND r.id = c.replica
                        WHERE c.layer IS NOT NULL AND NOT c.confirmed AND c.cursor < $1 AND r.tip IS NOT NULL
                            AND c.parent IS DISTINCT FROM r.tip
                        ORDER BY c.cursor LIMIT $2
                        """, [.integer(retention.undoCursorsBefore), .int(batch)])
                ).rows
                _ = try await transaction.pipeline(
                    rows.flatMap { row in
                        try PostgresStatement.drop(
                            layer: row.integer(2), of: row.integer(1), Principal(rawValue: row.text(0)), below: nil,
                            at: retention.now)
                    })
                return rows.count
            }
            total += count
            if count < batch { return total }
        }
    }

    /// Collects the chunks of layers that belong to no replica, and the layers that have none left.
    private func collectChunks(before: Instant) async throws -> Int {
        // Before the first chunk is deleted: a batch may end after a part of a staged layer that a commit could still
        // name.
        try await collectBatches { batch in
            PostgresStatement(
                """
                UPDATE layer SET kind = 4 WHERE id IN (
                    SELECT id FROM layer WHERE replica IS NULL AND made_at < $1 AND kind <> 4 LIMIT $2)
                    AND replica IS NULL AND made_at < $1
                """, [.instant(before), .int(batch)])
        }
        let chunks = try await collectBatches { batch in
            PostgresStatement(
                """
                DELETE FROM chunk WHERE id IN (
                    SELECT c.id FROM layer l JOIN chunk c ON c.layer = l.id
                    WHERE l.replica IS NULL AND l.made_at < $1 AND l.kind = 4 LIMIT $2)
                """, [.instant(before), .int(batch)])
        }
        return try await chunks
            + collectBatches { batch in
                PostgresStatement(
                    """
                    DELETE FROM layer WHERE id IN (
                        SELECT l.id FROM layer l WHERE l.replica IS NULL AND l.made_at < $1 AND l.kind = 4
                            AND NOT EXISTS (SELECT 1 FROM chunk c WHERE c.layer = l.id) LIMIT $2)
                    """, [.instant(before), .int(batch)])
            }
    }

    /// Collects the notes that all cursors with an exact ledger and every tip have seen, principal by principal.
    ///
    /// If a principal has no replica, all its notes count as seen: no device is left that could see an echo.
    private func collectNotes(before: Instant) async throws -> Int {
        var (total, last) = (0, "")
        while true {
            try Task.checkCancellation()
            let principals = try await read([
                PostgresStatement(
                    """
                    SELECT DISTINCT principal FROM push_note WHERE made_at < $1 AND principal > $2
                    ORDER BY principal LIMIT $3
                    """, [.instant(before), .text(last), .int(max(1, limits.collectBatch))])
            ]).rows(0).map { try $0.text(0) }
            guard let newest = principals.last else { return total }
            last = newest
            for principal in principals {
                total += try await collectBatches { batch in
                    PostgresStatement(
                        """
                        DELETE FROM push_note WHERE principal = $1 AND sequence IN (
                            SELECT sequence FROM push_note WHERE principal = $1 AND made_at < $2
                                AND sequence <= coalesce((
                                    SELECT min(c.noted) FROM replica r
                                    JOIN cursor c ON c.principal = $1 AND c.replica = r.id
                                    WHERE r.principal = $1 AND NOT r.dead AND c.cursor >= coalesce(r.horizon, 0)
                                        AND (c.exact OR c.cursor >= coalesce(r.tip, 0))), 9223372036854775807)
                            ORDER BY sequence LIMIT $3)
                        """, [.text(principal), .instant(before), .int(batch)])
                }
            }
        }
    }
}
