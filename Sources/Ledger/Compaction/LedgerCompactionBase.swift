// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// A finder of the base chunks for ids that come in their order.
struct LedgerCompactionBase: Sendable {
    /// The range that one chunk covers.
    struct Stretch: Sendable {
        /// The chunk; nil if the table has none.
        var chunk: NumberedChunk?
        /// The hash at which the next chunk begins; nil behind the last.
        var upper: IDHash?
    }

    private let layer: LedgerLayer
    private let scope: LedgerScope
    /// Consecutive chunks of the base.
    private var window: [NumberedChunk] = []
    /// True if nothing precedes the window; `isLast` if nothing follows it.
    private var isFirst = false
    private var isLast = false
    private var readAhead = 1

    init(layer: LedgerLayer, scope: LedgerScope) {
        self.layer = layer
        self.scope = scope
    }

    /// Returns the chunk for an id: the one that would hold it, or the first one.
    mutating func stretch(of hash: IDHash) async throws -> Stretch {
        var position = window.lastIndex { !(hash < $0.chunk.first) }
        if position == nil && !isFirst || position == window.count - 1 && !isLast && isFar(hash) {
            try await land(hash)
            position = window.lastIndex { !(hash < $0.chunk.first) }
        }
        while !isLast, (position ?? 0) + 1 >= window.count {
            try await readOn()
            position = window.lastIndex { !(hash < $0.chunk.first) }
        }
        guard !window.isEmpty else { return Stretch() }
        let index = position ?? 0
        return Stretch(chunk: window[index], upper: index + 1 < window.count ? window[index + 1].chunk.first : nil)
    }

    /// Returns true if so many chunks lie between the window and an id behind it that they are better not read in a
    /// row.
    private func isFar(_ hash: IDHash) -> Bool {
        guard window.count > 1, let last = window.last?.chunk.first, let first = window.first?.chunk.first else {
            return true
        }
        let width = (last.high - first.high) / UInt64(window.count - 1)
        return (hash.high - last.high) / 8 > width
    }

    /// Begins a window at the chunk that would hold an id.
    private mutating func land(_ hash: IDHash) async throws {
        readAhead = 1
        let found = try await scope.source.chunk(holding: hash, in: scope.table, of: layer)
        window = []
        isLast = false
        isFirst = found == nil
        guard let found else { return try await readOn() }
        guard found.chunk.table == scope.table, !(hash < found.chunk.first) else { throw LedgerError.damaged }
        window = [found]
    }

    /// Adds the chunks that follow to the window, and drops those before its last one.
    private mutating func readOn() async throws {
        let limit = readAhead
        let chunks = try await scope.source.chunks(
            after: window.last?.chunk.first, in: scope.table, of: layer, limit: limit)
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
