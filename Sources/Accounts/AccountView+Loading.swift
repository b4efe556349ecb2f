// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore

extension AccountView {
    /// Loads what a rule has missed: rows with `load`, the rest from the store and from the chunks at hand.
    mutating func load(
        _ missing: Missing, of owner: Int64, from store: any ByteStore, _ cache: ChunkCache,
        with load: ([Lookup]) async throws -> [[ByteRow]]
    ) async throws {
        for (kind, count) in missing.numbers {
            numbers[kind, default: []] += try await store.reserve(kind, count: count)
        }
        if !missing.chunks.isEmpty {
            let found = zip(missing.chunks, try await cache.chunks(missing.chunks))
            chunks.merge(found.map { ($0, $1) }) { $1 }
        }
        guard !missing.lookups.isEmpty else { return }
        let answers = try await load(missing.lookups)
        for (lookup, rows) in zip(missing.lookups, answers) { try take(rows, of: lookup, owner: owner) }
    }
}
