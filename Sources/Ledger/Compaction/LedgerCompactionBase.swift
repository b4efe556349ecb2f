// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Finds the base chunks that ids belong into, the ids coming in their order.
struct LedgerCompactionBase: Sendable {
    /// The range of hashes that one chunk covers.
    struct Stretch: Sendable {
        /// The chunk; nil where the table has none.
        var chunk: NumberedChunk?
        /// The first hash of the next chunk; nil after the last.
        var upper: IDHash?
    }

    private let layer: LayerID
    private let scope: LedgerScope
    /// Chunks that follow each other.
    private var window: [NumberedChunk] = []
    /// True if no chunk precedes the window, and true if none follows it.
    private var isFirst = false
    private var isLast = false
    private var readAhead = 1

    init(layer: LayerID, scope: LedgerScope) {
        self.layer = layer
        self.scope = scope
    }

    /// Forgets what has been read: the store has other chunks now.
    mutating func reset() {
        window = []
        isFirst = false
        isLast = false
    }

    /// Finds the chunk that an id belongs into: the one that would hold it, or the first one.
    mutating func stretch(of hash: IDHash) async throws -> Stretch {
        var place = window.lastIndex { !(hash < $0.chunk.first) }
        if place == nil && !isFirst || place == window.count - 1 && !isLast && isFar(hash) {
            try await land(hash)
            place = window.lastIndex { !(hash < $0.chunk.first) }
        }
        while !isLast, (place ?? 0) + 1 >= window.count {
            try await readOn()
            place = window.lastIndex { !(hash < $0.chunk.first) }
        }
        guard !window.isEmpty else { return Stretch() }
        let index = place ?? 0
        return Stretch(chunk: window[index], upper: index + 1 < window.count ? window[index + 1].chunk.first : nil)
    }

    /// Returns true if so many chunks lie between the window and an id behind it that reading them in a row costs more
    /// than a search.
    private func isFar(_ hash: IDHash) -> Bool {
        guard window.count > 1, let last = window.last?.chunk.first, let first = window.first?.chunk.first else {
            return true
        }
        let width = (last.high - first.high) / UInt64(window.count - 1)
        return (hash.high - last.high) / 8 > width
    }

    /// Begins a window with the chunk that would hold an id.
    private mutating func land(_ hash: IDHash) async throws {
        readAhead = 1
        let found = try await scope.source.chunk(layer: layer, table: scope.table, holding: hash)
        window = []
        isLast = false
        isFirst = found == nil
        guard let found else { return try await readOn() }
        guard found.chunk.table == scope.table, !(hash < found.chunk.first) else { throw LedgerError.damaged }
        window = [found]
    }

    /// Adds to the window what follows it, and drops what precedes its last chunk.
    private mutating func readOn() async throws {
        let limit = readAhead
        let chunks = try await scope.source.chunks(
            layer: layer, table: scope.table, after: window.last?.chunk.first, limit: limit)
        var last = window.last?.chunk.first
        for chunk in chunks.lazy.map(\.chunk) {
            guard chunk.table == scope.table, last.map({ $0 < chunk.first }) ?? true else { throw LedgerError.damaged }
            last = chunk.first
        }
        if window.count > 1 { isFirst = false }
        window = window.suffix(1) + chunks
        isLast = chunks.count < limit
        readAhead = min(scope.readAhead, limit * 2)
    }
}
