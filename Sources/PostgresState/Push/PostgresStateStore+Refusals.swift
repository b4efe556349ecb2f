// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Records refusals in one round trip.
    package func noteRefusals(
        _ operations: [RefusedOperation], of principal: Principal, replica: ReplicaID?, result: String, at now: Instant
    ) async throws {
        let limit = max(1, limits.refusalsPerPrincipal)
        let owner = try PostgresParameter.principal(principal)
        var statements = [try PostgresStatement.lock(principal)]
        statements += try operations.suffix(limit).map { try .note($0, of: principal, at: now) }
        statements += [
            PostgresStatement(
                """
                DELETE FROM push_refusal WHERE principal = $1 AND (client_table, record) IN (
                    SELECT client_table, record FROM push_refusal WHERE principal = $1
                    ORDER BY last_at DESC, client_table, record OFFSET $2)
                """, [owner, .int(limit)]),
            PostgresStatement(
                """
                UPDATE replica SET last_seen = greatest(last_seen, $3), last_result = $4
                WHERE principal = $1 AND id = $2 AND NOT dead
                """, [owner, .integer(replica?.rawValue), .instant(now), .text(remark(result))]),
        ]
        try await write(statements)
    }

    /// Returns refusals by one index range of the key.
    package func refusals(of principal: Principal, limit: Int) async throws -> [RefusalEntry] {
        try await read([
            PostgresStatement(
                """
                SELECT \(RefusalEntry.columns) FROM push_refusal WHERE principal = $1
                ORDER BY last_at DESC, client_table, record LIMIT $2
                """, [.principal(principal), .int(max(0, limit))])
        ]).rows(0).map { try RefusalEntry($0) }
    }

    /// Finds a refusal by one key look-up.
    package func refusal(of principal: Principal, key: PushedRecordKey) async throws -> RefusalEntry? {
        try await read([
            PostgresStatement(
                """
                SELECT \(RefusalEntry.columns) FROM push_refusal
                WHERE principal = $1 AND client_table = $2 AND record = $3
                """, [.principal(principal), .text(key.table), .recordID(key.id)])
        ]).row(0).map { try RefusalEntry($0) }
    }
}

extension PostgresStatement {
    /// Records one refusal, for a principal that the state knows.
    fileprivate static func note(
        _ operation: RefusedOperation, of principal: Principal, at now: Instant
    ) throws -> PostgresStatement {
        let reason = operation.reason
        return PostgresStatement(
            """
            INSERT INTO push_refusal AS f (principal, client_table, record, kind, call, reason, status, message, count,
                first_at, last_at)
            SELECT $1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $9 FROM principal WHERE principal = $1
            ON CONFLICT (principal, client_table, record) DO UPDATE SET kind = $4, call = $5, reason = $6, status = $7,
                message = $8, count = f.count + 1, last_at = greatest(f.last_at, $9)
            """,
            [
                try .principal(principal), try .table(operation.key.table), .recordID(operation.key.id),
                .text(operation.kind.rawValue), .text(operation.call.map { remark($0) }), .text(reason.code),
                .int(reason.status), .text(reason.message.map { remark($0, limit: 1_024) }), .instant(now),
            ])
    }
}

extension RefusalEntry {
    fileprivate static let columns =
        "client_table, record, kind, call, reason, status, message, count, first_at, last_at"

    /// Reads a row of ``columns``.
    fileprivate init(_ row: PostgresRow) throws {
        let operation = RefusedOperation(
            key: PushedRecordKey(table: try row.text(0), id: try row.recordID(1)), kind: try row.kind(2),
            call: try row.optionalText(3),
            reason: QuarantinedOperation.Reason(
                code: try row.text(4), status: try row.optionalInt(5), message: try row.optionalText(6)))
        self.init(
            operation: operation, count: Int(try row.number(7)), firstAt: try row.instant(8),
            lastAt: try row.instant(9))
    }
}
