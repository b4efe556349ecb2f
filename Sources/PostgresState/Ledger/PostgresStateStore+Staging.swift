// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Inserts a layer without chunks.
    package func stageLayer(at now: Instant) async throws -> LayerID {
        let results = try await write([
            PostgresStatement("INSERT INTO layer (kind, made_at) VALUES (0, $1) RETURNING id", [.instant(now)])
        ])
        guard let row = results.row(0) else { throw StateError.failed("a layer that was created has no number") }
        return LayerID(rawValue: try row.integer(0))
    }

    /// Adds chunks in one transaction of two round trips; about 1 MiB at a time is best.
    package func stage(_ chunks: [LedgerChunk], in layer: LayerID) async throws {
        let statements = try PostgresStatement.add(chunks, to: layer.rawValue, limit: limits.chunkBytes)
        try await transaction { transaction in
            let staged = try await transaction.query(
                PostgresStatement(
                    "SELECT 1 FROM layer WHERE id = $1 AND kind = 0 AND replica IS NULL FOR UPDATE",
                    [.integer(layer.rawValue)]))
            guard !staged.rows.isEmpty else { throw StateError.ledgerChanged }
            _ = try await transaction.commit(statements)
        }
    }
}
