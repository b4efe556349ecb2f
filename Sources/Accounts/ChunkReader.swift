// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Reads the chunks of layers, whether a layer or one of its directories names them.
struct ChunkReader {
    let store: any ByteStore

    /// Returns the last chunk of a table whose first hash is not greater than an id.
    func chunk(holding id: IDHash, in table: String, of layer: LedgerLayer?) async throws -> StoredChunk? {
        guard let head = layer?.chunks.last(where: { $0.table == table && $0.first <= id }) else { return nil }
        guard let found = try await named(by: head).last(where: { $0.first <= id }) else { return nil }
        return try await contents(of: [found])[0]
    }

    /// Returns the chunks of a table that begin after a hash, in order, at most `limit`.
    func chunks(
        after first: IDHash?, in table: String, of layer: LedgerLayer?, limit: Int
    ) async throws -> [StoredChunk] {
        let heads = (layer?.chunks ?? []).filter { $0.table == table }
        var found: [ChunkHead] = []
        for (index, head) in heads.enumerated() where found.count < limit {
            // What follows begins with the next one, if that is not too late.
            if let first, index + 1 < heads.count, heads[index + 1].first <= first { continue }
            found += try await named(by: head).filter { chunk in first.map { $0 < chunk.first } ?? true }
        }
        return try await contents(of: Array(found.prefix(limit)))
    }

    /// Returns all chunks of a layer.
    func chunks(of layer: LedgerLayer) async throws -> [StoredChunk] {
        var heads: [ChunkHead] = []
        for head in layer.chunks { heads += try await named(by: head) }
        return try await contents(of: heads)
    }

    /// Returns the chunks that a directory names, or the chunk itself.
    private func named(by head: ChunkHead) async throws -> [ChunkHead] {
        guard head.named > 0 else { return [head] }
        guard let bytes = try await store.chunks([head.number])[0] else { throw StateError.ledgerChanged }
        return try head.chunks(decoding: bytes)
    }

    private func contents(of heads: [ChunkHead]) async throws -> [StoredChunk] {
        let wanted = heads.filter { $0.bytes == nil }.map(\.number)
        let read = wanted.isEmpty ? [] : try await store.chunks(wanted)
        let bytes = Dictionary(zip(wanted, read), uniquingKeysWith: { $1 })
        return try heads.map { head in
            guard let bytes = head.bytes ?? bytes[head.number] ?? nil else { throw StateError.ledgerChanged }
            return StoredChunk(
                id: head.number,
                chunk: LedgerChunk(table: head.table, first: head.first, entries: head.entries, bytes: bytes))
        }
    }
}
