// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A source of chunks: the state store, seen from the engine.
///
/// Its chunks need not be right: every chunk is checked before it is used.
package protocol LedgerSource: Sendable {
    /// Returns the chunk that would hold an id: the last one of the layer's table whose first hash is not greater; nil
    /// if there is none.
    func chunk(holding id: IDHash, in table: String, of layer: LedgerLayer) async throws -> NumberedChunk?

    /// Reads the chunks of layers that may hold ids, by table, so that ``chunk(holding:in:of:)`` finds them at hand.
    func prepare(_ ids: [String: [IDHash]], in layers: [LedgerLayer]) async throws

    /// Returns at most `limit` chunks of a layer's table in their order: those that begin after a hash, or from the
    /// first if the hash is nil.
    func chunks(after first: IDHash?, in table: String, of layer: LedgerLayer, limit: Int) async throws
        -> [NumberedChunk]
}

extension LedgerSource {
    /// Does nothing: each chunk is read when it is asked for.
    package func prepare(_ ids: [String: [IDHash]], in layers: [LedgerLayer]) async throws {}
}
