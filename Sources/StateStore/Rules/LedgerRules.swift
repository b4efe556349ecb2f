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
            guard !rows.isEmpty else { throw StateError.ledgerChanged }
            let parts = try rows.map { try StagedChunks(decoding: $0.bytes) }
            layer = LedgerLayer(
                id: staged, cursor: pull.row.cursor, chunks: parts.flatMap(\.chunks).sorted { $0.precedes($1) },
                counts: counts)
            for row in rows { account.delete(row.key) }
        }
        try takeLayer(layer, &cursor, of: &replica)
    }

    /// Gives a layer to the replica: as its base if it has none, else as the delta of the new cursor.
    private static func takeLayer(
        _ layer: LedgerLayer, _ cursor: inout StoredCursor, of replica: inout ReplicaHead
    ) throws(StateError) {
        for (chunk, next) in zip(layer.chunks, layer.chunks.dropFirst())
        where chunk.table == next.table && chunk.first == next.first {
            throw .failed("two chunks of a layer begin with the same hash")
        }
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
    package static func write(
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
                account.write(chunk.bytes, chunk: head.number)
            } else {
                head.bytes = chunk.bytes
            }
            heads.append(head)
        }
        return heads.sorted { $0.precedes($1) }
    }

    /// Puts a compaction's results in the place of the base and the deltas; ``LedgerMerge`` explains them.
    package static func merge(_ merge: LedgerMerge, at now: Instant, in account: inout Account) throws {
        guard var replica = try account.replica(merge.replica) else {
            throw StateError.replicaUnknown(merge.replica)
        }
        guard let base = replica.ledger.base, base.id == merge.base else { throw StateError.ledgerChanged }
        let steps = replica.steps(from: merge.upTo)
        guard let bottom = steps.last, bottom.below == bottom.cursor, bottom.cursor == replica.ledger.compacted else {
            throw StateError.ledgerChanged
        }
        var loose = base.chunks.filter { merge.removed.contains($0.number) }
        guard loose.count == merge.removed.count else { throw StateError.ledgerChanged }
        var next = base
        next.id = LayerID(rawValue: account.nextNumber(at: now))
        next.chunks = (base.chunks.filter { !merge.removed.contains($0.number) } + merge.added)
            .sorted { $0.precedes($1) }
        for (table, count) in merge.counts { next.counts[table, default: LedgerCount()].add(count) }
        for step in steps {
            loose += replica.dropDelta(of: step.cursor, below: step.cursor)?.chunks ?? []
        }
        next.cursor = (steps.first { $0.delta != nil } ?? bottom).cursor
        replica.ledger.base = next
        replica.ledger.compacted = next.cursor
        replica.ledger.version += 1
        replica.ledger.undos = (replica.ledger.undos + merge.undos).sorted { $0.cursor < $1.cursor }
        try account.put(replica)
        try loosen(loose, at: now, in: &account)
    }

    /// Lets chunks be deleted in an hour: pulls that have begun may still read them.
    static func loosen(_ chunks: [ChunkHead], at now: Instant, in account: inout Account) throws {
        let numbers = chunks.filter { $0.bytes == nil }.map(\.number)
        guard !numbers.isEmpty else { return }
        let key = RowKey(.loose, of: account.owner, number: account.nextNumber(at: now))
        try account.put(numbers, at: key, number: now.milliseconds)
    }
}

/// The results of a compaction: the base's chunks that are replaced, what replaces them, and what undoes it.
package struct LedgerMerge: Hashable, Sendable {
    /// The replica whose ledger was compacted.
    package var replica: ReplicaID
    /// The base that was read.
    package var base: LayerID
    /// The cursor up to which everything is in the base now.
    package var upTo: Cursor
    /// The numbers of the base's chunks that go.
    package var removed: Set<Int64> = []
    /// The chunks that come.
    package var added: [ChunkHead] = []
    /// The base's former entries, by the cursors whose deltas have replaced them.
    package var undos: [LedgerLayer] = []
    /// The changes of the base's figures.
    package var counts: [String: LedgerCount] = [:]

    /// Creates a merge without changes.
    package init(replica: ReplicaID, base: LayerID, upTo: Cursor) {
        self.replica = replica
        self.base = base
        self.upTo = upTo
    }
}

/// Chunks of a layer that was staged.
package struct StagedChunks: Hashable, Sendable, Coded {
    /// The chunks with their tables.
    package var chunks: [ChunkHead] = []

    package init() {}

    /// Creates a value.
    package init(_ chunks: [ChunkHead]) { self.chunks = chunks }

    package mutating func code(with coder: inout Coder) throws(StateError) {
        // A layer knows how to code its chunks.
        var layer = LedgerLayer()
        layer.chunks = chunks
        try coder.code(&layer)
        chunks = layer.chunks
    }
}

extension ChunkHead {
    /// Orders chunks by table and first hash.
    package func precedes(_ other: Self) -> Bool {
        table == other.table ? first < other.first : table.utf8.lexicographicallyPrecedes(other.table.utf8)
    }
}
