// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// A cursor that goes forward through one table of one layer, a window of chunks at a time.
struct LedgerLayerCursor: Sendable {
    /// The position of a cursor.
    enum Position: Sendable {
        /// The cursor is at an entry.
        case entry
        /// The cursor is between entries: before the window's next chunk, or behind the window if the store may have
        /// more.
        case gap
        /// The cursor is behind the layer's last entry.
        case end
    }

    let layer: LedgerLayer
    private(set) var position = Position.gap
    /// The hash of the last entry that was reached.
    private(set) var head = IDHash.first
    /// The reader of the current chunk, at the current entry.
    private(set) var reader = LedgerChunkReader()

    private let scope: LedgerScope
    /// Chunks that follow each other in the layer.
    private var window: ArraySlice<NumberedChunk> = []
    /// The index in the window of the chunk that the reader is in or has left; one less than the first before it.
    private var index = -1
    /// The number of the chunk's entries that were reached; nil if the reader is in no chunk.
    private var reached: Int?
    /// True if nothing follows the window.
    private var isComplete: Bool
    private var hasHead = false
    /// The number of chunks that the last read asked for.
    private var readAhead = 1

    /// Creates a cursor before the first entry; `preloaded` are the layer's chunks, those of a table behind each other,
    /// if they have been read.
    init(layer: LedgerLayer, scope: LedgerScope, preloaded: ArraySlice<NumberedChunk>?) throws(LedgerError) {
        self.layer = layer
        self.scope = scope
        isComplete = preloaded != nil
        guard let preloaded else { return }
        let others = preloaded.prefix { $0.chunk.table != scope.table }
        try setWindow(preloaded[others.endIndex...].prefix { $0.chunk.table == scope.table })
    }

    /// Goes to the next entry that is in memory.
    @inline(__always)
    mutating func step() throws(LedgerError) -> Position {
        do {
            if try reader.next() {
                try arrive()
            } else {
                try leave()
            }
            return position
        } catch {
            return try skipDamage(error)
        }
    }

    /// Goes on behind a chunk that cannot be read, if the scope allows it.
    @inline(never)
    private mutating func skipDamage(_ error: LedgerError) throws(LedgerError) -> Position {
        guard scope.skipsDamage else { throw error }
        closeReader()
        return try step()
    }

    /// Goes to the next entry.
    mutating func next() async throws {
        while try position != .end && step() == .gap { try await readOn() }
    }

    /// Passes `hash` like ``pass(_:)`` if that takes no more than the next entry in memory; otherwise returns false,
    /// and ``pass(_:)`` has to do it.
    @inline(__always)
    mutating func passInMemory(_ hash: IDHash) throws(LedgerError) -> Bool {
        switch position {
        case .end: true
        case .gap: false
        case .entry: hash < head ? true : hash == head ? try step() != .gap : false
        }
    }

    /// Goes to the first entry behind `hash`; stays if the cursor is already there or farther.
    mutating func pass(_ hash: IDHash) async throws {
        if position == .entry, hash < head { return }
        if hasHead, !(head < hash) { return try await next() }
        if try await seek(hash) || position == .gap { try await next() }
    }

    /// Goes to the entry of an id and returns true if there is one.
    ///
    /// If not, the cursor is between the entries before and behind the id, or at the one behind it. Only chunks that
    /// can hold the id are read.
    mutating func seek(_ hash: IDHash) async throws -> Bool {
        while position != .end {
            if position == .entry, !(head < hash) { return head == hash }
            skipChunks(to: hash)
            if reached == nil, index + 1 < window.endIndex, hash < window[index + 1].chunk.first { return false }
            var steps = 0
            while try step() == .entry {
                if !(head < hash) { return head == hash }
                steps += 1
                if steps == Self.stepsInARow { try skipEntries(before: hash) }
            }
            guard position == .gap, try await leap(to: hash) else { return false }
        }
        return false
    }

    /// A cursor that looks for an id takes this many steps; then it halves what is left of the chunk.
    ///
    /// Each step hashes an id, and a chunk has hundreds.
    private static let stepsInARow = 8

