// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
package import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Reads first, and writes only if there is something new.
    package func touch(replica: ReplicaID, result: String, at now: Instant) async throws {
        let interval = limits.touchInterval
        let isNews = try await readForWrite { db in
            let row = try db.row("SELECT last_seen, last_result FROM replica WHERE id = ?", [replica.rawValue])
            return try row.map { try isDue(now, after: $0.instant(0), interval) || $0.text(1) != remark(result) }
                ?? false
        }
        guard isNews else { return }
        try await write { db in
            try db.run(
                "UPDATE replica SET last_seen = max(last_seen, ?), last_result = ? WHERE id = ?",
                [now, remark(result), replica.rawValue])
        }
    }

    /// Reads first; the version rises once for each update of an app.
    package func notePushed(version: Int, replica: ReplicaID?, principal: Principal) async throws -> Bool {
        let isNews = try await readForWrite { try $0.replica(replica, of: principal, below: version) != nil }
        guard isNews else { return false }
        return try await write { db in
            guard let id = try db.replica(replica, of: principal, below: version) else { return false }
            try db.run("UPDATE replica SET pushed_version = ? WHERE id = ?", [version, id])
            return true
        }
    }

    /// Returns replicas in the order of their numbers, each with its newest cursor and the counts of its ledger.
    package func replicas(of principal: Principal?, after: ReplicaID?, limit: Int) async throws -> [ReplicaRow] {
        try await rows(
            of: principal, after, limit,
            choosing: """
                WHERE r.id > ?1 AND r.dead = 0 \(principal == nil ? "" : "AND \(Database.belongs("p.digest", to: "?3"))")
                ORDER BY r.id LIMIT ?2
                """)
    }

    /// Sorts all replicas, or the principal's, before it reads the ledgers of a page.
    package func replicasByContact(
        of principal: Principal?, after: ReplicaID?, limit: Int
    ) async throws -> [ReplicaRow] {
        let first = after == nil ? "?1 = 0" : "(last_seen, id) < (SELECT last_seen, id FROM replica WHERE id = ?1)"
        let own =
            principal == nil
            ? "" : "AND principal IN (\(Database.principals(of: "?3")))"
        return try await rows(
            of: principal, after, limit,
            choosing: """
                WHERE r.id IN (
                    SELECT id FROM replica WHERE \(first) AND dead = 0 \(own) ORDER BY last_seen DESC, id DESC LIMIT ?2
                ) ORDER BY r.last_seen DESC, r.id DESC
                """)
    }

    /// Reads replicas; the clause that selects and sorts them takes `after` or 0, the limit, and the principal if there
    /// is one.
    private func rows(
        of principal: Principal?, _ after: ReplicaID?, _ limit: Int,
        choosing choice: String
    ) async throws -> [ReplicaRow] {
        let lead = cursorLead
        return try await read { db in
            let owner = try principal.map { try key($0.rawValue, "principal") }
            return try db.rows(
                """
                SELECT r.id, p.digest, r.confirmed, r.first_seen, r.last_seen, r.last_result, c.cursor,
                    coalesce(r.schema_version, r.pushed_version, c.schema_version), coalesce(w.states, x''),
                    p.user_digest, p.scope
                FROM replica r JOIN principal p ON p.id = r.principal
                LEFT JOIN cursor c ON c.principal = r.principal
                    AND c.cursor = (SELECT max(cursor) FROM cursor WHERE replica = r.id)
                LEFT JOIN sweep_states w ON w.id = c.sweeps
                \(choice)
                """,
                [after?.rawValue ?? 0, min(max(0, Int64(limit)), 10_000)] + (owner.map { [$0] } ?? [])
            ).map { row in
                var replica = try ReplicaRow(
                    id: ReplicaID(rawValue: row.integer(0)), principal: row.principal(1, origin: 9),
                    isConfirmed: row.integer(2) != 0, firstSeen: row.instantSince1970(3),
                    lastSeen: row.instantSince1970(4),
                    lastResult: row.text(5), newest: row.optionalInteger(6).flatMap(SyncModel.Cursor.init(rawValue:)),
                    schemaVersion: row.optionalInteger(7).map(Int.init), comparisons: Database.comparisons(row.bytes(8))
                )
                try db.describeLedger(of: &replica, cursorLead: lead)
                return replica
            }
        }
    }
}

extension Database {
    /// Returns a principal's replica, or its only one, if its pushes have implied less than this version.
    fileprivate func replica(_ replica: ReplicaID?, of principal: Principal, below version: Int) throws -> Int64? {
        guard let owner = try principalID(principal) else { return nil }
        let found = try rows(
            """
            SELECT id, coalesce(pushed_version, 0) FROM replica
            WHERE principal = ?1 AND dead = 0 AND (?2 IS NULL OR id = ?2) LIMIT 2
            """, [owner, replica?.rawValue])
        guard found.count == 1, let row = found.first, try row.integer(1) < Int64(version) else { return nil }
        return try row.integer(0)
    }

    /// Fills in the ledger's values that the operator sees.
    fileprivate func describeLedger(of replica: inout ReplicaRow, cursorLead: Int64) throws {
        guard let anchor = try anchor(of: replica.id) else { return }
        replica.tip = anchor.tip
        replica.horizon = anchor.horizon.flatMap(SyncModel.Cursor.init(rawValue:))
        replica.acceptedAt = anchor.acceptedAt
        replica.resyncAt = max(0, anchor.resyncAt - cursorLead)
        guard anchor.base != nil else { return }
        replica.ledger = try counts(of: outline(of: anchor, at: anchor.tip ?? replica.newest))
        replica.ledgerBytes = Int(
            try integer(
                "SELECT sum(n.bytes) FROM layer l JOIN layer_count n ON n.layer = l.id WHERE l.replica = ?",
                [replica.id.rawValue]) ?? 0)
    }
}
