// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
import SyncModel

extension PostgresStateStore {
    /// Commits a usual pull in one round trip; any other in two: everything that decides is locked and read, then
    /// everything is written.
    package func commit(_ pull: PullCommit) async throws {
        if try await commitQuickly(pull) { return }
        try await transaction { transaction in
            let basis = try CommitBasis(try await transaction.pipeline(CommitBasis.statements(for: pull)), pull)
            try basis.check(pull)
            let standing = try basis.standing(of: pull)
            let own = try [replica(of: pull)] + standing.statements(for: pull, limit: limits.chunkBytes)
            _ = try await transaction.commit(own + [cursor(of: pull, standing)] + commonStatements(for: pull))
        }
    }

    /// Returns the statements of every commit, except those of the layer and the cursor.
    func commonStatements(for pull: PullCommit) throws -> [PostgresStatement] {
        var statements = [
            PostgresStatement(
                "UPDATE principal SET newest = $2, last_seen = greatest(last_seen, $3) WHERE principal = $1",
                [try .principal(pull.row.principal), .cursor(pull.row.cursor), .instant(pull.now)])
        ]
        if pull.position != nil || pull.acceptedAt != nil {
            statements.append(
                PostgresStatement(
                    """
                    UPDATE session SET position = coalesce($3, position), accepted_at = coalesce($4, accepted_at)
                    WHERE principal = $1 AND session = $2
                    """,
                    [
                        try .principal(pull.row.principal), .text(pull.row.session.rawValue),
                        .bytes(try pull.position.map(encoded)), .instant(pull.acceptedAt),
                    ]))
        }
        statements += try pull.delivered.map { try Self.delivery(of: $0, pull) }
        statements.append(
            PostgresStatement("DELETE FROM receipt WHERE principal = $1", [try .principal(pull.row.principal)]))
        statements += try Self.capUnconfirmed(pull)
        return statements + (try quarantine(pull.quarantined, for: pull.row.principal, at: pull.now))
    }

    /// Creates the replica of a pull, or records that it was seen.
    func replica(of pull: PullCommit) throws -> PostgresStatement {
        let parameters: [PostgresParameter] = [
            try .principal(pull.row.principal), .integer(pull.row.replica.rawValue), .instant(pull.now),
            .text(remark(pull.result)), .int(pull.clientVersion),
            .cursor(pull.row.isConfirmed ? pull.row.cursor : nil),
        ]
        switch pull.replica {
        case .new:
            return PostgresStatement(
                """
                INSERT INTO replica (principal, id, confirmed, first_seen, last_seen, last_result, schema_version, tip)
                VALUES ($1, $2, $6::bigint IS NOT NULL, $3, $3, $4, $5, $6)
                """, parameters)
        case .existing:
            return PostgresStatement(
                """
                UPDATE replica SET last_seen = greatest(last_seen, $3), last_result = $4, schema_version = $5,
                    tip = coalesce($6, tip) WHERE principal = $1 AND id = $2
                """, parameters)
        }
    }

    private func cursor(of pull: PullCommit, _ standing: LedgerStanding) throws -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO cursor (principal, cursor, replica, parent, vector, schema_version, session, generation,
                confirmed, mapping, noted, comparisons, id_sequence, kept, exact, layer, below)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
            """,
            try columns(of: pull) + [
                .bool(standing.isExact), .integer(standing.layer), .integer(standing.below),
            ])
    }

    /// Returns the values of a cursor's columns, except for its standing in the ledger.
    func columns(of pull: PullCommit) throws -> [PostgresParameter] {
        let row = pull.row
        let states = FullComparisonStates.encode(row.comparisons)
        guard states.count <= limits.comparisonBytes else { throw StateError.tooLarge("comparison states") }
        return [
            try .principal(row.principal), .cursor(row.cursor), .integer(row.replica.rawValue), .cursor(row.parent),
            .bytes(try encoded(row.vector)), .int(row.schemaVersion), .text(row.session.rawValue),
            .int(row.generation), .bool(row.isConfirmed), .text(try key(row.mappingDigest, "mapping digest")),
            .integer(row.noted), .bytes(states), .integer(row.ids.sequence),
            .bytes(try KeptIDs.encode(row.ids.kept)),
        ]
    }

    /// Records the cursor with which a pending redelivery is delivered.
    ///
    /// It is done when that cursor, or one made from it, comes back.
    private static func delivery(of redelivery: PendingRedelivery, _ pull: PullCommit) throws -> PostgresStatement {
        PostgresStatement(
            """
            UPDATE owed SET delivered = $5
            WHERE principal = $1 AND replica = $2 AND client_table = $3 AND record = $4
            """,
            [
                try .principal(pull.row.principal), .integer(pull.row.replica.rawValue), .text(redelivery.table),
                .text(redelivery.id), .cursor(pull.row.cursor),
            ])
    }

    /// Drops the oldest replicas that have never come back, down to the limit (finding 27), and their ledgers at once:
    /// a client that begins again in a loop writes a whole ledger each time.
    private static func capUnconfirmed(_ pull: PullCommit) throws -> [PostgresStatement] {
        [
            PostgresStatement(
                """
                WITH surplus AS (
                    SELECT id FROM replica WHERE principal = $1 AND NOT confirmed AND NOT dead
                    ORDER BY id = $2 DESC, last_seen DESC, id DESC LIMIT 1000 OFFSET $3
                ), killed AS (
                    UPDATE replica r SET dead = true, tip = NULL, base = NULL, compacted = NULL FROM surplus
                    WHERE r.principal = $1 AND r.id = surplus.id RETURNING r.id
                )
                DELETE FROM chunk WHERE layer IN (
                    SELECT l.id FROM layer l JOIN killed ON l.replica = killed.id)
                """,
                [
                    try .principal(pull.row.principal), .integer(pull.row.replica.rawValue),
                    .int(max(1, pull.unconfirmedReplicas)),
                ])
        ]
    }
}
