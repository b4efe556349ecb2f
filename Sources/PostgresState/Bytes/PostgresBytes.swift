// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Logging
import Postgres
import StateProbes
package import StateStore
package import SyncModel

/// Keeps the bytes of a state in a schema of a PostgreSQL database, for any number of gateways.
///
/// Each method is one transaction and one round trip: its statements do not depend on each other, and are sent together
/// with BEGIN and COMMIT. Nothing depends on a session of the database.
///
/// While the database is away, calls wait until their limit has passed, and then throw ``StateError/unreachable(_:)``.
/// A transaction that has changed nothing is repeated if another one was in its way, or if its connection was lost.
package final class PostgresBytes: ByteStore, LeaseKeeping {
    /// The most times that a transaction is begun.
    private static let attempts = 4

    /// False: the database commits together what comes at the same time.
    package let commitsInGroups = false
    private let pool: PostgresPool
    private let timeout: Duration
    private let probe = StateProbe()
    private let faults: StateFaultLog

    private init(pool: PostgresPool, options: PostgresStateStore.Options) {
        self.pool = pool
        timeout = options.timeout
        faults = StateFaultLog(at: "\(pool.info) schema=\(options.schema)", report: options.report)
    }

    /// Opens the state, and creates it if there is none.
    ///
    /// - Throws: ``StateError``.
    package static func open(_ options: PostgresStateStore.Options, logger: Logger) async throws -> PostgresBytes {
        let pool = try PostgresStateStore.start(options, logger)
        do {
            try await create(pool, options)
            return PostgresBytes(pool: pool, options: options)
        } catch {
            await pool.shutdown()
            throw StateError.wrapping(error)
        }
    }

    private static func create(_ pool: PostgresPool, _ options: PostgresStateStore.Options) async throws {
        try await pool.withTransaction(.readWrite, within: .seconds(120)) { transaction in
            _ = try await transaction.query(
                PostgresStatement(
                    "SELECT pg_advisory_xact_lock(hashtextextended('rind ' || $1, 0))", [.text(options.schema)]))
            let found = try await transaction.query(
                PostgresStatement(
                    "SELECT to_regclass(quote_ident($1) || '.entry') IS NOT NULL", [.text(options.schema)]))
            guard try found.rows.first?.bool(0) == false else { return }
            _ = try await transaction.query(PostgresStatement("CREATE SCHEMA IF NOT EXISTS \"\(options.schema)\""))
            for statement in PostgresBytesSchema.statements {
                _ = try await transaction.query(PostgresStatement(statement))
            }
        }
    }

    package func load(_ lookups: [Lookup]) async throws -> [[ByteRow]] {
        guard !lookups.isEmpty else { return [] }
        let statements = lookups.map(PostgresStatement.reading)
        // Not as a read, which its caller's task would end: it may decide whether something is written.
        var results = try await repeating {
            try await $0.pipeline(statements.flatMap(\.self), .snapshotWrite, within: $1)
        }[...]
        return try statements.map { own in
            defer { results = results.dropFirst(own.count) }
            return try results.prefix(own.count).flatMap { try $0.rows.map { try ByteRow($0) } }
        }
    }

    package func chunks(_ numbers: [Int64]) async throws -> [[UInt8]?] {
        let statements = numbers.map { PostgresStatement("SELECT data FROM chunk WHERE id = $1", [.integer($0)]) }
        let results = try await repeating { try await $0.pipeline(statements, .readOnly, within: $1) }
        return try results.map { try $0.rows.first?.bytes(0) }
    }

    package func reserve(_ kind: RowKind, count: Int) async throws -> [Int64] {
        let sequence = kind == .journal ? "journal_number" : "push_number"
        let statement = PostgresStatement(
            "SELECT nextval('\(sequence)') FROM generate_series(1, $1)", [.integer(Int64(count))])
        let results = try await repeating { try await $0.pipeline([statement], .readWrite, within: $1) }
        return try results.first?.rows.map { try $0.integer(0) } ?? []
    }

    package func commit(_ group: [OwnedChanges]) async throws -> [CommitOutcome] {
        var outcomes: [CommitOutcome] = []
        for changes in group { outcomes.append(try await commit(changes.changes)) }
        return outcomes
    }

    private func commit(_ changes: RowChanges) async throws -> CommitOutcome {
        let lease = changes.lease
        let statements =
            (lease.map { [.expecting($0)] } ?? []) + PostgresStatement.making(changes)
            + (changes.givesLeaseBack ? lease.map { [.freeing($0)] } ?? [] : [])
        do {
            _ = try await repeating { pool, limit in
                do {
                    return try await pool.pipeline(statements, .readWrite, within: limit)
                } catch let error as PostgresError where error.isRefusal {
                    throw Refusal()
                }
            }
            faults.committed()
            return .made
        } catch is Refusal {
            guard let lease else { return .refused }
            return try await isCurrent(lease) ? .refused : .leaseLost
        }
    }

    private struct Refusal: Error {}

    private func isCurrent(_ lease: Lease) async throws -> Bool {
        let statement = PostgresStatement(
            "SELECT 1 FROM lease WHERE owner = $1 AND fence = $2",
            [.integer(lease.principal.owner), .integer(lease.fence)])
        let results = try await repeating { try await $0.pipeline([statement], .readWrite, within: $1) }
        return results.first?.rows.isEmpty == false
    }

    package func check(thoroughly: Bool) async throws {
        _ = try await load([.row(MetaKey.probe.row)])
        try await write(within: timeout)
    }

    package func checkWriting(within limit: Duration) async throws {
        try await probe.result(within: limit) {
            do {
                try await write(within: limit)
                return nil
            } catch {
                return error as? StateError ?? .failed("\(type(of: error))")
            }
        }
    }

    private func write(within limit: Duration) async throws {
        try await repeating(within: limit) { pool, limit in
            _ = try await pool.query(
                "UPDATE meta SET value = value + 1 WHERE key = 'probe'", .readWrite, within: limit)
        }
        faults.committed()
    }

    /// Lets running calls finish and closes all connections; a second call does nothing.
    package func close() async { await pool.shutdown() }

    /// Repeats a transaction that has changed nothing, for reasons that may be over, until the time limit has passed.
    private func repeating<R>(
        within limit: Duration? = nil, _ body: (PostgresPool, _ limit: Duration) async throws -> R
    ) async throws -> R {
        let clock = ContinuousClock()
        let end = clock.now + (limit ?? timeout)
        var attempt = 1
        while true {
            do {
                return try await body(pool, max(end - clock.now, .milliseconds(1)))
            } catch let error as PostgresError
                where error.isWorthRepeating && attempt < Self.attempts && clock.now < end
            {
                attempt += 1
            } catch let refusal as Refusal {
                throw refusal
            } catch {
                let error = StateError.wrapping(error)
                if let error = error as? StateError { faults.failed(error) }
                throw error
            }
        }
    }
}

