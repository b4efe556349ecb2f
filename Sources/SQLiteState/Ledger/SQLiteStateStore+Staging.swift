// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// A row without chunks.
    package func stageLayer(at now: Int64) async throws -> LayerID {
        try await writeWithoutWaiting { db in
            LayerID(rawValue: try db.makeLayer(.staged, replica: nil, cursor: nil, at: now))
        }
    }

    /// One transaction; about 1 MiB at a time is best.
    package func stage(_ chunks: [LedgerChunk], in layer: LayerID) async throws {
        let limit = limits.chunkBytes
        try await writeWithoutWaiting { db in
            guard try db.isStaged(layer) else { throw StateError.ledgerChanged }
            try db.add(chunks, to: layer.rawValue, limit: limit)
        }
    }
}

extension Database {
    /// Whether a layer still waits for the commit that names it.
    func isStaged(_ layer: LayerID) throws -> Bool {
        try exists(
            "SELECT 1 FROM layer WHERE id = ? AND kind = ? AND replica IS NULL", [layer.rawValue, LayerKind.staged])
    }
}
