// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// The compaction of one table.
struct LedgerTableCompaction: Sendable {
    /// True if everything is compacted.
    var isDone: Bool { next == nil && stretch == nil }
    /// The least id of the deltas that is not compacted yet; nil if all are.
    private var next: IDHash?

    private let scope: LedgerScope
    private let shape: LedgerShape
    private let settings: LedgerCompaction.Settings
    private let byteLimit: Int
    private let layers: [LedgerLayer]
    /// The cursors of the deltas, newest first.
    private var deltas: [LedgerLayerCursor]
    private var base: LedgerCompactionBase
    private var position: IDHash?

    /// The entries for the base that are not in the batch yet.
    private var splitter: LedgerChunkSplitter
    private var writers: [LedgerChunkWriter?]
    private var count = LedgerCount()
    /// The part of the base that is being rewritten; if a batch ends in the middle of it, the next one goes on there.
    private var stretch: LedgerCompactionBase.Stretch?
    /// The reader of its chunk; `head` is the hash of its current entry, `left` the number of entries behind that.
    private var reader = LedgerChunkReader()
    private var head: IDHash?
    private var left = 0

    init(
        scope: LedgerScope, shape: LedgerShape, base: LedgerLayer, deltas: [LedgerLayer],
        settings: LedgerCompaction.Settings, byteLimit: Int
    ) throws(LedgerError) {
        self.scope = scope
        self.shape = shape
        self.settings = settings
        self.byteLimit = byteLimit
        self.base = LedgerCompactionBase(layer: base, scope: scope)
        layers = deltas
        self.deltas = []
        for delta in deltas {
            self.deltas.append(try LedgerLayerCursor(layer: delta, scope: scope, preloaded: nil))
        }
        splitter = LedgerChunkSplitter(table: scope.table, shape: shape, maximumBytes: settings.chunkBytes)
        writers = deltas.map { _ in nil }
    }

    /// Brings all deltas behind the position and finds their least id.
    mutating func findNext() async throws {
        next = nil
        for index in deltas.indices {
            if let position {
                if try !deltas[index].passInMemory(position) { try await deltas[index].pass(position) }
            } else {
                try await deltas[index].next()
            }
            guard deltas[index].position == .entry else { continue }
            let head = deltas[index].head
            if next.map({ head < $0 }) ?? true { next = head }
        }
    }

    /// Compacts ids until the table is done or the batch is full.
    mutating func compact(into batch: inout LedgerCompactionBatch, bytes: inout Int) async throws {
        var upper = stretch?.upper
        while !isDone, batch.removed.count < settings.batchChunks, bytes + splitter.bytes < byteLimit {
            if stretch == nil, let next {
                let found = try await base.stretch(of: next)
                // Entries that are not next to those before them get chunks of their own.
                if upper == nil || found.chunk?.chunk.first != upper { takeChunks(into: &batch, bytes: &bytes) }
                upper = found.upper
                if let number = found.chunk?.number { batch.removed.append(number) }
                try open(found.chunk?.chunk)
                stretch = found
            }
            try await rewrite(into: &batch, bytes: &bytes)
        }
        takeChunks(into: &batch, bytes: &bytes)
        for index in writers.indices {
            while let chunk = writers[index]?.takeRest() { add(chunk, toUndoOf: index, in: &batch, bytes: &bytes) }
            writers[index] = nil
        }
        batch.counts[scope.table, default: LedgerCount()].add(count)
        count = LedgerCount()
    }

    /// Rewrites the stretch with the entries that the deltas have for it, up to its end or until the batch is full.
    private mutating func rewrite(into batch: inout LedgerCompactionBatch, bytes: inout Int) async throws {
        while bytes + splitter.bytes < byteLimit {
            let delta = next.flatMap { next in stretch?.upper.map { next < $0 } ?? true ? next : nil }
            if let head, delta.map({ head < $0 }) ?? true {
                keep(reader, head)
                try advance()
            } else if let delta {
                let isThere = head == delta
                compact(delta, isInBase: isThere, into: &batch, bytes: &bytes)
                if isThere { try advance() }
                position = delta
                try await findNext()
            } else {
                stretch = nil
                return
            }
        }
    }
}

// One id.
extension LedgerTableCompaction {
    /// The location of an id's previous entry.
    private enum Origin {
        case nowhere
        case base
        case delta(Int)
    }

    /// Brings the newest entry of an id into the base, and its previous entry into the undo of each delta that has the
    /// id.
    private mutating func compact(
        _ hash: IDHash, isInBase: Bool, into batch: inout LedgerCompactionBatch, bytes: inout Int
    ) {
        var origin = isInBase ? Origin.base : .nowhere
        for index in deltas.indices.reversed() where deltas[index].position == .entry && deltas[index].head == hash {
            write(origin, hash, toUndoOf: index)
            while let chunk = writers[index]?.takeFullChunk() {
                add(chunk, toUndoOf: index, in: &batch, bytes: &bytes)
            }
            origin = .delta(index)
        }
        if case .delta(let index) = origin { keep(deltas[index].reader, hash) }
    }

    private mutating func write(_ origin: Origin, _ hash: IDHash, toUndoOf index: Int) {
        var writer =
            writers[index].take()
            ?? LedgerChunkWriter(table: scope.table, shape: shape, maximumBytes: settings.chunkBytes)
        switch origin {
        case .nowhere: writer.append(unknownIDOf: deltas[index].reader, hash: hash)
        case .base: writer.append(entryOf: reader, hash: hash)
        case .delta(let delta): writer.append(entryOf: deltas[delta].reader, hash: hash)
        }
        writers[index] = writer
    }

    /// Adds an entry to the base, unless it has become meaningless.
    private mutating func keep(_ entry: LedgerChunkReader, _ hash: IDHash) {
        switch entry.state {
        case .unknown: return
        case .tombstone: if entry.goneAt < settings.forgetTombstonesBefore { return }
        case .held: count.held += 1
        case .seen: break
        }
        splitter.append(entryOf: entry, hash: hash)
    }
}

// Chunks.
extension LedgerTableCompaction {
    private mutating func open(_ chunk: LedgerChunk?) throws {
        guard let chunk else { return }
        reader = try LedgerChunkReader(chunk.bytes)
        head = nil
        left = chunk.entries
        try advance()
        guard head == chunk.first else { throw LedgerError.damaged }
        count.entries -= chunk.entries
        count.bytes -= chunk.bytes.count
    }

    /// Goes to the next entry of the base chunk.
    private mutating func advance() throws {
        guard try reader.next() else {
            guard left == 0 else { throw LedgerError.damaged }
            head = nil
            return
        }
        let hash = reader.hash(scope.key)
        guard left > 0, head.map({ $0 < hash }) ?? true else { throw LedgerError.damaged }
        head = hash
        left -= 1
        if reader.state == .held { count.held -= 1 }
    }

    private mutating func takeChunks(into batch: inout LedgerCompactionBatch, bytes: inout Int) {
        for chunk in splitter.takeChunks() {
            count.entries += chunk.entries
            count.bytes += chunk.bytes.count
            bytes += chunk.bytes.count
            batch.added.append(chunk)
        }
    }

    private func add(
        _ chunk: LedgerChunk, toUndoOf index: Int, in batch: inout LedgerCompactionBatch, bytes: inout Int
    ) {
        batch.undo[layers[index].cursor, default: []].append(chunk)
        bytes += chunk.bytes.count
    }
}
