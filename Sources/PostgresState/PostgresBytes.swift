// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import Postgres
import StateProbes
import StateSQL
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
    private static let attempts = 4

    /// False: the database commits together what comes at the same time.
    package let commitsInGroups = false
    private let pool: PostgresPool
    private let timeout: Duration
    private let probe = StateProbe()
    private let faults: StateFaultLog

    /// The number of the state: positions of another one do not count.
    let epoch: Int64

    private init(pool: PostgresPool, options: PostgresStateStore.Options, epoch: Int64) {
        self.pool = pool
        self.epoch = epoch
        timeout = options.timeout
        faults = StateFaultLog(at: "\(pool.info) schema=\(options.schema)", report: options.report)
    }

    /// Opens the state; `prepare` makes or checks the schema.
    static func open(
        _ options: PostgresStateStore.Options, logger: Logger, preparing prepare: (PostgresPool) async throws -> Void
    ) async throws -> PostgresBytes {
        let pool = try PostgresStateStore.start(options, logger)
        do {
            try await prepare(pool)
            let row = try await pool.query(
                "SELECT value FROM meta WHERE key = 'epoch'", .readOnly, within: options.timeout
            ).rows.first
            return PostgresBytes(pool: pool, options: options, epoch: try row?.integer(0) ?? 0)
        } catch {
            await pool.shutdown()
            throw StateError.wrapping(error)
        }
    }

    package func load(_ lookups: [Lookup]) async throws -> [[ByteRow]] {
        guard !lookups.isEmpty else { return [] }
        let statements = lookups.map(PostgresStatement.reading)
        let results = try await repeating {
            try await $0.pipeline(statements.flatMap(\.self), .steadyRead, within: $1)
        }
        return try rows(results[...], of: statements)
    }

    private func rows(
        _ results: ArraySlice<PostgresResult>, of statements: [[PostgresStatement]]
    ) throws -> [[ByteRow]] {
        var results = results
        return try statements.map { own in
            defer { results = results.dropFirst(own.count) }
            return try results.prefix(own.count).flatMap { try $0.rows.map { try ByteRow($0) } }
        }
    }

    /// Returns nil: other gateways may write at any time.
    package func foreignChanges() -> Int64? { nil }

    package func chunks(_ numbers: [Int64]) async throws -> [[UInt8]?] {
        let statements = numbers.map { PostgresStatement(.chunk($0)) }
        let results = try await repeating { try await $0.pipeline(statements, .readOnly, within: $1) }
        return try results.map { try $0.rows.first?.bytes(0) }
    }

    /// The location without secrets, for the operator.
    package var location: String { faults.location }

    package func page(of table: ByteTableName, after key: RowKey?, limit: Int) async throws -> [ByteRow] {
        let statement = PostgresStatement(.page(of: table, after: key, limit: limit))
        let results = try await repeating { try await $0.pipeline([statement], .readOnly, within: $1) }
        return try results.first?.rows.map { try ByteRow($0) } ?? []
    }

    package func reserve(_ kind: RowKind, count: Int) async throws -> [Int64] {
        let added = RowStatement.putting(ByteRow(key: MetaKey.numbers(of: kind).row, number: Int64(count)), .add)
        let statement = PostgresStatement(RowStatement(added.sql + " RETURNING number", added.values))
        let results = try await repeating { try await $0.pipeline([statement], .readWrite, within: $1) }
        guard let last = try results.first?.rows.first?.integer(0) else { throw StateError.failed("no number") }
        return Array(last - Int64(count) + 1...last)
    }

    package func commit(_ group: [RowChanges]) async throws -> [CommitOutcome] {
        var outcomes: [CommitOutcome] = []
        for changes in group { outcomes.append(try await commit(changes)) }
        return outcomes
    }

    private func commit(_ changes: RowChanges) async throws -> CommitOutcome {
        let lease = changes.lease
        let statements =
            (lease.map { [.expecting($0)] } ?? []) + PostgresStatement.making(changes)
            + (lease?.isGivenBack == true ? lease.map { [.freeing($0)] } ?? [] : [])
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
        try await probe.result(within: limit) { try await write(within: limit) }
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
    package func take(
        _ request: LeaseRequest, of principal: Principal, deleting key: RowKey, loading lookups: [Lookup]
    ) async throws -> (answer: LeaseAnswer, rows: [[ByteRow]]) {
        let reading = lookups.map(PostgresStatement.reading)
        let statements = [PostgresStatement.take(request, of: principal.owner, deleting: key)] + reading.flatMap(\.self)
        let results = try await repeating { try await $0.pipeline(statements, .snapshotWrite, within: $1) }
        return (try answer(results, to: request, of: principal), try rows(results.dropFirst(), of: reading))
    }

    private func answer(
        _ results: [PostgresResult], to request: LeaseRequest, of principal: Principal
    ) throws -> LeaseAnswer {
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
