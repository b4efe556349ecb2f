// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

extension ReplicaHead {
    /// The longest chain of cursors that is followed; a longer one counts as a ledger without a base.
    private static let maximumSteps = 4_096

    /// Returns the indices of the cursors from this one down to the newest that is in the base, newest first, without
    /// those that added nothing and without the last one; and that one, nil if it is not known.
    func chain(from cursor: Cursor) -> (steps: [Int], bottom: Cursor?) {
        var (steps, next): ([Int], Cursor) = ([], cursor)
        steps.reserveCapacity(cursors.count)
        while steps.count <= Self.maximumSteps, next != ledger.compacted {
            guard let step = index(of: next), let below = cursors[step].below, below <= next else {
                return (steps, nil)
            }
            if below == next { return (steps, next) }
            steps.append(step)
            next = below
        }
        return (steps, next == ledger.compacted ? next : nil)
    }

    /// Returns the ledger as one of the cursors sees it.
    package func outline(at cursor: Cursor?) -> LedgerOutline {
        var outline = LedgerOutline(replica: id, base: ledger.base, version: ledger.version)
        guard outline.base != nil, let cursor else { return outline }
        let (steps, bottom) = chain(from: cursor)
        outline.deltas.reserveCapacity(steps.count)
        for step in steps {
            guard let delta = cursors[step].delta else { continue }
            outline.deltas.append(delta)
            outline.deltaChunks += delta.chunkCount
        }
        // If it is unknown on which base the cursor was made, the present one is a superset, without ways back.
        guard let bottom else { return outline }
        outline.undos = cursors.filter { $0.cursor > bottom }.compactMap(\.undo)
        outline.isExact = self[cursor]?.isExact == true && ledger.horizon.map { bottom >= $0 } ?? true
        return outline
    }

    /// All layers.
    package var layers: [LedgerLayer] {
        (ledger.base.map { [$0] } ?? []) + cursors.flatMap(\.layers)
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

extension StoredCursor {
    /// Its layers.
    var layers: [LedgerLayer] { [delta, undo].compactMap(\.self) }
}
