// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// The ledger's part of a replica.
struct ReplicaLedger: Sendable {
    var base: LayerID?
    /// The newest cursor that is in the base.
    var compacted: Cursor?
    /// The oldest cursor to which the undos lead back; nil while all undos are there.
    var horizon: Cursor?
    var version = 0
    /// The greatest number of a layer when the compaction in progress began.
    var compactAfter: Int64 = 0

    /// The version that callers see; a compaction continues under the next odd one, which distinguishes it from one
    /// that begins again.
    var readableVersion: Int { version << 1 }

    func isCurrent(_ read: Int) -> Bool { read >> 1 == version }
    static func isContinuing(_ read: Int) -> Bool { read & 1 == 1 }
}

/// The standing of a cursor in the ledger of its replica.
struct LedgerStanding: Sendable {
    /// The layer that the cursor adds to the cursor below it; nil for none.
    var layer: LayerID?
    /// The cursor below; the cursor itself if it is in the base; nil if there is no ledger.
    var below: Cursor?
    /// True if it is known exactly what the device holds at this cursor.
    var isExact: Bool
}

/// Reads ledgers, and changes them for commits, compactions and collections.
extension Contents {
    /// The longest chain of cursors that is followed; a longer one counts as a ledger without a base.
    private static let maximumSteps = 4_096

    /// Returns the cursors from this one down to the newest that is in the base, newest first, without those that added
    /// nothing.
    private func steps(from cursor: Cursor, of id: ReplicaID, _ replica: Replica) -> [StoredCursor] {
        var steps: [StoredCursor] = []
        var next: Cursor? = cursor
        while steps.count <= Self.maximumSteps, let cursor = next,
            let step = owners[replica.principal]?.cursors[cursor], step.row.replica == id
        {
            steps.append(step)
            next = step.standing.below.flatMap { $0 < cursor ? $0 : nil }
        }
        return steps
    }

    /// Returns a replica's ledger as one of its cursors sees it.
    func outline(of id: ReplicaID, at cursor: Cursor?) -> LedgerOutline? {
        guard let replica = replicas[id] else { return nil }
        var outline = LedgerOutline(replica: id, base: replica.ledger.base, version: replica.ledger.readableVersion)
        guard outline.base != nil, let cursor else { return outline }
        let steps = steps(from: cursor, of: id, replica)
        outline.deltas = steps.compactMap(\.standing.layer)
        outline.deltaChunks = outline.deltas.reduce(0) { $0 + (shelf.layers[$1]?.chunks.count ?? 0) }
        guard let bottom = steps.last, bottom.standing.below == bottom.row.cursor else {
            // It is unknown on which base the cursor was made: the present one is a superset, without ways back.
            return outline
        }
        outline.undos = shelf.layers(of: id).filter { $0.layer.kind == .undo }
            .compactMap { layer in layer.layer.cursor.map { (cursor: $0, id: layer.id) } }
            .filter { $0.cursor > bottom.row.cursor }
            .sorted { ($0.cursor, $0.id.rawValue) < ($1.cursor, $1.id.rawValue) }.map(\.id)
        outline.isExact =
            steps.first?.standing.isExact == true && replica.ledger.horizon.map { bottom.row.cursor >= $0 } ?? true
        return outline
    }

    /// Returns the counts of a ledger as a cursor sees it, by table.
    func counts(of outline: LedgerOutline) -> [String: LedgerCount] {
        (outline.deltas + (outline.base.map { [$0] } ?? [])).reduce(into: [:]) { total, layer in
            for (table, count) in shelf.layers[layer]?.counts ?? [:] { total[table, default: LedgerCount()].add(count) }
        }
    }

    /// Returns the deltas of a cursor and those below it that are not in the base yet, newest first.
    func compactableDeltas(_ id: ReplicaID, upTo cursor: Cursor) throws(StateError) -> [CompactableDelta] {
        guard let replica = replicas[id] else { throw .replicaUnknown(id) }
        return steps(from: cursor, of: id, replica).compactMap { step in
            step.standing.layer.map { CompactableDelta(layer: $0, cursor: step.row.cursor) }
        }
    }

    /// Writes a pull's additions to the ledger; the replica exists already, its cursor does not yet.
    mutating func takeLedger(of pull: PullCommit) throws(StateError) -> LedgerStanding {
        guard let ledger = replicas[pull.row.replica]?.ledger else { throw .replicaUnknown(pull.row.replica) }
        for (replica, version) in pull.ledgersRead {
            guard replicas[replica]?.ledger.isCurrent(version) == true else { throw .ledgerChanged }
        }
        let below = below(pull, ledger)
        switch pull.ledger {
        case .none:
            return LedgerStanding(layer: nil, below: below, isExact: false)
        case .chunks(let chunks, let counts):
            if chunks.isEmpty, ledger.base != nil { return LedgerStanding(layer: nil, below: below, isExact: true) }
            let layer = shelf.makeLayer(.staged, of: nil, cursor: nil, at: pull.now)
            try shelf.add(chunks, to: layer, limit: limits.chunkBytes)
            return take(layer, counts: counts, of: pull, below: below)
        case .staged(let staged, let counts):
            guard let layer = shelf.layers[staged], layer.isStaged else { throw .ledgerChanged }
            if ledger.base != nil, layer.chunks.isEmpty {
                return LedgerStanding(layer: nil, below: below, isExact: true)
            }
            return take(staged, counts: counts, of: pull, below: below)
        }
    }

