// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore
import SyncModel

extension PostgresStateStore {
    /// Commits a usual pull in one round trip, on the assumption that nothing has come between.
    ///
    /// The first statements lock, and one divides by the number of rows that are as the pull expects them: if there are
    /// none, it fails and nothing has changed.
    ///
    /// - Returns: False if the pull is of another kind, or does not fit any more: the long way finds out why.
    func commitQuickly(_ pull: PullCommit) async throws -> Bool {
        guard let quick = try quickStatements(for: pull) else { return false }
        let frame = try Self.leaseFrame()
        let statements = frame.first + quick + frame.last
        return try await repeating { pool, limit in
            do {
                _ = try await pool.pipeline(statements, .readWrite, within: limit)
                return true
            } catch PostgresError.server(state: "22012", _) {
                return false
            }
        }
    }

    /// Returns the statements; nil for a first pull of a replica, or one whose layer was staged.
    private func quickStatements(for pull: PullCommit) throws -> [PostgresStatement]? {
        guard pull.replica == .existing, let parent = pull.row.parent else { return nil }
        var version: Int?
        var chunks: [LedgerChunk] = []
        var counts: [String: LedgerCount] = [:]
        switch pull.ledger {
        case .staged: return nil
        case .none: guard pull.ledgersRead.isEmpty else { return nil }
        case .chunks(let added, let difference):
            guard pull.ledgersRead.count == 1, let read = pull.ledgersRead[pull.row.replica] else { return nil }
            (version, chunks, counts) = (read >> 1, added, difference)
        }
        let row = pull.row
        let owner = try PostgresParameter.principal(row.principal)
        let replica = PostgresParameter.integer(row.replica.rawValue)
        var statements = [
            try .lock(row.principal),
            PostgresStatement("SELECT 1 FROM replica WHERE principal = $1 AND id = $2 FOR UPDATE", [owner, replica]),
            PostgresStatement(
                """
                SELECT 1 / (SELECT count(*) FROM principal p
                    JOIN session s ON s.principal = $1 AND s.session = $2
                    JOIN replica r ON r.principal = $1 AND r.id = $3
                    WHERE p.principal = $1 AND p.newest < $4 AND p.id_sequence = $5 AND s.generation = $6
                        AND r.tip = $7 AND NOT r.dead
                        AND ($8::bigint IS NULL OR (r.ledger_version = $8 AND r.base IS NOT NULL)))
                """,
                [
                    owner, .text(try key(row.session.rawValue, "session")), replica, .cursor(row.cursor),
                    .integer(row.ids.sequence), .int(row.generation), .cursor(parent), .int(version),
                ]),
            PostgresStatement(
                "UPDATE session SET last_seen = greatest(last_seen, $3) WHERE principal = $1 AND session = $2",
                [owner, .text(row.session.rawValue), .instant(pull.now)]),
        ]
        statements.append(try self.replica(of: pull))
        if !chunks.isEmpty { statements += try layer(of: pull, chunks, counts) }
        statements.append(try quickCursor(of: pull, hasLayer: !chunks.isEmpty, isExact: version != nil))
        return statements + (try commonStatements(for: pull))
    }

    /// Writes a delta under the next number.
    private func layer(
        of pull: PullCommit, _ chunks: [LedgerChunk], _ counts: [String: LedgerCount]
    ) throws -> [PostgresStatement] {
        let row = pull.row
        var statements = [
            PostgresStatement(
                """
                INSERT INTO layer (principal, replica, kind, cursor, made_at, chunks) VALUES ($1, $2, 2, $3, $4, $5)
                """,
                [
                    try .principal(row.principal), .integer(row.replica.rawValue), .cursor(row.cursor),
                    .instant(pull.now), .int(chunks.count),
                ])
        ]
        for chunk in chunks {
            guard chunk.bytes.count <= limits.chunkBytes else { throw StateError.tooLarge("ledger chunk") }
            statements.append(
                PostgresStatement(
                    """
                    INSERT INTO chunk (layer, client_table, first, entries, bytes)
                    VALUES (currval('layer_id_seq'), $1, $2, $3, $4)
                    """,
                    [
                        try .table(chunk.table), .bytes(chunk.first.bytes), .int(chunk.entries), .bytes(chunk.bytes),
                    ]))
        }
        for (table, count) in counts.sorted(by: { $0.key < $1.key }) {
            statements.append(
                PostgresStatement(
                    """
                    INSERT INTO layer_count (layer, client_table, held, entries, bytes)
                    VALUES (currval('layer_id_seq'), $1, $2, $3, $4)
                    """, [try .table(table), .int(count.held), .int(count.entries), .int(count.bytes)]))
        }
        return statements
    }

    /// Writes the cursor with its standing, by the same rules as ``CommitBasis/standing(of:)``.
    private func quickCursor(of pull: PullCommit, hasLayer: Bool, isExact: Bool) throws -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO cursor (principal, cursor, replica, parent, vector, schema_version, session, generation,
                confirmed, mapping, noted, comparisons, id_sequence, kept, exact, layer, below)
            SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
                CASE WHEN $16 THEN currval('layer_id_seq') END,
                CASE WHEN r.compacted IS NULL THEN NULL WHEN c.below IS NULL THEN r.compacted
                    WHEN c.layer IS NOT NULL THEN c.cursor ELSE c.below END
            FROM replica r LEFT JOIN cursor c ON c.principal = $1 AND c.cursor = $4 AND c.replica = $3
            WHERE r.principal = $1 AND r.id = $3
            """, try columns(of: pull) + [.bool(isExact), .bool(hasLayer)])
    }
}
