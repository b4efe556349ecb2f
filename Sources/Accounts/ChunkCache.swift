// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Keeps the chunks that were read or written last: under its number a chunk never changes.
final class ChunkCache: Sendable {
    /// A chunk's bytes, and what they name if it is a directory that was read as one.
    fileprivate struct Kept: Sendable {
        var bytes: [UInt8]
        var named: [ChunkHead]?
    }

    private let store: any ByteStore
    private let kept: NIOLockedValueBox<TwoGenerations<Int64, Kept>>

    init(_ store: any ByteStore, limit: Int) {
        self.store = store
        kept = NIOLockedValueBox(TwoGenerations(limit: limit))
    }

    /// Returns chunks by their numbers, with one read of those that are not kept; nil for those that are not there.
    func chunks(_ numbers: [Int64]) async throws -> [[UInt8]?] {
        guard !numbers.isEmpty else { return [] }
        var found = kept.withLockedValue { kept in numbers.map { kept.use($0)?.bytes } }
        let missing = found.indices.filter { found[$0] == nil }
        guard !missing.isEmpty else { return found }
        let read = try await store.chunks(missing.map { numbers[$0] })
        for (index, bytes) in zip(missing, read) { found[index] = bytes }
        kept.withLockedValue { kept in
            for index in missing {
                if let bytes = found[index] { kept.keep(Kept(bytes: bytes), at: numbers[index]) }
            }
        }
        return found
    }

    /// Returns a chunk that is kept.
    func kept(_ number: Int64) -> [UInt8]? { kept.withLockedValue { $0.use(number)?.bytes } }

    /// Returns the chunks that a directory names; itself, as a chunk of entries, if it is damaged or not there.
    func named(by directory: ChunkHead) async throws -> [ChunkHead] {
        if let named = kept.withLockedValue({ $0.use(directory.number)?.named }) { return named }
        return try await named(by: [directory])[0]
    }

    /// Returns the chunks that directories name, with one read of those that are not kept.
    func named(by directories: [ChunkHead]) async throws -> [[ChunkHead]] {
        let known = kept.withLockedValue { kept in directories.map { kept.use($0.number)?.named } }
        guard known.contains(where: { $0 == nil }) else { return known.compactMap(\.self) }
        let read = try await chunks(directories.map(\.number))
        var all: [[ChunkHead]] = []
        for (directory, bytes) in zip(directories, read) {
            let named = bytes.flatMap { try? directory.chunks(decoding: $0) } ?? [directory.asChunk]
            all.append(named)
            guard let bytes else { continue }
            kept.withLockedValue { $0.keep(Kept(bytes: bytes, named: named), at: directory.number) }
        }
        return all
    }

    /// Keeps the chunks that changes have written, and forgets those that they have deleted.
    func take(_ changes: RowChanges) {
        guard !changes.chunks.isEmpty || !changes.freedChunks.isEmpty else { return }
        kept.withLockedValue { kept in
            for (number, bytes) in changes.chunks { kept.keep(Kept(bytes: bytes), at: number) }
            for number in changes.freedChunks { kept.drop(number) }
        }
    }
}

extension TwoGenerations<Int64, ChunkCache.Kept> {
    fileprivate mutating func keep(_ value: ChunkCache.Kept, at number: Int64) {
        keep(value, weight: 150 + value.bytes.count + (value.named?.count ?? 0) * 100, at: number)
    }
}

extension ChunkHead {
    /// A damaged directory as a chunk of entries: its reader finds that it is none, and the device gets another ledger.
    fileprivate var asChunk: ChunkHead {
        var chunk = self
        chunk.named = 0
        return chunk
    }
}
