// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Heads name few chunks: those of large layers are named by directories, which are chunks themselves.
extension Account {
    /// Returns the chunks of a list in which directories stand for some of them; throws ``StateError/corrupt(_:)`` if a
    /// directory is damaged or missing.
    mutating func chunks(in heads: [ChunkHead]) throws -> [ChunkHead] {
        guard heads.contains(where: { $0.named > 0 }) else { return heads }
        try needChunks(heads)
        let named = try heads.flatMap { head in
            guard head.named > 0 else { return [head] }
            guard let bytes = view.chunks[head.number] ?? nil else { throw Coder.damage }
            return try head.chunks(decoding: bytes)
        }
        return try chunks(in: named)
    }

    /// Returns the numbers under which the chunks of a list are, and its directories; what can no longer be read is
    /// omitted.
    mutating func numbers(in heads: [ChunkHead]) throws -> [Int64] {
        try needChunks(heads)
        let named = heads.filter { $0.named > 0 }.flatMap { head in
            view.chunks[head.number].flatMap(\.self).flatMap { try? head.chunks(decoding: $0) } ?? []
        }
        return heads.filter { $0.bytes == nil }.map(\.number) + (named.isEmpty ? [] : try numbers(in: named))
    }

    private mutating func needChunks(_ heads: [ChunkHead]) throws {
        let missing = heads.filter { $0.named > 0 && view.chunks[$0.number] == nil }.map(\.number)
        guard missing.isEmpty else { throw Missing(chunks: missing) }
    }

    /// Returns a list that is short enough for a head, and writes the directories that it takes: if they are too many,
    /// they have directories in turn.
    mutating func directories(of chunks: [ChunkHead], at now: Instant) throws -> [ChunkHead] {
        for (chunk, next) in zip(chunks, chunks.dropFirst()) where !chunk.precedes(next) {
            throw StateError.failed("two chunks of a layer begin with the same hash")
        }
        var list = chunks
        while list.count > setting.limits.headChunks {
            let shorter = try namedByDirectories(list, at: now)
            // Each table has directories of its own.
            guard shorter.count < list.count else { break }
            list = shorter
        }
        return list
    }

    private mutating func namedByDirectories(_ list: [ChunkHead], at now: Instant) throws -> [ChunkHead] {
        var (directories, rest): ([ChunkHead], ArraySlice<ChunkHead>) = ([], list[...])
        while let first = rest.first {
            let named = Array(rest.prefix(max(2, setting.limits.directoryChunks)).prefix { $0.table == first.table })
            rest = rest.dropFirst(named.count)
            guard named.count > 1 else {
                directories.append(first)
                continue
            }
            var directory = ChunkHead(
                table: first.table, first: first.first, entries: named.reduce(0) { $0 + $1.entries },
                number: nextNumber(at: now), size: named.reduce(0) { $0 + $1.size })
            directory.named = named.reduce(0) { $0 + max(1, $1.named) }
            changes.chunks[directory.number] = try StagedChunks(named).encoded()
            directories.append(directory)
        }
        return directories
    }
}

extension ChunkHead {
    /// Reads the chunks that a directory names.
    package func chunks(decoding bytes: [UInt8]) throws(StateError) -> [ChunkHead] {
        try StagedChunks(decoding: bytes).chunks
    }
}
