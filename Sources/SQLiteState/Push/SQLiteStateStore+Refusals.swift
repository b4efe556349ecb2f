// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Records refusals in one transaction.
    package func noteRefusals(
        _ operations: [RefusedOperation], of principal: Principal, replica: ReplicaID?, result: String, at now: Instant
    ) async throws {
        let limit = max(1, limits.refusalsPerPrincipal)
        try await write { db in
            guard let owner = try db.principalID(principal) else { return }
            for operation in operations.suffix(limit) { try db.note(operation, of: owner, at: now) }
            try db.run(
                """
                DELETE FROM push_refusal WHERE principal = ?1 AND (client_table, record) IN (
                    SELECT client_table, record FROM push_refusal WHERE principal = ?1
                    ORDER BY last_at DESC LIMIT -1 OFFSET ?2)
                """, [owner, limit])
            try db.run(
                """
                UPDATE replica SET last_seen = max(last_seen, ?3), last_result = ?4 WHERE id = ?1 AND principal = ?2
                """, [replica?.rawValue, owner, now, remark(result)])
        }
    }

    /// Returns refusals by one index range of the key.
    package func refusals(of principal: Principal, limit: Int) async throws -> [RefusalEntry] {
        try await read { db in
            guard let owner = try db.principalID(principal) else { return [] }
            return try db.rows(
                """
                SELECT \(RefusalEntry.columns) FROM push_refusal WHERE principal = ?
                ORDER BY last_at DESC, client_table, record LIMIT ?
                """, [owner, max(0, limit)]
            ).map { try RefusalEntry($0) }
        }
    }

    /// Finds a refusal by one key look-up.
    package func refusal(of principal: Principal, key: PushedRecordKey) async throws -> RefusalEntry? {
        try await read { db in
            guard let owner = try db.principalID(principal) else { return nil }
            return try db.row(
                """
                SELECT \(RefusalEntry.columns) FROM push_refusal
                WHERE principal = ? AND client_table = ? AND record = ?
                """, [owner, key.table, Data(key.id.utf8)]
            ).map { try RefusalEntry($0) }
        }
    }
}

extension Database {
    fileprivate func note(_ operation: RefusedOperation, of owner: Int64, at now: Instant) throws {
        let reason = operation.reason
        try run(
            """
            INSERT INTO push_refusal (principal, client_table, record, kind, call, reason, status, message, count,
                first_at, last_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1, ?9, ?9)
            ON CONFLICT (principal, client_table, record) DO UPDATE SET kind = ?4, call = ?5, reason = ?6, status = ?7,
                message = ?8, count = count + 1, last_at = max(last_at, ?9)
            """,
            [
                owner, key(operation.key.table, "table"), Data(operation.key.id.utf8), operation.kind.rawValue,
                operation.call.map { remark($0) }, reason.code, reason.status,
                reason.message.map { remark($0, limit: 1_024) }, now,
            ])
    }

    /// Deletes refusals older than a time.
    func collectRefusals(before: Instant, _ batch: Int) throws -> Int {
        try run(
            """
            DELETE FROM push_refusal WHERE (principal, client_table, record) IN (
                SELECT principal, client_table, record FROM push_refusal WHERE last_at < ? LIMIT ?)
            """, [before, batch])
        return changesCount
    }
}

extension RefusalEntry {
    fileprivate static let columns =
        "client_table, record, kind, call, reason, status, message, count, first_at, last_at"

    /// Reads a row of ``columns``.
    fileprivate init(_ row: StoredRow) throws {
        guard let kind = OperationKind(rawValue: try row.text(2)) else {
            throw StateError.corrupt("a refused operation is of no kind")
        }
        let operation = try RefusedOperation(
            key: PushedRecordKey(table: row.text(0), id: String(decoding: row.bytes(1), as: UTF8.self)), kind: kind,
            call: row.optionalText(3),
            reason: QuarantinedOperation.Reason(
                code: row.text(4), status: row.optionalInteger(5).map(Int.init), message: row.optionalText(6)))
        try self.init(
            operation: operation, count: Int(row.number(7)), firstAt: row.instant(8), lastAt: row.instant(9))
    }
}
