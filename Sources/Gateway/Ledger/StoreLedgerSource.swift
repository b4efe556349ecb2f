// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncEngine
import SyncModel

/// The state store as the engine's ledger sees it.
struct StoreLedgerSource: LedgerSource {
    let store: any StateStore

    func chunk(layer: LayerID, table: String, holding id: IDHash) async throws -> NumberedChunk? {
        try await store.ledgerChunk(layer: layer, table: table, holding: id).map(NumberedChunk.init)
    }

    func chunks(
        layer: LayerID, table: String, after first: IDHash?, limit: Int
    ) async throws -> [NumberedChunk] {
        try await store.ledgerChunks(layer: layer, table: table, after: first, limit: limit).map(NumberedChunk.init)
    }
}

extension NumberedChunk {
    init(_ stored: StoredChunk) { self.init(number: stored.id, chunk: stored.chunk) }
}
