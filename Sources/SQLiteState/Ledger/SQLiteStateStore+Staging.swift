// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Inserts a layer without chunks.
    package func stageLayer(at now: Instant) async throws -> LayerID {
        try await writeWithoutWaiting { db in
            LayerID(rawValue: try db.makeLayer(.staged, replica: nil, cursor: nil, at: now))
        }
    }

    /// Adds chunks in one transaction; about 1 MiB at a time is best.
    package func stage(_ chunks: [LedgerChunk], in layer: LayerID) async throws {
        let limit = limits.chunkBytes
        try await writeWithoutWaiting { db in
            guard try db.isStaged(layer) else { throw StateError.ledgerChanged }
            try db.add(chunks, to: layer.rawValue, limit: limit)
        }
    }
}

extension Database {
    /// Returns true if a layer still waits for the commit that names it.
    func isStaged(_ layer: LayerID) throws -> Bool {
        try exists(
            "SELECT 1 FROM layer WHERE id = ? AND kind = ? AND replica IS NULL", [layer.rawValue, LayerKind.staged])
    }
}
