// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

extension ReplicaHead {
    /// The longest chain of cursors that is followed; a longer one counts as a ledger without a base.
    private static let maximumSteps = 4_096

    /// Returns the cursors from this one down to the newest that is in the base, newest first, without those that added
    /// nothing.
    func steps(from cursor: Cursor) -> [StoredCursor] {
        var steps: [StoredCursor] = []
        var next: Cursor? = cursor
        while steps.count <= Self.maximumSteps, let cursor = next, let step = self[cursor] {
            steps.append(step)
            next = step.below.flatMap { $0 < cursor ? $0 : nil }
        }
        return steps
    }

    /// Returns the ledger as one of the cursors sees it.
    package func outline(at cursor: Cursor?) -> LedgerOutline {
        // The last bit of a version marks a running compaction.
        var outline = LedgerOutline(replica: id, base: ledger.base?.id, version: ledger.version << 1)
        guard outline.base != nil, let cursor else { return outline }
        let steps = steps(from: cursor)
        let deltas = steps.compactMap(\.delta)
        outline.deltas = deltas.map(\.id)
        outline.deltaChunks = deltas.reduce(0) { $0 + $1.chunks.count }
        guard let bottom = steps.last, bottom.below == bottom.cursor else {
            // It is unknown on which base the cursor was made: the present one is a superset, without ways back.
            return outline
        }
        outline.undos = ledger.undos.filter { $0.cursor > bottom.cursor }.map(\.id)
        outline.isExact = steps.first?.isExact == true && ledger.horizon.map { bottom.cursor >= $0 } ?? true
        return outline
    }

    /// Returns the layer of a number.
    package func layer(_ id: LayerID) -> LedgerLayer? {
        if ledger.base?.id == id { return ledger.base }
        return cursors.lazy.compactMap(\.delta).first { $0.id == id } ?? ledger.undos.first { $0.id == id }
    }

    /// All layers.
    package var layers: [LedgerLayer] {
        (ledger.base.map { [$0] } ?? []) + cursors.compactMap(\.delta) + ledger.undos
    }

    /// Returns the figures of a ledger as a cursor sees it, by table.
    package func counts(of outline: LedgerOutline) -> [String: LedgerCount] {
        (outline.deltas + (outline.base.map { [$0] } ?? [])).reduce(into: [:]) { total, id in
            for (table, count) in layer(id)?.counts ?? [:] { total[table, default: LedgerCount()].add(count) }
        }
    }

    /// Returns the deltas of a cursor and those below it that are not in the base yet, newest first.
    package func compactableDeltas(upTo cursor: Cursor) -> [CompactableDelta] {
        steps(from: cursor).compactMap { step in
            step.delta.map { CompactableDelta(layer: $0.id, cursor: step.cursor) }
        }
    }

    /// Takes a delta away from its cursor, which rests on another one from now on, or is no longer exact if `below` is
    /// nil.
    ///
    /// - Returns: The delta.
    mutating func dropDelta(of cursor: Cursor, below: Cursor?) -> LedgerLayer? {
        guard let index = index(of: cursor), let delta = cursors[index].delta else { return nil }
        cursors[index].delta = nil
        cursors[index].below = below
        if below == nil { cursors[index].isExact = false }
        return delta
    }
}

extension LedgerCount {
    /// Adds other figures.
    package mutating func add(_ other: LedgerCount) {
        held += other.held
        entries += other.entries
        bytes += other.bytes
    }
}
