// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
package import SyncModel

/// Finds and reads the chunks of layers, whether a layer or its directories name them.
///
/// A chunk that is not there is read as one without bytes, which is damaged for its reader.
package struct ChunkReader: Sendable {
    let cache: ChunkCache

    /// Returns the last chunk of a table whose first hash is not greater than an id.
    package func chunk(
        holding id: IDHash, in table: String, of layer: LedgerLayer
    ) async throws -> NumberedChunk? {
        var next = layer.chunks.last(before: id, in: table)
        while let directory = next, directory.named > 0 {
            next = try await cache.named(by: directory).last(before: id, in: table)
        }
        guard let next else { return nil }
        if let bytes = next.bytes ?? cache.kept(next.number) { return next.numbered(bytes) }
        return try await contents(of: [next])[0]
    }

    /// Reads the chunks of layers that may hold ids, by table, so that they are at hand: two reads for all of them, or
    /// three in a very large ledger.
    package func prepare(_ ids: [String: [IDHash]], in layers: [LedgerLayer]) async throws {
        var (numbers, lists): ([Int64], [[ChunkHead]]) = ([], layers.map(\.chunks))
        numbers.reserveCapacity(ids.values.reduce(0) { $0 + $1.count })
        while !lists.isEmpty {
            var directories: [ChunkHead] = []
            for list in lists {
                for (table, ids) in ids {
                    var last: Int64?
                    // Most ids are in the chunk of the one before.
                    for id in ids {
                        guard let head = list.last(before: id, in: table), head.number != last else { continue }
                        last = head.number
                        if head.named > 0 {
                            directories.append(head)
                        } else if head.bytes == nil {
                            numbers.append(head.number)
                        }
                    }
                }
            }
            lists = directories.isEmpty ? [] : try await cache.named(by: directories)
        }
        _ = try await cache.chunks(numbers)
    }

    /// Returns the chunks of a table that begin after a hash, in order, at most `limit` and at most 1,000.
    package func chunks(
        after first: IDHash?, in table: String, of layer: LedgerLayer, limit: Int
    ) async throws -> [NumberedChunk] {
        let behind = layer.chunks.drop { $0.table != table }
        return try await contents(
            of: following(first, in: behind.prefix { $0.table == table }, limit: min(max(0, limit), 1_000)))
    }

    private func following(
        _ first: IDHash?, in heads: ArraySlice<ChunkHead>, limit: Int
    ) async throws -> [ChunkHead] {
        var found: [ChunkHead] = []
        found.reserveCapacity(min(limit, heads.count))
        for (index, head) in zip(heads.indices, heads) where found.count < limit {
            // What follows begins with the next one, if that is not too late.
            if let first, index + 1 < heads.endIndex, heads[index + 1].first <= first { continue }
            if head.named > 0 {
                let named = try await cache.named(by: head)
                found += try await following(first, in: named[...], limit: limit - found.count)
            } else if first.map({ $0 < head.first }) ?? true {
                found.append(head)
            }
        }
        return found
    }

    /// Reads all chunks of layers, in one read if they have no directories.
    package func load(_ layers: ArraySlice<LedgerLayer>, into preloaded: inout PreloadedChunks) async throws {
        var (heads, counts): ([ChunkHead], [(layer: LayerID, count: Int)]) = ([], [])
        heads.reserveCapacity(layers.reduce(0) { $0 + $1.chunks.count })
        counts.reserveCapacity(layers.count)
        for layer in layers {
            let all = layer.chunks.hasDirectories ? try await leaves(of: layer.chunks) : layer.chunks
            heads.append(contentsOf: all)
            counts.append((layer.id, all.count))
        }
        preloaded.append(try await contents(of: heads), of: counts)
    }

    private func leaves(of heads: [ChunkHead]) async throws -> [ChunkHead] {
        guard heads.hasDirectories else { return heads }
        var all: [ChunkHead] = []
        for head in heads {
            all += head.named == 0 ? [head] : try await leaves(of: cache.named(by: head))
        }
        return all
    }

    private func contents(of heads: [ChunkHead]) async throws -> [NumberedChunk] {
        var (chunks, missing): ([NumberedChunk], [Int]) = ([], [])
        chunks.reserveCapacity(heads.count)
        for (index, head) in heads.enumerated() {
            let bytes = head.bytes ?? cache.kept(head.number)
            if bytes == nil { missing.append(index) }
            chunks.append(head.numbered(bytes ?? []))
        }
        for (index, bytes) in zip(missing, try await cache.chunks(missing.map { heads[$0].number })) {
            chunks[index].chunk.bytes = bytes ?? []
        }
        return chunks
    }
}

extension ChunkHead {
    fileprivate func numbered(_ bytes: [UInt8]) -> NumberedChunk {
        NumberedChunk(
            number: number, chunk: LedgerChunk(table: table, first: first, entries: entries, bytes: bytes))
    }
}

extension [ChunkHead] {
    fileprivate var hasDirectories: Bool { contains { $0.named > 0 } }

    /// Returns the last chunk or directory of a table whose first hash is not greater than an id.
    fileprivate func last(before id: IDHash, in table: String) -> ChunkHead? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            let isBefore =
                self[middle].table == table
                ? self[middle].first <= id : self[middle].table.utf8.lexicographicallyPrecedes(table.utf8)
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return low > 0 && self[low - 1].table == table ? self[low - 1] : nil
    }
}
