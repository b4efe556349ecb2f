// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Accepts a clock that is behind the state: from the next opening on, cursors are ahead of it by the returned
    /// lead.
    ///
    /// The lead is kept for ever, so cursors remain times, only of another clock. Contacts that were recorded in the
    /// future are set to now. Every gateway on the state must be stopped before and started afterwards.
    ///
    /// - Parameter now: The clock.
    /// - Returns: The lead.
    /// - Throws: ``StateError``.
    package func acceptClock(at now: Instant) async throws -> Int64 {
        let newest = try await newestCursor()?.time ?? 0
        let results = try await write([
            PostgresStatement(
                """
                INSERT INTO meta AS m (key, value) VALUES ('cursor_lead', $1)
                ON CONFLICT (key) DO UPDATE SET value = greatest(m.value, $1) RETURNING value
                """, [.integer(max(0, newest.milliseconds(since: now) + 1))]),
            PostgresStatement("UPDATE principal SET last_seen = $1 WHERE last_seen > $1", [.instant(now)]),
            PostgresStatement("UPDATE session SET last_seen = $1 WHERE last_seen > $1", [.instant(now)]),
            PostgresStatement("UPDATE replica SET last_seen = $1 WHERE last_seen > $1", [.instant(now)]),
        ])
        return try results.row(0)?.number(0) ?? 0
    }
}
