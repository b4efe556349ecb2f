// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine
import SyncModel

// Layers, as the real stores keep them.
extension SimulatedState {
    /// The cursors from one down to the newest that is in the base, newest first, without those that added nothing.
    private func chain(from cursor: Cursor) -> [(cursor: Cursor, place: Place)] {
        var chain: [(cursor: Cursor, place: Place)] = []
        var next: Cursor? = cursor
        while let cursor = next, let place = places[cursor] {
            chain.append((cursor, place))
            next = place.below == cursor ? nil : place.below
        }
        return chain
    }

    /// A replica's ledger as one of its cursors sees it.
    func outline(of replica: ReplicaID, at cursor: Cursor) -> LedgerOutline {
        guard let known = replicas[replica], let base = known.base else { return LedgerOutline(replica: replica) }
        let chain = chain(from: cursor)
        var outline = LedgerOutline(
            replica: replica, base: base, deltas: chain.compactMap(\.place.layer), version: known.readableVersion)
        guard let bottom = chain.last, bottom.place.below == bottom.cursor else { return outline }
        outline.undos = known.undos.filter { $0.cursor > bottom.cursor }.map(\.layer)
        outline.isExact = chain[0].place.isExact && bottom.cursor >= known.horizon ?? bottom.cursor
        return outline
    }

    /// The ledgers of all replicas, each at its tip and at the newest cursor that was made from it.
    var outlines: [LedgerOutline] {
        replicas.keys.sorted { $0.rawValue < $1.rawValue }.flatMap { replica -> [LedgerOutline] in
            guard let known = replicas[replica], known.base != nil else { return [] }
            let rows = rows.values.filter { $0.replica == replica }
            let newest = rows.filter { known.tip == nil || $0.parent == known.tip }.map(\.cursor).max()
            return [known.tip, newest].compactMap { $0 }.map { outline(of: replica, at: $0) }
        }
    }

    /// Takes what a pull adds to the ledger.
    func place(_ row: CursorRow, in replica: Replica, layer: LayerID?) -> Place {
        let below = row.parent.flatMap { parent -> Cursor? in
            guard let place = places[parent], let below = place.below else { return replica.compacted }
            return place.layer == nil ? below : parent
        }
        return Place(layer: layer, below: replica.compacted == nil ? nil : below, isExact: true)
    }

    mutating func take(_ ledger: Ledger, _ row: CursorRow, _ replica: inout Replica) throws(Refusal) -> Place {
        switch ledger {
        case .none:
            var place = place(row, in: replica, layer: nil)
            place.isExact = false
            return place
        case .chunks(let chunks, let counts):
            if chunks.isEmpty, replica.base != nil { return place(row, in: replica, layer: nil) }
            let layer = layers.add(chunks, counts: counts)
            guard replica.base == nil else { return place(row, in: replica, layer: layer) }
            replica.base = layer
            replica.compacted = row.cursor
            replica.horizon = nil
            replica.version += 1
            return Place(layer: nil, below: row.cursor, isExact: true)
        }
    }

    /// The deltas up to a cursor, newest first.
    func foldable(upTo cursor: Cursor) -> [(cursor: Cursor, layer: LayerID)] {
        chain(from: cursor).compactMap { step in step.place.layer.map { (step.cursor, $0) } }
    }