    /// Goes on to the last entry of the chunk before an id, by bisection.
    ///
    /// The order of what is skipped is not checked; the chunk's checksum was.
    private mutating func skipEntries(before hash: IDHash) throws(LedgerError) {
        guard let reached else { return }
        do throws(LedgerError) {
            let left = window[index].chunk.entries &- reached &+ 1
            self.reached = reached + (try reader.skip(before: hash, entries: left, key: scope.key))
            head = reader.hash(scope.key)
        } catch {
            guard scope.skipsDamage else { throw error }
            closeReader()
        }
    }

    /// Leaves the current chunk if a later one of the window begins at `hash` or before it.
    private mutating func skipChunks(to hash: IDHash) {
        var next = index
        while next + 1 < window.endIndex, !(hash < window[next + 1].chunk.first) { next += 1 }
        guard next > index else { return }
        closeReader()
        // The next step opens the chunk.
        index = next - 1
    }

    private mutating func closeReader() {
        reader = LedgerChunkReader()
        reached = nil
        if position == .entry { position = .gap }
    }
}

// Checks of what has been read.
extension LedgerLayerCursor {
    /// Checks the order of an entry that was reached.
    @inline(__always)
    private mutating func arrive() throws(LedgerError) {
        let hash = reader.hash(scope.key)
        guard let reached, head < hash || !hasHead else { throw .damaged }
        if reached == 0, hash != window[index].chunk.first { throw .damaged }
        self.reached = reached &+ 1
        head = hash
        hasHead = true
        position = .entry
    }

    /// Goes from the end of one chunk to the first entry of the window's next one.
    @inline(never)
    private mutating func leave() throws(LedgerError) {
        if let reached, reached != window[index].chunk.entries { throw .damaged }
        closeReader()
        guard index + 1 < window.endIndex else {
            position = isComplete ? .end : .gap
            return
        }
        index += 1
        reader = try LedgerChunkReader(window[index].chunk.bytes)
        reached = 0
        guard try reader.next() else { throw .damaged }
        try arrive()
    }

    private mutating func setWindow(_ chunks: ArraySlice<NumberedChunk>) throws(LedgerError) {
        var last = window.last?.chunk.first
        for chunk in chunks.lazy.map(\.chunk) {
            guard chunk.table == scope.table, last.map({ $0 < chunk.first }) ?? true else { throw .damaged }
            last = chunk.first
        }
        window = chunks
        index = chunks.startIndex - 1
    }

    /// Sets a window of one chunk, in the place of another such window: that makes no array for each chunk.
    private mutating func setWindow(to chunk: NumberedChunk) throws(LedgerError) {
        guard window.count == 1, let last = window.first?.chunk.first else { return try setWindow([chunk]) }
        guard chunk.chunk.table == scope.table, last < chunk.chunk.first else { throw .damaged }
        window[window.startIndex] = chunk
        index = window.startIndex - 1
    }
}

// Reading from the store behind the window.
extension LedgerLayerCursor {
    /// Reads the chunks that follow the window, twice as many each time.
    private mutating func readOn() async throws {
        readAhead = min(scope.readAhead, readAhead * 2)
        try await read(readAhead)
    }

    private mutating func read(_ limit: Int) async throws {
        let last = window.last?.chunk.first
        let chunks = try await scope.source.chunks(after: last, in: scope.table, of: layer, limit: limit)
        isComplete = chunks.count < limit
        try setWindow(chunks[...])
    }

    /// Reads the chunk behind the window that can hold an id; returns false if that is the chunk that was just
    /// searched.
    ///
    /// Hashes are spread evenly, so the width of a chunk tells about how many others lie between: if they are few, they
    /// are read in a row.
    private mutating func leap(to hash: IDHash) async throws -> Bool {
        if let last = window.last?.chunk, last.entries > 8 {
            let width = head.high &- last.first.high
            if (hash.high &- head.high) / 2 <= width {
                try await readOn()
                return true
            }
        }
        readAhead = 1
        guard let found = try await scope.source.chunk(holding: hash, in: scope.table, of: layer) else {
            guard window.isEmpty else { return false }
            // All chunks begin behind the id, so the first one is next.
            try await read(1)
            return true
        }
        guard !(hash < found.chunk.first) else { throw LedgerError.damaged }
        if found.chunk.first == window.last?.chunk.first { return false }
        try setWindow(to: found)
        return true
    }
}
