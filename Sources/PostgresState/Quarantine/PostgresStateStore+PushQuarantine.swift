// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Reads one index range of the key.
    package func quarantinedKinds(of principal: Principal) async throws -> [PushedRecordKey: OperationKind] {
        try Self.kinds(try await read([Self.readKinds(of: principal)]).rows(0))
    }

    /// Puts records into quarantine in two round trips; counts the entries that there would be before it writes.
    package func quarantine(
        _ pushes: [QuarantinedOperation], of principal: Principal, limit: Int, at now: Instant
    ) async throws -> [Int64] {
        guard !pushes.isEmpty else { return [] }
        return try await transaction { transaction in
            var known = try Self.kinds(
                try await transaction.pipeline([
                    .ensure(principal, at: now), .lock(principal), Self.readKinds(of: principal),
                ]).rows(2))
            let added = Set(pushes.map(\.key)).subtracting(known.keys).count
            guard known.count + added <= limit else { throw StateError.tooLarge("quarantine of a principal's pushes") }
            let results = try await transaction.commit(
                pushes.map { push in
                    let kind = push.kind(after: known[push.key])
                    known[push.key] = kind
                    return try Self.quarantine(push, as: kind, of: principal, at: now)
                })
            return try results.compactMap { try $0.rows.first?.integer(0) }
        }
    }

    /// Removes entries by one key look-up each, in one round trip.
    package func removeQuarantined(_ keys: [PushedRecordKey], of principal: Principal) async throws {
        guard !keys.isEmpty else { return }
        try await write(
            [.lock(principal)]
                + keys.map { key in
                    PostgresStatement(
                        "DELETE FROM push_quarantine WHERE principal = $1 AND client_table = $2 AND record = $3",
                        [try .principal(principal), .text(key.table), .recordID(key.id)])
                })
    }

    /// Returns scheduled retries by an index that contains only them.
    package func scheduledRetries(of principal: Principal, limit: Int) async throws -> [QuarantinedPush] {
        try await read([
            PostgresStatement(
                """
                SELECT \(QuarantinedPush.columns), body FROM push_quarantine
                WHERE principal = $1 AND marked_at IS NOT NULL ORDER BY id LIMIT $2
                """, [.principal(principal), .int(max(0, limit))])
        ]).rows(0).map { try QuarantinedPush($0) }
    }

    /// Counts an attempt in one row.
    package func countTry(ofQuarantined id: Int64, at now: Instant) async throws -> Int {
        let results = try await write([
            PostgresStatement(
                """
                UPDATE push_quarantine SET tries = tries + 1, last_at = greatest(last_at, $2) WHERE id = $1
                RETURNING tries
                """, [.integer(id), .instant(now)])
        ])
        return Int(try results.row(0)?.number(0) ?? 0)
    }

    /// Updates one row.
    package func quarantineAgain(_ id: Int64, reason: QuarantinedOperation.Reason, at now: Instant) async throws {
        try await write([
            PostgresStatement(
                """
                UPDATE push_quarantine SET marked_at = NULL, count = count + 1, last_at = greatest(last_at, $2),
                    reason = $3, status = $4, message = $5 WHERE id = $1
                """,
                [
                    .integer(id), .instant(now), .text(reason.code), .int(reason.status),
                    .text(reason.message.map { remark($0, limit: 1_024) }),
                ])
        ])
    }

    private static func readKinds(of principal: Principal) throws -> PostgresStatement {
        PostgresStatement(
            "SELECT client_table, record, kind FROM push_quarantine WHERE principal = $1", [try .principal(principal)])
    }

    private static func kinds(_ rows: [PostgresRow]) throws -> [PushedRecordKey: OperationKind] {
        try rows.reduce(into: [:]) { kinds, row in
            kinds[PushedRecordKey(table: try row.text(0), id: try row.recordID(1))] = try row.kind(2)
        }
    }

    /// Puts one record into quarantine and returns its number.
    private static func quarantine(
        _ push: QuarantinedOperation, as kind: OperationKind, of principal: Principal, at now: Instant
    ) throws -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO push_quarantine AS q (principal, client_table, record, kind, body, reason, status, message,
                count, first_at, last_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $9)
            ON CONFLICT (principal, client_table, record) DO UPDATE SET kind = $4, body = $5, whole = true, reason = $6,
                status = $7, message = $8, count = q.count + 1, last_at = greatest(q.last_at, $9), marked_at = NULL
            RETURNING id
            """,
            [
                try .principal(principal), try .table(push.key.table), .recordID(push.key.id), .text(kind.rawValue),
                .bytes(push.body), .text(push.reason.code), .int(push.reason.status),
                .text(push.reason.message.map { remark($0, limit: 1_024) }), .instant(now),
            ])
    }
}

extension QuarantinedPush {
    /// The columns that ``init(_:)`` reads before the body.
    static let columns = """
        id, principal, client_table, record, kind, whole, reason, status, message, count, first_at, last_at, marked_at,
            \(PostgresStatement.origin(of: "push_quarantine.principal"))
        """

    /// Reads a row of ``columns`` and the body.
    init(_ row: PostgresRow) throws {
        let push = QuarantinedOperation(
            key: PushedRecordKey(table: try row.text(2), id: try row.recordID(3)), kind: try row.kind(4),
            body: try row.bytes(15),
            reason: QuarantinedOperation.Reason(
                code: try row.text(6), status: try row.optionalInt(7), message: try row.optionalText(8)))
        try self.init(
            id: row.integer(0), principal: row.principal(1, origin: 13), push: push, isWhole: row.bool(5),
            count: Int(row.number(9)), firstAt: row.instant(10), lastAt: row.instant(11),
            markedAt: row.optionalInstant(12))
    }
}
