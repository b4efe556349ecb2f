// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Reads a range of the primary key.
    package func redeliveries(of replica: ReplicaID, at cursor: SyncModel.Cursor, limit: Int) async throws
        -> [PendingRedelivery]
    {
        try await read { db in
            try db.rows(
                """
                SELECT client_table, record, count FROM owed
                WHERE replica = ?1 AND (delivered IS NULL OR delivered > ?2)
                    AND EXISTS (SELECT 1 FROM replica WHERE id = ?1 AND dead = 0)
                ORDER BY client_table, record LIMIT ?3
                """, [replica.rawValue, cursor.rawValue, max(0, limit)]
            ).map { row in
                let id = try row.text(1)
                guard RecordID.isSafe(id) else { throw StateError.corrupt("a pending redelivery cannot be read") }
                return PendingRedelivery(table: try row.text(0), id: id, count: Int(try row.number(2)))
            }
        }
    }

    /// Counts redeliveries that are pending already; a replica that is gone has none.
    package func scheduleRedelivery(_ redeliveries: [PendingRedelivery], to replica: ReplicaID, at now: Instant)
        async throws
    {
        guard !redeliveries.isEmpty else { return }
        try await write { db in
            guard try db.exists("SELECT 1 FROM replica WHERE id = ? AND dead = 0", [replica.rawValue]) else { return }
            for redelivery in redeliveries {
                guard RecordID.isSafe(redelivery.id) else { throw StateError.invalid("record id") }
                try db.run(
                    """
                    INSERT INTO owed (replica, client_table, record, count, since) VALUES (?1, ?2, ?3, 1, ?4)
                    ON CONFLICT (replica, client_table, record) DO UPDATE SET
                        count = min(count + 1, 1000000), since = ?4, delivered = NULL
                    """, [replica.rawValue, key(redelivery.table, "table"), redelivery.id, now])
            }
        }
    }

    /// Reads first, since most pushes follow no 409.
    package func dropRedeliveries(_ redeliveries: [PendingRedelivery], of replica: ReplicaID) async throws {
        let isAwaitingRedelivery = try await readForWrite { db in
            try db.exists("SELECT 1 FROM owed WHERE replica = ? LIMIT 1", [replica.rawValue])
        }
        guard isAwaitingRedelivery else { return }
        try await write { db in
            for redelivery in redeliveries {
                try db.run(
                    "DELETE FROM owed WHERE replica = ? AND client_table = ? AND record = ?",
                    [replica.rawValue, redelivery.table, redelivery.id])
            }
        }
    }

    /// Collects redeliveries that were delivered and are no longer counted, and those that no device came for.
    func collectRedeliveries(_ retention: Retention) async throws {
        _ = try await inBatches { db, batch in
            let rows = try db.rows(
                """
                SELECT replica, client_table, record FROM owed
                WHERE since < ?1 AND (delivered IS NOT NULL OR since < ?2) ORDER BY since LIMIT ?3
                """, [retention.undoBefore, retention.seenBefore, batch])
            for row in rows {
                try db.run(
                    "DELETE FROM owed WHERE replica = ? AND client_table = ? AND record = ?",
                    [row.integer(0), row.text(1), row.text(2)])
            }
            return rows.count
        }
    }
}

extension Database {
    /// Records the cursor with which pending redeliveries were delivered.
    ///
    /// They are done when that cursor, or one made from it, comes back.
    func deliver(_ redeliveries: [PendingRedelivery], to replica: ReplicaID, with cursor: SyncModel.Cursor) throws {
        for redelivery in redeliveries {
            try run(
                "UPDATE owed SET delivered = ? WHERE replica = ? AND client_table = ? AND record = ?",
                [cursor.rawValue, replica.rawValue, redelivery.table, redelivery.id])
        }
    }
}
