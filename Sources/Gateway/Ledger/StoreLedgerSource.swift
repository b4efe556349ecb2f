// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Ledger
package import StateStore
package import SyncModel

/// Gives the engine access to the ledgers in the state store.
package struct StoreLedgerSource: LedgerSource {
    let store: any StateStore

    /// Creates a source that reads the chunks of this store.
    package init(store: any StateStore) { self.store = store }

    /// Returns the chunk whose range contains an id.
    package func chunk(layer: LayerID, table: String, holding id: IDHash) async throws -> NumberedChunk? {
        try await store.ledgerChunk(layer: layer, table: table, holding: id).map(NumberedChunk.init)
    }

    /// Reads the chunks of layers that may hold ids, all at once.
    package func prepare(_ ids: [String: [IDHash]], in layers: [LayerID]) async throws {
        try await store.prepareChunks(of: layers, holding: ids)
    }

    /// Returns the chunks of a layer's table that begin after a hash, in their order.
    package func chunks(
        layer: LayerID, table: String, after first: IDHash?, limit: Int
    ) async throws -> [NumberedChunk] {
        try await store.ledgerChunks(layer: layer, table: table, after: first, limit: limit).map(NumberedChunk.init)
    }
}

extension NumberedChunk {
    init(_ stored: StoredChunk) { self.init(number: stored.id, chunk: stored.chunk) }
}