    /// Gives a staged layer to the replica: as its base if it has none, else as the delta of the new cursor.
    private mutating func take(
        _ layer: LayerID, counts: [String: LedgerCount], of pull: PullCommit, below: Cursor?
    ) -> LedgerStanding {
        let (id, cursor) = (pull.row.replica, pull.row.cursor)
        let isBase = replicas[id]?.ledger.base == nil
        shelf.layers[layer]?.replica = id
        shelf.layers[layer]?.kind = isBase ? .base : .delta
        shelf.layers[layer]?.cursor = cursor
        shelf.layers[layer]?.madeAt = pull.now
        shelf.layers[layer]?.count(counts)
        guard isBase else { return LedgerStanding(layer: layer, below: below, isExact: true) }
        replicas[id]?.ledger.base = layer
        replicas[id]?.ledger.compacted = cursor
        replicas[id]?.ledger.horizon = nil
        replicas[id]?.ledger.version += 1
        return LedgerStanding(layer: nil, below: cursor, isExact: true)
    }

    /// Returns the cursor that a new one rests on: its parent, or the cursor below the parent if the parent added
    /// nothing.
    private func below(_ pull: PullCommit, _ ledger: ReplicaLedger) -> Cursor? {
        guard let compacted = ledger.compacted, let parent = pull.row.parent else { return nil }
        let stored = owners[pull.row.principal]?.cursors[parent]
        // A parent from before the ledger: the pull has compared everything with the present base.
        guard let stored, stored.row.replica == pull.row.replica, let below = stored.standing.below else {
            return compacted
        }
        return stored.standing.layer == nil ? below : parent
    }

    /// Merges a part of the deltas into the base, and returns the version for the next part.
    mutating func compact(_ batch: LedgerCompactionBatch, at now: Instant) throws(StateError) -> Int {
        guard var ledger = replicas[batch.replica]?.ledger else { throw .replicaUnknown(batch.replica) }
        guard ledger.isCurrent(batch.version), ledger.base == batch.base, let compacted = ledger.compacted else {
            throw .ledgerChanged
        }
        if !ReplicaLedger.isContinuing(batch.version) { ledger.compactAfter = shelf.lastLayer }
        for chunk in batch.removed {
            guard let index = shelf.layers[batch.base]?.chunks.firstIndex(where: { $0.id == chunk }) else {
                throw .ledgerChanged
            }
            shelf.layers[batch.base]?.chunks.remove(at: index)
        }
        try shelf.add(batch.added, to: batch.base, limit: limits.chunkBytes)
        shelf.layers[batch.base]?.count(batch.counts)
        for (cursor, chunks) in batch.undo.sorted(by: { $0.key < $1.key }) {
            guard cursor > compacted else { throw .failed("compaction up to cursor \(cursor) after \(compacted)") }
            try addUndo(chunks, of: cursor, batch.replica, after: ledger.compactAfter)
        }
        ledger.version += 1
        replicas[batch.replica]?.ledger = ledger
        guard let finished = batch.finished else { return ledger.readableVersion + 1 }
        try finishCompaction(of: batch.replica, upTo: finished, at: now)
        return ledger.readableVersion
    }

    /// Adds chunks to the undo that this compaction has made for a cursor, never to that of an interrupted one.
    private mutating func addUndo(
        _ chunks: [LedgerChunk], of cursor: Cursor, _ replica: ReplicaID, after: Int64
    ) throws(StateError) {
        guard !chunks.isEmpty else { return }
        let known = shelf.layers(of: replica)
            .last { $0.layer.kind == .undo && $0.layer.cursor == cursor && $0.id.rawValue > after }
        let layer = known?.id ?? shelf.makeLayer(.undo, of: replica, cursor: cursor, at: cursor.time)
        try shelf.add(chunks, to: layer, limit: limits.chunkBytes)
        for chunk in chunks {
            shelf.layers[layer]?.count([chunk.table: LedgerCount(entries: chunk.entries, bytes: chunk.bytes.count)])
        }
    }

    /// Detaches the deltas that are in the base now from their cursors.
    private mutating func finishCompaction(
        of id: ReplicaID, upTo finished: Cursor, at now: Instant
    ) throws(StateError) {
        guard let replica = replicas[id] else { throw .replicaUnknown(id) }
        let steps = steps(from: finished, of: id, replica)
        guard let bottom = steps.last, bottom.standing.below == bottom.row.cursor,
            bottom.row.cursor == replica.ledger.compacted
        else { throw .ledgerChanged }
        for step in steps where step.standing.layer != nil {
            drop(step, of: replica.principal, below: step.row.cursor, at: now)
        }
        // Not a cursor that has added nothing: others may rest on the one below it.
        let compacted = steps.first { $0.standing.layer != nil } ?? bottom
        replicas[id]?.ledger.compacted = compacted.row.cursor
        replicas[id]?.ledger.compactAfter = 0
    }

    /// Detaches a delta from its cursor, which rests on another one from now on, or is no longer exact if `below` is
    /// nil; the layer goes if no other cursor shares it.
    mutating func drop(_ stored: StoredCursor, of principal: Principal, below: Cursor?, at now: Instant) {
        var changed = stored
        changed.standing.layer = nil
        changed.standing.below = below
        if below == nil { changed.standing.isExact = false }
        owners[principal]?.cursors[stored.row.cursor] = changed
        guard let layer = stored.standing.layer else { return }
        let isShared = owners[principal]?.cursors.values.contains { $0.standing.layer == layer } ?? false
        if !isShared { shelf.loosen(layer, at: now) }
    }
}
