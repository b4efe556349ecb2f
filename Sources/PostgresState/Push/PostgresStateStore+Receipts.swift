// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Returns a receipt only between the time it was saved and the time it expires.
    package func receipt(principal: Principal, digest: String, at now: Instant) async throws -> Receipt? {
        // A receipt from the future was saved before the clock went back; its age is unknown.
        try await read([
            PostgresStatement(
                """
                SELECT status, content_type, body FROM receipt
                WHERE principal = $1 AND digest = $2 AND saved_at <= $3 AND expires_at > $3
                """, [.principal(principal), .text(key(digest, "push digest")), .instant(now)])
        ]).row(0).map { row in
            Receipt(status: Int(try row.integer(0)), contentType: try row.text(1), body: try row.bytes(2))
        }
    }

    /// Replaces the receipt of the same push and drops the oldest over the limit, in one round trip.
    package func saveReceipt(
        _ receipt: Receipt, principal: Principal, digest: String, at now: Instant, expiresAt: Instant
    ) async throws {
        guard receipt.body.count <= limits.receiptBytes else { throw StateError.tooLarge("answer of the push") }
        let kept = JournalEnd.KeptReceipt(receipt: receipt, digest: digest, expiresAt: expiresAt)
        try await write(
            [.ensure(principal, at: now), .lock(principal)]
                + PostgresStatement.save(kept, of: principal, limit: limits.receiptsPerPrincipal, at: now))
    }

    /// Deletes the receipts in one round trip, which writes nothing if there are none.
    package func dropReceipts(principal: Principal) async throws {
        try await write([
            PostgresStatement("DELETE FROM receipt WHERE principal = $1", [.principal(principal)])
        ])
    }
}

extension PostgresStatement {
    /// Replaces the receipt of the same push and drops the oldest over the limit.
    static func save(
        _ kept: JournalEnd.KeptReceipt, of principal: Principal, limit: Int, at now: Instant
    ) throws -> [PostgresStatement] {
        let owner = try PostgresParameter.principal(principal)
        return [
            PostgresStatement(
                "DELETE FROM receipt WHERE principal = $1 AND expires_at <= $2", [owner, .instant(now)]),
            PostgresStatement(
                """
                INSERT INTO receipt (principal, digest, status, content_type, body, saved_at, expires_at)
                VALUES ($1, $2, $3, $4, $5, $6, $7)
                ON CONFLICT (principal, digest) DO UPDATE SET status = $3, content_type = $4, body = $5, saved_at = $6,
                    expires_at = $7, number = excluded.number
                """,
                [
                    owner, .text(try key(kept.digest, "push digest")), .int(kept.receipt.status),
                    .text(try key(kept.receipt.contentType, "content type")), .bytes(kept.receipt.body),
                    .instant(now), .instant(kept.expiresAt),
                ]),
            PostgresStatement(
                """
                DELETE FROM receipt WHERE principal = $1 AND digest IN (
                    SELECT digest FROM receipt WHERE principal = $1 ORDER BY number DESC OFFSET $2)
                """, [owner, .int(max(1, limit))]),
        ]
    }
}
