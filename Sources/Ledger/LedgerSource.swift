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

/// A source of chunks: the state store, seen from the engine.
///
/// Its chunks need not be right: every chunk is checked before it is used.
package protocol LedgerSource: Sendable {
    /// Returns the chunk that would hold an id: the last one of the layer's table whose first hash is not greater; nil
    /// if there is none.
    func chunk(layer: LayerID, table: String, holding id: IDHash) async throws -> NumberedChunk?

    /// Reads the chunks of layers that may hold ids, by table, so that ``chunk(layer:table:holding:)`` finds them at hand.
    func prepare(_ ids: [String: [IDHash]], in layers: [LayerID]) async throws

    /// Returns at most `limit` chunks of a layer's table in their order: those that begin after a hash, or from the
    /// first if the hash is nil.
    func chunks(layer: LayerID, table: String, after first: IDHash?, limit: Int) async throws -> [NumberedChunk]
}

extension LedgerSource {
    /// Does nothing: each chunk is read when it is asked for.
    package func prepare(_ ids: [String: [IDHash]], in layers: [LayerID]) async throws {}
}
