// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Returns a receipt only between the time it was saved and the time it expires.
    package func receipt(principal: Principal, digest: String, at now: Instant) async throws -> Receipt? {
        try await readFew { db in
            guard let id = try db.principalID(principal) else { return nil }
            // A receipt from the future was saved before the clock went back; its age is unknown.
            let row = try db.row(
                """
                SELECT status, content_type, body FROM push
                WHERE principal = ? AND digest = ? AND saved_at <= ? AND expires_at > ?
                """, [id, key(digest, "push digest"), now, now])
            return try row.map { row in
                try Receipt(status: Int(row.integer(0)), contentType: row.text(1), body: row.bytes(2))
            }
        }
    }

    /// Replaces the receipt of the same push and drops the oldest over the limit.
    package func saveReceipt(
        _ receipt: Receipt, principal: Principal, digest: String, at now: Instant, expiresAt: Instant
    ) async throws {
        guard receipt.body.count <= limits.receiptBytes else { throw StateError.tooLarge("answer of the push") }
        let limit = max(1, limits.receiptsPerPrincipal)
        try await write { db in
            let owner = try db.ensurePrincipal(principal, at: now)
            let kept = JournalEnd.KeptReceipt(receipt: receipt, digest: digest, expiresAt: expiresAt)
            try db.save(kept, of: owner, limit: limit, at: now)
        }
    }

    /// Reads first; most principals have no receipts.
    package func dropReceipts(principal: Principal) async throws {
        let owner = try await readFewForWrite { db in
            try db.integer(
                """
                SELECT p.id FROM principal p
                WHERE p.digest = ? AND EXISTS (SELECT 1 FROM push WHERE principal = p.id)
                """, [key(principal.rawValue, "principal")])
        }
        guard let owner else { return }
        try await write { try $0.run("DELETE FROM push WHERE principal = ?", [owner]) }
    }
}

extension Database {
    /// Replaces the receipt of the same push and drops the oldest over the limit.
    func save(_ kept: JournalEnd.KeptReceipt, of owner: Int64, limit: Int, at now: Instant) throws {
        try run("DELETE FROM push WHERE principal = ? AND expires_at <= ?", [owner, now])
        try run(
            """
            INSERT OR REPLACE INTO push (principal, digest, status, content_type, body, saved_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                owner, key(kept.digest, "push digest"), kept.receipt.status,
                key(kept.receipt.contentType, "content type"), Data(kept.receipt.body), now, kept.expiresAt,
            ])
        try run(
            """
            DELETE FROM push WHERE id IN (SELECT id FROM push WHERE principal = ? ORDER BY id DESC
                LIMIT -1 OFFSET ?)
            """, [owner, limit])
    }
}
