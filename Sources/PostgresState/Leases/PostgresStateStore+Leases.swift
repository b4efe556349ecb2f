// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore {
    /// True: any number of gateways may use the database.
    package var needsLeases: Bool { true }

    /// Takes the lease and reads the context in one round trip.
    ///
    /// All statements see one snapshot. Each write under a lease changes its row; if one was committed after that
    /// snapshot, PostgreSQL refuses the take and the transaction begins again. So a context is never older than its
    /// lease.
    package func pullContext(
        principal: Principal, session: Session, presented: Cursor?, taking request: LeaseRequest
    ) async throws -> (context: StoredPullContext, lease: LeaseAnswer) {
        let statements =
            try [Self.take(request, of: principal)]
            + Self.contextStatements(principal, session, at: presented)
        let results = try await repeating {
            try await $0.pipeline(statements, .snapshotWrite, within: $1)
        }
        guard let row = results.row(0) else { throw StateError.failed("a lease has no row") }
        let answer = try Self.answer(row, to: request, for: principal)
        return (try Self.context(Array(results.dropFirst()), of: principal, at: presented), answer)
    }

    /// Moves the end of the lease, by the database's clock.
    package func renew(_ lease: Lease, for milliseconds: Int64, at now: Instant) async throws {
        let results = try await repeating {
            try await $0.pipeline(
                [
                    PostgresStatement(
                        """
                        UPDATE lease SET expires_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $4
                        WHERE principal = $1 AND fence = $2 AND holder = $3
                        """,
                        [
                            .principal(lease.principal), .integer(lease.fence), .text(lease.holder),
                            .integer(milliseconds),
                        ])
                ], .readWrite, within: $1)
        }
        guard results.first?.count == 1 else { throw StateError.leaseLost }
    }

    /// Marks the row as free in one round trip.
    package func giveBack(_ lease: Lease) async throws {
        _ = try await repeating { try await $0.pipeline([.giveBack(lease)], .readWrite, within: $1) }
    }

    /// Returns the statements that stand before and after those of each write in the present task.
    static func leaseFrame() throws(StateError) -> (first: [PostgresStatement], last: [PostgresStatement]) {
        guard let running = RunningLease.current else { return ([], []) }
        return ([try .check(running.lease)], running.isGivenBack ? [try .giveBack(running.lease)] : [])
    }

    private static func take(_ request: LeaseRequest, of principal: Principal) throws -> PostgresStatement {
        PostgresStatement(
            """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now
            ), old AS MATERIALIZED (
                SELECT holder, taken_at FROM lease WHERE principal = $1
            ), taken AS (
                INSERT INTO lease AS l (principal, holder, fence, taken_at, expires_at)
                SELECT $1, $2, nextval('lease_fence'), now, now + $3 FROM clock
                ON CONFLICT (principal) DO UPDATE
                SET holder = $2, fence = nextval('lease_fence'), taken_at = excluded.taken_at,
                    expires_at = excluded.expires_at,
                    distrust_until = CASE WHEN l.holder IS NULL OR l.holder = $2 THEN l.distrust_until
                        ELSE greatest(l.distrust_until, l.expires_at + $3 + $4) END
                WHERE l.holder IS NULL OR l.holder = $2 OR l.expires_at <= excluded.taken_at
                RETURNING l.fence, l.distrust_until
            ), moved AS (
                UPDATE session SET position = NULL
                WHERE principal = $1 AND position IS NOT NULL AND EXISTS (SELECT 1 FROM taken)
                    AND EXISTS (SELECT 1 FROM old WHERE holder <> $2)
            )
            SELECT taken.fence, greatest(taken.distrust_until - clock.now, 0), old.holder, old.taken_at
            FROM clock LEFT JOIN taken ON true LEFT JOIN old ON true
            """,
            [
                try .principal(principal), .text(try key(request.holder, "lease's holder")),
                .integer(request.lifetime), .integer(request.callTimeout),
            ])
    }

    private static func answer(
        _ row: PostgresRow, to request: LeaseRequest, for principal: Principal
    ) throws -> LeaseAnswer {
        var other: LeaseHolder?
        if let name = try row.optionalText(2), name != request.holder {
            other = LeaseHolder(name: name, since: try row.instant(3))
        }
        guard let fence = try row.optionalInteger(0) else {
            guard let other else { throw StateError.failed("a lease is held by nobody and was not taken") }
            return .held(other)
        }
        let lease = Lease(principal: principal, holder: request.holder, fence: fence)
        return .taken(lease, from: other, distrust: try row.optionalInteger(1) ?? 0)
    }
}

extension PostgresStatement {
    /// Divides by zero unless the lease still has its number, and changes its row, which locks it until the end of the
    /// transaction.
    ///
    /// A lock alone would let a take that waits for it go on with an older snapshot.
    ///
    /// A lease that was given back keeps its number until the next take: what a sync writes after that is still in
    /// order.
    static func check(_ lease: Lease) throws(StateError) -> PostgresStatement {
        PostgresStatement(
            """
            WITH checked AS (UPDATE lease SET fence = fence WHERE principal = $1 AND fence = $2 RETURNING 1)
            SELECT 1 / count(*) FROM checked
            """, [try .principal(lease.principal), .integer(lease.fence)])
    }

    /// Marks a lease as free; deletes it if nothing else is known of its principal.
    static func giveBack(_ lease: Lease) throws(StateError) -> PostgresStatement {
        PostgresStatement(
            """
            WITH gone AS (
                DELETE FROM lease WHERE principal = $1 AND fence = $2 AND holder IS NOT NULL AND distrust_until = 0
                    AND NOT EXISTS (SELECT 1 FROM principal WHERE principal = $1) RETURNING 1
            )
            UPDATE lease SET holder = NULL
            WHERE principal = $1 AND fence = $2 AND holder IS NOT NULL AND NOT EXISTS (SELECT 1 FROM gone)
            """, [try .principal(lease.principal), .integer(lease.fence)])
    }
}
