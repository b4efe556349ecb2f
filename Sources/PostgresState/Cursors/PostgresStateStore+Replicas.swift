// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Writes only what is new: one round trip.
    package func touch(replica: ReplicaID, result: String, at now: Instant) async throws {
        try await write([
            PostgresStatement(
                """
                UPDATE replica SET last_seen = greatest(last_seen, $2), last_result = $3
                WHERE id = $1 AND NOT dead AND ((last_seen < $2 AND $2 - last_seen >= $4) OR last_result <> $3)
                """,
                [
                    .integer(replica.rawValue), .instant(now), .text(remark(result)), .integer(limits.touchInterval),
                ])
        ])
    }

    /// Writes only if the version rises: one round trip.
    package func notePushed(version: Int, replica: ReplicaID?, principal: Principal) async throws -> Bool {
        let results = try await write([
            PostgresStatement(
                """
                WITH found AS (
                    SELECT id FROM replica WHERE principal = $1 AND NOT dead AND ($2::bigint IS NULL OR id = $2) LIMIT 2
                )
                UPDATE replica SET pushed_version = $3
                WHERE principal = $1 AND id = (SELECT max(id) FROM found HAVING count(*) = 1)
                    AND coalesce(pushed_version, 0) < $3
                """, [try .principal(principal), .integer(replica?.rawValue), .int(version)])
        ])
        return results.first?.count == 1
    }

    /// Returns replicas in the order of their numbers, each with its newest cursor and the counts of its ledger.
    package func replicas(of principal: Principal?, after: ReplicaID?, limit: Int) async throws -> [ReplicaRow] {
        try await rows(
            PostgresStatement(
                """
                \(Self.description) WHERE r.id > $1 AND NOT r.dead AND ($2::text IS NULL OR \(PostgresStatement.belongs("r.principal", to: "$2")))
                ORDER BY r.id LIMIT $3
                """, [.integer(after?.rawValue ?? 0), .text(principal?.rawValue), .int(page(limit))]))
    }

    /// Sorts all replicas, or the principal's, before it reads the ledgers of a page.
    package func replicasByContact(
        of principal: Principal?, after: ReplicaID?, limit: Int
    ) async throws -> [ReplicaRow] {
        try await rows(
            PostgresStatement(
                """
                \(Self.description) WHERE NOT r.dead AND ($2::text IS NULL OR \(PostgresStatement.belongs("r.principal", to: "$2"))) AND ($1 = 0
                    OR (r.last_seen, r.id) < (SELECT n.last_seen, n.id FROM replica n WHERE n.id = $1 LIMIT 1))
                ORDER BY r.last_seen DESC, r.id DESC LIMIT $3
                """, [.integer(after?.rawValue ?? 0), .text(principal?.rawValue), .int(page(limit))]))
    }

    private static let description = """
        SELECT \(LedgerAnchor.columns), r.confirmed, r.last_seen, r.last_result, c.cursor,
            coalesce(r.schema_version, r.pushed_version, c.schema_version), coalesce(c.comparisons, ''::bytea),
            coalesce((SELECT sum(n.bytes)::bigint FROM layer l JOIN layer_count n ON n.layer = l.id
                WHERE l.replica = r.id), 0),
            \(PostgresStatement.origin(of: "r.principal"))
        FROM replica r LEFT JOIN LATERAL (
            SELECT n.cursor, n.schema_version, n.comparisons FROM cursor n
            WHERE n.principal = r.principal AND n.replica = r.id ORDER BY n.cursor DESC LIMIT 1) c ON true
        """

    /// Reads a page of replicas, and then the ledgers of all of them at once.
    private func rows(_ statement: PostgresStatement) async throws -> [ReplicaRow] {
        let lead = cursorLead
        return try await transaction(.readOnly) { transaction in
            var found: [(row: ReplicaRow, anchor: LedgerAnchor)] = []
            for row in try await transaction.query(statement).rows {
                let anchor = try LedgerAnchor(row)
                found.append((try ReplicaRow(row, anchor, cursorLead: lead), anchor))
            }
            let withLedger = found.indices.filter { found[$0].anchor.base != nil }
            let chains = try withLedger.compactMap { index in
                try (found[index].anchor.tip ?? found[index].row.newest).map { cursor in
                    (index, try PostgresStatement.chain(from: cursor, of: found[index].anchor.principal))
                }
            }
            guard !chains.isEmpty else { return found.map(\.row) }
            for (chain, result) in zip(chains, try await transaction.pipeline(chains.map(\.1))) {
                found[chain.0].row.ledger = try LedgerChain(result.rows).counts
            }
            return found.map(\.row)
        }
    }
}

extension ReplicaRow {
    fileprivate init(_ row: PostgresRow, _ anchor: LedgerAnchor, cursorLead: Int64) throws {
        try self.init(
            id: anchor.replica, principal: row.principal(1, origin: 19), isConfirmed: row.bool(12),
            firstSeen: anchor.firstSeen, lastSeen: row.instantSince1970(13), lastResult: row.text(14),
            newest: row.cursor(15), schemaVersion: row.optionalInt(16), tip: anchor.tip,
            horizon: anchor.horizon.flatMap(Cursor.init(rawValue:)),
            ledgerBytes: anchor.base == nil ? 0 : Int(row.integer(18)),
            comparisons: PostgresStateStore.comparisons(row.bytes(17)), acceptedAt: anchor.acceptedAt,
            resyncAt: max(0, anchor.resyncAt - cursorLead))
    }
}

/// Returns the number of rows to list: at most 10,000.
func page(_ limit: Int) -> Int { min(max(0, limit), 10_000) }
