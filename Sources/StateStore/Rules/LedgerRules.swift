// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Changes the ledgers of replicas.
package enum LedgerRules {
    /// Takes a pull's additions to the ledger of its replica, whose cursor is not stored yet.
    static func take(
        _ pull: PullCommit, _ cursor: inout StoredCursor, of replica: inout ReplicaHead, in account: inout Account
    ) throws {
        cursor.below = below(pull, replica)
        let layer: LedgerLayer
        switch pull.ledger {
        case .none: return
        case .chunks(let chunks, let counts):
            layer = LedgerLayer(
                id: LayerID(rawValue: account.nextNumber(at: pull.now)), cursor: pull.row.cursor,
                chunks: try write(chunks, at: pull.now, in: &account), counts: counts)
        case .staged(let staged, let counts):
            let rows = try account.rows(.all(.staged, of: 0, prefix: staged.rawValue.keyBytes))
            // Without its first row the layer is being collected.
            guard rows.first?.key.key.count == 8 else { throw StateError.ledgerChanged }
            let parts = try rows.map { try StagedChunks(decoding: $0.bytes) }
            layer = LedgerLayer(
                id: staged, cursor: pull.row.cursor, chunks: parts.flatMap(\.chunks).sorted { $0.precedes($1) },
                counts: counts)
            for row in rows {
                account.expect(row)
                account.delete(row.key)
            }
        }
        var named = layer
        named.chunks = try account.directories(of: layer.chunks, at: pull.now)
        takeLayer(named, &cursor, of: &replica)
    }

    /// Gives a layer to the replica: as its base if it has none, else as the delta of the new cursor.
    private static func takeLayer(
        _ layer: LedgerLayer, _ cursor: inout StoredCursor, of replica: inout ReplicaHead
    ) {
        cursor.isExact = true
        guard replica.ledger.base == nil else {
            if !layer.chunks.isEmpty { cursor.delta = layer }
            return
        }
        cursor.below = cursor.cursor
        replica.ledger.base = layer
        replica.ledger.compacted = cursor.cursor
        replica.ledger.horizon = nil
        replica.ledger.version += 1
    }

    /// Returns the cursor that a new one rests on: its parent, or the cursor below the parent if the parent added
    /// nothing.
    private static func below(_ pull: PullCommit, _ replica: ReplicaHead) -> Cursor? {
        guard let compacted = replica.ledger.compacted, let parent = pull.row.parent else { return nil }
        // A parent from before the ledger: the pull has compared everything with the present base.
        guard let stored = replica[parent], let below = stored.below else { return compacted }
        return stored.delta == nil ? below : parent
    }

    /// Writes chunks, small ones into the head.
    private static func write(
        _ chunks: [LedgerChunk], at now: Instant, in account: inout Account
    ) throws(StateError) -> [ChunkHead] {
        let limit = account.setting.limits.chunkBytes
        var heads: [ChunkHead] = []
        for chunk in chunks {
            guard chunk.bytes.count <= limit else { throw .tooLarge("ledger chunk") }
            var head = ChunkHead(
                table: try key(chunk.table, "table"), first: chunk.first, entries: chunk.entries,
                number: account.nextNumber(at: now), size: chunk.bytes.count)
            if head.size > account.setting.limits.inlineBytes {
                account.changes.chunks[head.number] = chunk.bytes
            } else {
                head.bytes = chunk.bytes
            }
            heads.append(head)
        }
        return heads.sorted { $0.precedes($1) }
    }

    /// Takes a step of a compaction; the last one puts all results in the place of the base and the deltas.
    ///
    /// Until then nothing has changed for any cursor, and the steps' chunks are collected if no last step comes within
    /// an hour. Data no longer in use stay readable for an hour, for pulls that began before; those that build on this ledger
    /// cannot be committed. A step is durable only with the next commit.
    ///
    /// - Returns: The compaction for the next step.
    /// - Throws: ``StateError/ledgerChanged`` if the ledger is not the one that the compaction began with.
    package static func compact(
        _ batch: LedgerCompactionBatch, of begun: LedgerMerge, at now: Instant, in account: inout Account
    ) throws -> LedgerMerge {
        guard let known = try account.replica(begun.replica) else { throw StateError.replicaUnknown(begun.replica) }
        guard known.ledger.version == begun.version, known.ledger.base?.id == begun.base,
            Set(batch.removed).count == batch.removed.count, begun.removed.isDisjoint(with: batch.removed)
        else { throw StateError.ledgerChanged }
        guard batch.undo.keys.allSatisfy({ $0 > known.ledger.compacted ?? .first }) else {
            throw StateError.failed("an undo of a cursor that is in the base already")
        }
        var merge = begun
        merge.removed.formUnion(batch.removed)
        merge.added += try write(batch.added, at: now, in: &account)
        for (table, count) in batch.counts { merge.counts[table, default: LedgerCount()].add(count) }
        for (cursor, chunks) in batch.undo.sorted(by: { $0.key < $1.key }) where !chunks.isEmpty {
            var undo =
                merge.undos[cursor]
                ?? LedgerLayer(id: LayerID(rawValue: account.nextNumber(at: now)), cursor: cursor)
            undo.chunks = (undo.chunks + (try write(chunks, at: now, in: &account))).sorted { $0.precedes($1) }
            for chunk in chunks {
                undo.counts[chunk.table, default: LedgerCount()].add(
                    LedgerCount(entries: chunk.entries, bytes: chunk.bytes.count))
            }
            merge.undos[cursor] = undo
        }
        if batch.isLast {
            try finish(merge, at: now, in: &account)
            merge.version += 1
        } else {
            try stage(&merge, at: now, in: &account)
        }
        return merge
    }

    private static func finish(_ merge: LedgerMerge, at now: Instant, in account: inout Account) throws {
        guard var replica = try account.replica(merge.replica), let base = replica.ledger.base else {
            throw StateError.ledgerChanged
        }
        let (steps, bottom) = replica.chain(from: merge.upTo)
        guard let bottom, bottom == replica.ledger.compacted else { throw StateError.ledgerChanged }
        let chunks = try account.chunks(in: base.chunks)
        let removed = chunks.filter { merge.removed.contains($0.number) }
        guard removed.count == merge.removed.count else { throw StateError.ledgerChanged }
        let kept = Set(chunks.map(\.number)).subtracting(merge.removed)
        var loose = try account.numbers(in: base.chunks).filter { !kept.contains($0) }
        var next = base
        next.id = LayerID(rawValue: account.nextNumber(at: now))
        next.chunks = try account.directories(
            of: (chunks.filter { kept.contains($0.number) } + merge.added).sorted { $0.precedes($1) }, at: now)
        for (table, count) in merge.counts { next.counts[table, default: LedgerCount()].add(count) }
        next.cursor = steps.lazy.map { replica.cursors[$0] }.first { $0.delta != nil }?.cursor ?? bottom
        for step in steps.map({ replica.cursors[$0].cursor }) {
            loose += try account.numbers(in: replica.dropDelta(of: step, below: step)?.chunks ?? [])
        }
        replica.ledger.base = next
        replica.ledger.compacted = next.cursor
        replica.ledger.version += 1
        for (cursor, undo) in merge.undos.sorted(by: { $0.key < $1.key }) {
            guard let index = replica.index(of: cursor) else { throw StateError.ledgerChanged }
            replica.cursors[index].undo = undo
            replica.cursors[index].undo?.chunks = try account.directories(of: undo.chunks, at: now)
        }
        try account.put(replica)
        try setLoose(loose, at: now, in: &account)
        account.needNotBeDurable()
        guard merge.steps > 0 else { return }
        let staged = try account.rows(.all(.staged, of: 0, prefix: merge.number.keyBytes))
        guard staged.count == merge.steps else { throw StateError.ledgerChanged }
        for row in staged {
            account.expect(row)
            account.delete(row.key)
        }
    }

    /// Notes the chunks that a step has written.
    private static func stage(_ merge: inout LedgerMerge, at now: Instant, in account: inout Account) throws {
        if merge.steps == 0 { merge.number = account.nextNumber(at: now) }
        let chunks = account.changes.chunks.sorted { $0.key < $1.key }.map {
            ChunkHead(table: "", first: .first, entries: 0, number: $0.key, size: $0.value.count)
        }
        let key = RowKey(.staged, of: 0, merge.number.keyBytes + Int64(merge.steps).keyBytes)
        try account.put(StagedChunks(chunks), at: key, version: 1, number: now.milliseconds)
        account.needNotBeDurable()
        merge.steps += 1
    }

    /// Lets the chunks of layers be deleted in an hour: pulls that have begun may still read them.
    static func setLoose(_ layers: [LedgerLayer], at now: Instant, in account: inout Account) throws {
        try setLoose(account.numbers(in: layers.flatMap(\.chunks)), at: now, in: &account)
    }

    private static func setLoose(_ numbers: [Int64], at now: Instant, in account: inout Account) throws {
        var rest = numbers[...]
        while !rest.isEmpty {
            let key = RowKey(.loose, of: account.owner, number: account.nextNumber(at: now))
            try account.put(Array(rest.prefix(looseChunks)), at: key, number: now.milliseconds)
            rest = rest.dropFirst(looseChunks)
        }
    }

    /// The most chunks of a row of loose ones: a collection deletes them together.
    private static let looseChunks = 500
}

/// Chunks of a layer that was staged, or of a directory.
package struct StagedChunks: Hashable, Sendable, Coded {
    /// The chunks with their tables.
    package var chunks: [ChunkHead] = []

    package init() {}

    /// Creates a value.
    package init(_ chunks: [ChunkHead]) { self.chunks = chunks }

    package mutating func code(with coder: inout Coder) throws(StateError) {
        // A layer knows how to code its chunks; these are in the order in which they were written.
        var layer = LedgerLayer()
        layer.chunks = chunks
        try layer.codeChunks(with: &coder)
        chunks = layer.chunks
    }
}

extension ChunkHead {
    /// Orders chunks by table and first hash.
    package func precedes(_ other: Self) -> Bool {
        table == other.table ? first < other.first : table.utf8.lexicographicallyPrecedes(other.table.utf8)
    }
}
