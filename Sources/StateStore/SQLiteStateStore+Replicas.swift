// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
package import SyncModel

extension SQLiteStateStore {
    /// Reads first.
    package func touch(replica: ReplicaID, result: String, at now: Int64) async throws {
        let interval = limits.touchInterval
        let isNews = try await read { db in
            let seen = try db.integer("SELECT last_seen FROM replica WHERE id = ?", [replica.rawValue])
            return seen.map { isDue(now, after: $0, interval) } ?? false
        }
        guard isNews else { return }
        try await write { db in
            try db.run(
                "UPDATE replica SET last_seen = max(last_seen, ?), last_result = ? WHERE id = ?",
                [now, remark(result), replica.rawValue])
        }
    }

    /// By the numbers, each with its newest cursor.
    package func replicas(of principal: Principal?, after: ReplicaID?, limit: Int) async throws -> [ReplicaRow] {
        try await read { db in
            var owner: Int64?
            if let principal {
                owner = try db.principalID(principal)
                if owner == nil { return [] }
            }
            return try db.rows(
                """
                SELECT r.id, p.digest, r.confirmed, r.first_seen, r.last_seen, r.last_result, c.cursor, c.schema_version
                FROM replica r JOIN principal p ON p.id = r.principal
                LEFT JOIN cursor c ON c.principal = r.principal
                    AND c.cursor = (SELECT max(cursor) FROM cursor WHERE replica = r.id)
                WHERE r.id > ? \(owner == nil ? "" : "AND r.principal = ?") ORDER BY r.id LIMIT ?
                """,
                StatementArguments(
                    [after?.rawValue ?? 0] + (owner.map { [$0] } ?? []) + [min(max(0, Int64(limit)), 10_000)])
            ).map { row in
                try ReplicaRow(
                    id: ReplicaID(rawValue: row.integer(0)), principal: Principal(rawValue: row.text(1)),
                    isConfirmed: row.integer(2) != 0, firstSeen: row.integer(3), lastSeen: row.integer(4),
                    lastResult: row.text(5), newest: row.optionalInteger(6).flatMap(SyncModel.Cursor.init(rawValue:)),
                    schemaVersion: row.optionalInteger(7).map(Int.init))
            }
        }
    }
}
