// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Reads one index range of the key, and a row for each entry of the principal.
    package func quarantinedKinds(of principal: Principal) async throws -> [PushedRecordKey: OperationKind] {
        try await readSeldom(
            of: principal, where: "EXISTS (SELECT 1 FROM push_quarantine WHERE principal = p.id)"
        ) { db, owner in
            try db.quarantinedKinds(of: owner)
        } ?? [:]
    }

    /// Puts records into quarantine; counts the entries that there would be before it writes.
    package func quarantine(
        _ pushes: [QuarantinedOperation], of principal: Principal, limit: Int, at now: Instant
    ) async throws -> [Int64] {
        guard !pushes.isEmpty else { return [] }
        return try await write { db in
            let owner = try db.ensurePrincipal(principal, at: now)
            var known = try db.quarantinedKinds(of: owner)
            let added = Set(pushes.map(\.key)).subtracting(known.keys).count
            guard known.count + added <= limit else { throw StateError.tooLarge("quarantine of a principal's pushes") }
            return try pushes.map { push in
                let kind = push.kind(after: known[push.key])
                known[push.key] = kind
                return try db.quarantine(push, as: kind, of: owner, at: now)
            }
        }
    }

    /// Removes entries by one key look-up each.
    package func removeQuarantined(_ keys: [PushedRecordKey], of principal: Principal) async throws {
        guard !keys.isEmpty else { return }
        try await write { db in
            guard let owner = try db.principalID(principal) else { return }
            for key in keys {
                try db.run(
                    "DELETE FROM push_quarantine WHERE principal = ? AND client_table = ? AND record = ?",
                    [owner, key.table, Data(key.id.utf8)])
            }
        }
    }

    /// Returns scheduled retries by an index that contains only them.
    package func scheduledRetries(of principal: Principal, limit: Int) async throws -> [QuarantinedPush] {
        try await readSeldom(
            of: principal,
            where: "EXISTS (SELECT 1 FROM push_quarantine WHERE principal = p.id AND marked_at IS NOT NULL)"
        ) { db, owner in
            try db.rows(
                """
                SELECT \(QuarantinedPush.columns), q.body
                FROM push_quarantine q JOIN principal p ON p.id = q.principal
                WHERE q.principal = ? AND q.marked_at IS NOT NULL ORDER BY q.id LIMIT ?
                """, [owner, max(0, limit)]
            ).map { try QuarantinedPush($0) }
        } ?? []
    }

    /// Counts an attempt in one row.
    package func countTry(ofQuarantined id: Int64, at now: Instant) async throws -> Int {
        try await write { db in
            try db.run(
                "UPDATE push_quarantine SET tries = tries + 1, last_at = max(last_at, ?2) WHERE id = ?1", [id, now])
            return Int(try db.integer("SELECT tries FROM push_quarantine WHERE id = ?", [id]) ?? 0)
        }
    }

    /// Updates one row.
    package func quarantineAgain(_ id: Int64, reason: QuarantinedOperation.Reason, at now: Instant) async throws {
        try await write { db in
            try db.run(
                """
                UPDATE push_quarantine SET marked_at = NULL, count = count + 1, last_at = max(last_at, ?2), reason = ?3,
                    status = ?4, message = ?5 WHERE id = ?1
                """, [id, now, reason.code, reason.status, reason.message.map { remark($0, limit: 1_024) }])
        }
    }
}

extension Database {
    fileprivate func quarantinedKinds(of owner: Int64) throws -> [PushedRecordKey: OperationKind] {
        var kinds: [PushedRecordKey: OperationKind] = [:]
        for row in try rows("SELECT client_table, record, kind FROM push_quarantine WHERE principal = ?", [owner]) {
            let key = try PushedRecordKey(table: row.text(0), id: String(decoding: row.bytes(1), as: UTF8.self))
            kinds[key] = try row.pushKind(2)
        }
        return kinds
    }

    /// Puts one record into quarantine and returns its number.
    fileprivate func quarantine(
        _ push: QuarantinedOperation, as kind: OperationKind, of owner: Int64, at now: Instant
    ) throws -> Int64 {
        let record = Data(push.key.id.utf8)
        try run(
            """
            INSERT INTO push_quarantine (principal, client_table, record, kind, body, reason, status, message, count,
                first_at, last_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1, ?9, ?9)
            ON CONFLICT (principal, client_table, record) DO UPDATE SET kind = ?4, body = ?5, whole = 1, reason = ?6,
                status = ?7, message = ?8, count = count + 1, last_at = max(last_at, ?9), marked_at = NULL
            """,
            [
                owner, key(push.key.table, "table"), record, kind.rawValue, Data(push.body), push.reason.code,
                push.reason.status, push.reason.message.map { remark($0, limit: 1_024) }, now,
            ])
        return try integer(
            "SELECT id FROM push_quarantine WHERE principal = ? AND client_table = ? AND record = ?",
            [owner, push.key.table, record]) ?? 0
    }
}

extension StoredRow {
    /// Returns a kind of change.
    fileprivate func pushKind(_ index: Int) throws(StateError) -> OperationKind {
        guard let kind = OperationKind(rawValue: try text(index)) else {
            throw .corrupt("a pushed record that is quarantined is of no kind")
        }
        return kind
    }
}

extension QuarantinedPush {
    /// The columns that ``init(_:)`` reads before the body.
    static let columns = """
        q.id, p.digest, q.client_table, q.record, q.kind, q.whole, q.reason, q.status, q.message, q.count, q.first_at,
            q.last_at, q.marked_at, p.user_digest, p.scope
        """

    /// Reads a row of ``columns`` and the body.
    init(_ row: StoredRow) throws {
        let push = try QuarantinedOperation(
            key: PushedRecordKey(table: row.text(2), id: String(decoding: row.bytes(3), as: UTF8.self)),
            kind: row.pushKind(4), body: row.bytes(15),
            reason: QuarantinedOperation.Reason(
                code: row.text(6), status: row.optionalInteger(7).map(Int.init), message: row.optionalText(8)))
        try self.init(
            id: row.integer(0), principal: row.principal(1, origin: 13), push: push, isWhole: row.integer(5) != 0,
            count: Int(row.number(9)), firstAt: row.instant(10), lastAt: row.instant(11),
            markedAt: row.optionalInstant(12))
    }
}
