// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Reads a range of the primary key.
    package func redeliveries(
        of replica: ReplicaID, at cursor: Cursor, limit: Int
    ) async throws -> [PendingRedelivery] {
        try await read([
            PostgresStatement(
                """
                SELECT o.client_table, o.record, o.count
                FROM replica r JOIN owed o ON o.principal = r.principal AND o.replica = r.id
                WHERE r.id = $1 AND NOT r.dead AND (o.delivered IS NULL OR o.delivered > $2)
                ORDER BY o.client_table, o.record LIMIT $3
                """, [.integer(replica.rawValue), .cursor(cursor), .int(max(0, limit))])
        ]).rows(0).map { row in
            let id = try row.text(1)
            guard RecordID.isSafe(id) else { throw StateError.corrupt("a pending redelivery cannot be read") }
            return PendingRedelivery(table: try row.text(0), id: id, count: Int(try row.number(2)))
        }
    }

    /// Counts redeliveries that are pending already; a replica that is gone has none.
    package func scheduleRedelivery(
        _ redeliveries: [PendingRedelivery], to replica: ReplicaID, at now: Instant
    ) async throws {
        guard !redeliveries.isEmpty else { return }
        // In the order of the key, so that two of these transactions do not wait for each other.
        let sorted = redeliveries.sorted { ($0.table, $0.id) < ($1.table, $1.id) }
        try await write(
            sorted.map { redelivery in
                guard RecordID.isSafe(redelivery.id) else { throw StateError.invalid("record id") }
                return PostgresStatement(
                    """
                    INSERT INTO owed AS o (principal, replica, client_table, record, count, since)
                    SELECT r.principal, r.id, $2, $3, 1, $4 FROM replica r WHERE r.id = $1 AND NOT r.dead
                    ON CONFLICT (principal, replica, client_table, record) DO UPDATE SET
                        count = least(o.count + 1, 1000000), since = $4, delivered = NULL
                    """,
                    [
                        .integer(replica.rawValue), try .table(redelivery.table), .text(redelivery.id), .instant(now),
                    ])
            })
    }

    /// Deletes what there is in one round trip, which writes nothing if nothing is pending.
    package func dropRedeliveries(_ redeliveries: [PendingRedelivery], of replica: ReplicaID) async throws {
        guard !redeliveries.isEmpty else { return }
        let sorted = redeliveries.sorted { ($0.table, $0.id) < ($1.table, $1.id) }
        try await write(
            sorted.map { redelivery in
                PostgresStatement(
                    """
                    DELETE FROM owed WHERE principal = (SELECT principal FROM replica WHERE id = $1 LIMIT 1)
                        AND replica = $1 AND client_table = $2 AND record = $3
                    """, [.integer(replica.rawValue), .text(redelivery.table), .text(redelivery.id)])
            })
    }
}
