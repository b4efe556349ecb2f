// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A chunk and the number under which the store can replace it.
package struct NumberedChunk: Hashable, Sendable {
    /// The store's own number.
    package var number: Int64
    /// The chunk.
    package var chunk: LedgerChunk
    /// Creates a numbered chunk.
    package init(number: Int64, chunk: LedgerChunk) {
        self.number = number
        self.chunk = chunk
    }
}

/// The source of chunks: the state store, as the ledger sees it.
///
/// Chunks may be damaged: each is checked before it is used.
package protocol LedgerSource: Sendable {
    /// Reads the chunk that would hold an id: the last one of the layer's table whose first hash is not greater; else
    /// nil.
    func chunk(layer: LayerID, table: String, holding id: IDHash) async throws -> NumberedChunk?

    /// Reads the chunks of a layer's table in their order, those that begin after a hash (nil: all), at most `limit`.
    func chunks(layer: LayerID, table: String, after first: IDHash?, limit: Int) async throws -> [NumberedChunk]
}