extension PostgresBytes {
    package func take(_ request: LeaseRequest, of principal: Principal) async throws -> LeaseAnswer {
        let statement = PostgresStatement.take(request, of: principal.owner)
        let results = try await repeating { try await $0.pipeline([statement], .snapshotWrite, within: $1) }
        guard let row = results.first?.rows.first else { throw StateError.failed("a lease has no row") }
        var other: LeaseHolder?
        if let name = try row.optionalText(2), name != request.holder {
            other = LeaseHolder(name: name, since: Instant(milliseconds: try row.integer(3)))
        }
        guard let fence = try row.optionalInteger(0) else {
            guard let other else { throw StateError.failed("a lease is free and was not taken") }
            return .held(other)
        }
        let lease = Lease(principal: principal, holder: request.holder, fence: fence)
        return .taken(lease, from: other, distrust: try row.optionalInteger(1) ?? 0)
    }

    package func renew(_ lease: Lease, for milliseconds: Int64, at now: Instant) async throws {
        let statement = PostgresStatement(
            """
            UPDATE lease SET expires_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $4
            WHERE owner = $1 AND fence = $2 AND holder = $3
            """,
            [.integer(lease.principal.owner), .integer(lease.fence), .text(lease.holder), .integer(milliseconds)])
        let results = try await repeating { try await $0.pipeline([statement], .readWrite, within: $1) }
        guard results.first?.count == 1 else { throw StateError.leaseLost }
    }

    package func giveBack(_ lease: Lease) async throws {
        _ = try await repeating { try await $0.pipeline([.freeing(lease)], .readWrite, within: $1) }
    }
}

extension PostgresError {
    /// True if something was there that the changes did not expect, or was not.
    fileprivate var isRefusal: Bool {
        switch self {
        case .constraint: true
        case .server(let state, _): state == "22012"
        default: false
        }
    }
}

/// Statements about leases, by the database's clock.
extension PostgresStatement {
    fileprivate static func take(_ request: LeaseRequest, of owner: Int64) -> PostgresStatement {
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
            )
            SELECT taken.fence, greatest(taken.distrust_until - clock.now, 0), old.holder, old.taken_at
            FROM clock LEFT JOIN taken ON true LEFT JOIN old ON true
            """,
            [.integer(owner), .text(request.holder), .integer(request.lifetime), .integer(request.callTimeout)])
    }

    /// Divides by zero unless the lease still has its number, and changes its row, which locks it until the end of the
    /// transaction.
    ///
    /// A lock alone would let a take that waits for it go on with an older snapshot. A lease that was given back keeps
    /// its number until the next take: what a sync writes after that is still in order.
    fileprivate static func expecting(_ lease: Lease) -> PostgresStatement {
        PostgresStatement(
            """
            WITH checked AS (UPDATE lease SET fence = fence WHERE owner = $1 AND fence = $2 RETURNING 1)
            SELECT 1 / count(*) FROM checked
            """, [.integer(lease.principal.owner), .integer(lease.fence)])
    }

    /// Marks a lease as free; deletes it if nothing else is known of its principal.
    fileprivate static func freeing(_ lease: Lease) -> PostgresStatement {
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