    /// Brings a part of the deltas into the base; false where somebody else was faster.
    mutating func compact(
        _ batch: LedgerCompaction.Batch, _ outline: inout LedgerOutline, upTo cursor: Cursor,
        _ deltas: [(cursor: Cursor, layer: LayerID)]
    ) -> Bool {
        guard var replica = replicas[outline.replica], replica.version == outline.version >> 1,
            let base = outline.base, layers.remove(batch.removed, from: base)
        else { return false }
        if outline.version & 1 == 0 { replica.compactAfter = layers.newest }
        layers.append(batch.added, to: base)
        layers.count(batch.counts, in: base)
        for (layer, chunks) in batch.undo {
            guard let cursor = deltas.first(where: { $0.layer == layer })?.cursor else { continue }
            if let undo = replica.undos.last(where: { $0.cursor == cursor })?.layer,
                undo.rawValue > replica.compactAfter.rawValue
            {
                layers.append(chunks, to: undo)
            } else {
                let place = replica.undos.firstIndex { $0.cursor > cursor } ?? replica.undos.endIndex
                replica.undos.insert((cursor, layers.add(chunks)), at: place)
            }
        }
        replica.version += 1
        outline.version = replica.readableVersion + 1
        if batch.isLast {
            outline.version = replica.readableVersion
            for step in chain(from: cursor) where step.place.below != step.cursor {
                drop(step.cursor, below: step.cursor)
            }
            replica.compacted = cursor
        }
        replicas[outline.replica] = replica
        return true
    }

    /// Takes a delta from its cursor, and away where no other cursor shares it.
    private mutating func drop(_ cursor: Cursor, below: Cursor?) {
        let layer = places[cursor]?.layer
        places[cursor]?.layer = nil
        places[cursor]?.below = below
        if below == nil { places[cursor]?.isExact = false }
        if let layer, !places.values.contains(where: { $0.layer == layer }) { layers.remove(layer) }
    }
}

// What time takes away.
extension SimulatedState {
    /// Takes away what leads back too far, deltas that nobody came back with, old cursors and replicas, and notes that
    /// no cursor needs; tells whether a replica with a ledger went.
    mutating func collect(now: Int64) -> Bool {
        let rewindBefore = now - Simulation.rewind
        let seenBefore = now - Simulation.maxOffline
        for (id, replica) in replicas {
            guard let compacted = replica.compacted else { continue }
            for (cursor, layer) in replica.undos where cursor.rawValue < rewindBefore && cursor <= compacted {
                layers.remove(layer)
                replicas[id]?.undos.removeAll { $0.layer == layer }
                let horizon = replicas[id]?.horizon ?? cursor
                replicas[id]?.horizon = max(cursor, horizon)
            }
        }
        for row in rows.values where !row.isConfirmed && row.cursor.rawValue < rewindBefore {
            guard let tip = replicas[row.replica]?.tip, row.parent != tip, places[row.cursor]?.layer != nil else {
                continue
            }
            drop(row.cursor, below: nil)
            strays.insert(row.cursor)
        }
        for row in rows.values where row.cursor.rawValue < seenBefore && places[row.cursor]?.layer == nil {
            let isSuperseded = rows.values.contains {
                $0.replica == row.replica && $0.cursor > row.cursor && $0.isConfirmed
            }
            guard isSuperseded, replicas[row.replica]?.compacted != row.cursor else { continue }
            rows[row.cursor.rawValue] = nil
            places[row.cursor] = nil
        }
        let forgotten = replicas.filter { $0.value.lastSeen < seenBefore }.keys
        for replica in forgotten { forget(replica) }
        collectNotes(before: rewindBefore)
        return !forgotten.isEmpty
    }

    private mutating func forget(_ replica: ReplicaID) {
        replicas[replica] = nil
        for row in rows.values where row.replica == replica {
            rows[row.cursor.rawValue] = nil
            places[row.cursor] = nil
        }
    }

    /// Notes that every cursor has seen from which a replica's ledger is exact, and every tip.
    private mutating func collectNotes(before: Int64) {
        let needed = rows.values.filter { row in
            guard let replica = replicas[row.replica] else { return false }
            if let horizon = replica.horizon, row.cursor < horizon { return false }
            return places[row.cursor]?.isExact == true || replica.tip.map { row.cursor >= $0 } ?? true
        }
        let seen = needed.map(\.noted).min() ?? .max
        notes = notes.filter { $0.value.sequence > seen || notedAt[$0.key, default: 0] >= before }
    }
}
