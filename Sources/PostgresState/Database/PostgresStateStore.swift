// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateProbes
package import StateStore
import SyncModel

/// Stores the state in a schema of a PostgreSQL database, for any number of gateways.
///
/// Each method is one transaction, and most are one round trip: their statements do not depend on each other, and are
/// sent together with BEGIN and COMMIT. A write locks the row of its principal first, so that the writes of one
/// principal follow each other, whichever gateway they come from. Nothing depends on a session of the database.
///
/// While the database is away, calls wait until their limit has passed, and then throw ``StateError/unreachable(_:)``.
/// A transaction that has changed nothing is repeated if another one was in its way, or if its connection was lost.
package final class PostgresStateStore: StateStore {
    /// The limits on what the store keeps and how often it writes.
    package let limits: StateLimits
    /// The lead of cursors over the clock, in milliseconds, as it was when the store was opened.
    package let cursorLead: Int64
    /// The location of the state without secrets, for the log.
    package let location: String
    let pool: PostgresPool
    let schema: String
    let timeout: Duration
    private let probe = StateProbe()
    private let faults: StateFaultLog
    /// Tells the collections of this store from those of others.
    let collector = Int64.random(in: 1...1 << 53)

    init(pool: PostgresPool, options: Options, cursorLead: Int64) {
        self.pool = pool
        self.cursorLead = cursorLead
        limits = options.limits
        schema = options.schema
        timeout = options.timeout
        location = "\(pool.info) schema=\(options.schema)"
        faults = StateFaultLog(at: location, report: options.report)
    }

    /// Lets running calls finish and closes all connections; a second call does nothing.
    package func close() async { await pool.shutdown() }

    /// Reads the version of the schema, and writes a counter that has no other use; reads no pages besides, since the
    /// database checks its own.
    package func check(thoroughly: Bool) async throws {
        _ = try await read([Self.readVersion])
        try await writeProbe(within: timeout)
    }

    /// Commits a counter that has no other use.
    package func checkWriting(within limit: Duration) async throws {
        try await probe.result(within: limit) {
            do {
                try await writeProbe(within: limit)
                return nil
            } catch {
                return error as? StateError ?? .failed("\(type(of: error))")
            }
        }
    }

    private func writeProbe(within limit: Duration) async throws {
        try await repeating(within: limit) { pool, limit in
            _ = try await pool.query(
                "UPDATE meta SET value = value + 1 WHERE key = 'probe'", .readWrite, within: limit)
        }
        faults.committed()
    }
}

// How methods run their statements.
extension PostgresStateStore {
    /// The most times that a transaction is begun.
    private static let attempts = 4

    /// Runs statements as one consistent read: one round trip, cancelled with its task.
    func read(_ statements: [PostgresStatement]) async throws -> [PostgresResult] {
        try await repeating { try await $0.pipeline(statements, .readOnly, within: $1) }
    }

    /// Runs statements that read, or that also write, in one round trip; goes on if its task is cancelled.
    @discardableResult
    func write(_ statements: [PostgresStatement]) async throws -> [PostgresResult] {
        let frame = try Self.leaseFrame()
        let all = frame.first + statements + frame.last
        let results = try await repeating { try await $0.pipeline(all, .readWrite, within: $1) }
        faults.committed()
        return Array(results[frame.first.count..<results.count - frame.last.count])
    }

    /// Runs a transaction in several round trips; the body may run again, from the beginning.
    func transaction<R>(
        _ mode: PostgresMode = .readWrite, _ body: (inout PostgresTransaction) async throws -> R
    ) async throws -> R {
        let frame = mode == .readOnly ? ([], []) : try Self.leaseFrame()
        let result = try await repeating { pool, limit in
            try await pool.withTransaction(mode, within: limit) { transaction in
                transaction.frame = frame
                return try await body(&transaction)
            }
        }
        if mode != .readOnly { faults.committed() }
        return result
    }

    /// Repeats a transaction that has changed nothing, for reasons that may be over, until the time limit has passed.
    func repeating<R>(
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
            } catch PostgresError.server(state: "22012", _) where RunningLease.current != nil {
                // The check of the lease's number divides by zero.
                throw StateError.leaseLost
            } catch {
                let error = StateError.wrapping(error)
                if let error = error as? StateError { faults.failed(error) }
                throw error
            }
        }
    }
}

// Statements that many transactions begin with.
extension PostgresStatement {
    /// Creates a principal that is not there yet.
    static func ensure(_ principal: Principal, at now: Instant) throws(StateError) -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO principal (principal, last_seen, user_digest, scope) VALUES ($1, $2, $3, $4)
            ON CONFLICT (principal) DO NOTHING
            """,
            [
                try .principal(principal), .instant(now), .text(principal.origin?.user), .text(principal.origin?.scope),
            ])
    }

    /// Returns a condition on a principal: it is that of the parameter, or belongs to the user of the parameter.
    static func belongs(_ column: String, to parameter: String) -> String {
        "\(column) IN (SELECT \(parameter) UNION ALL SELECT o.principal FROM principal o WHERE o.user_digest = \(parameter))"
    }

    /// Returns two columns with what the principal in a column of another table was made from.
    static func origin(of column: String) -> String {
        """
        (SELECT o.user_digest FROM principal o WHERE o.principal = \(column)),
            (SELECT o.scope FROM principal o WHERE o.principal = \(column))
        """
    }

    /// Locks a principal's row until the end of the transaction; returns its newest cursor, its sequence of notes and
    /// that of its ids.
    static func lock(_ principal: Principal) throws(StateError) -> PostgresStatement {
        PostgresStatement(
            "SELECT newest, sequence, id_sequence FROM principal WHERE principal = $1 FOR UPDATE",
            [try .principal(principal)])
    }
}
