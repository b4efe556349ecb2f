// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore
import SyncModel

/// Statements about leases, by the database's clock.
extension PostgresStatement {
    /// Takes a lease, and deletes a row if another holder has not given it back.
    static func take(_ request: LeaseRequest, of owner: Int64, deleting key: RowKey) -> PostgresStatement {
        PostgresStatement(
            """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now
            ), old AS MATERIALIZED (
                SELECT holder, taken_at FROM lease WHERE owner = $1
            ), taken AS (
                INSERT INTO lease AS l (owner, holder, fence, taken_at, expires_at)
                SELECT $1, $2, nextval('lease_fence'), now, now + $3 FROM clock
                ON CONFLICT (owner) DO UPDATE
                SET holder = $2, fence = nextval('lease_fence'), taken_at = excluded.taken_at,
                    expires_at = excluded.expires_at,
                    distrust_until = CASE WHEN l.holder IS NULL OR l.holder = $2 THEN l.distrust_until
                        ELSE greatest(l.distrust_until, l.expires_at + $3 + $4) END
                WHERE l.holder IS NULL OR l.holder = $2 OR l.expires_at <= excluded.taken_at
                RETURNING l.fence, l.distrust_until
            ), gone AS (
                DELETE FROM entry AS e USING taken, old
                WHERE old.holder <> $2 AND e.owner = $5 AND e.kind = $6 AND e.key = $7
            )
            SELECT taken.fence, greatest(taken.distrust_until - clock.now, 0), old.holder, old.taken_at
            FROM clock LEFT JOIN taken ON true LEFT JOIN old ON true
            """,
            [
                .integer(owner), .text(request.holder), .integer(request.lifetime), .integer(request.callTimeout),
                .integer(key.owner), .integer(Int64(key.kind.rawValue)), .bytes(key.key),
            ])
    }

    /// Divides by zero unless the lease still has its number, and changes its row, which locks it until the end of the
    /// transaction.
    ///
    /// A lock alone would let a take that waits for it go on with an older snapshot. A lease that was given back keeps
    /// its number until the next take: what a sync writes after that is still in order.
    static func expecting(_ lease: Lease) -> PostgresStatement {
        PostgresStatement(
            """
            WITH checked AS (UPDATE lease SET fence = fence WHERE owner = $1 AND fence = $2 RETURNING 1)
            SELECT 1 / count(*) FROM checked
            """, [.integer(lease.principal.owner), .integer(lease.fence)])
    }

    /// Marks a lease as free; deletes it if nothing else is known of its principal.
    static func freeing(_ lease: Lease) -> PostgresStatement {
        PostgresStatement(
            """
            WITH gone AS (
                DELETE FROM lease WHERE owner = $1 AND fence = $2 AND holder IS NOT NULL AND distrust_until = 0
                    AND NOT EXISTS (SELECT 1 FROM principal WHERE owner = $1) RETURNING 1
            )
            UPDATE lease SET holder = NULL
            WHERE owner = $1 AND fence = $2 AND holder IS NOT NULL AND NOT EXISTS (SELECT 1 FROM gone)
            """, [.integer(lease.principal.owner), .integer(lease.fence)])
    }
}
