// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

extension Contents {
    /// Deletes everything that belongs to a principal, and returns the number of rows that a database would have, by
    /// table.
    mutating func erase(_ principal: Principal, _ owner: Owner) -> [CopiedTable: Int] {
        let mine = replicas(of: principal)
        let layers = mine.flatMap { shelf.layers(of: $0.id) }
        let open = journals.all.filter { $0.journal.principal == principal }
        let entries = pushes.entries(of: principal)
        let lines = self.lines.entries.filter { $0.value.principal == principal }.map(\.key)
        let counts: [CopiedTable: Int] = [
            .principal: 1, .session: owner.sessions.count, .receipt: owner.receipts.count, .replica: mine.count,
            .layer: layers.count, .layerCount: layers.reduce(0) { $0 + $1.layer.counts.count },
            .chunk: layers.reduce(0) { $0 + $1.layer.chunks.count }, .cursor: owner.cursors.count,
            .owed: mine.reduce(0) { $0 + $1.replica.redeliveries.count },
            .deviceTrouble: mine.reduce(0) { $0 + $1.replica.troubles.count }, .pushNote: owner.notes.notes.count,
            .idMap: owner.ids.mappings.count, .pushRefusal: owner.refusals.count, .pushJournal: open.count,
            .pushFlight: open.reduce(0) { $0 + $1.inFlight.count }, .quarantine: lines.count,
            .pushQuarantine: entries.count,
        ]
        for (id, _) in mine {
            for (layer, _) in shelf.layers(of: id) { shelf.layers[layer] = nil }
            kill(id)
        }
        for line in lines { self.lines.entries[line] = nil }
        for entry in entries { pushes.entries[entry.id] = nil }
        journals.journals = journals.journals.filter { $0.value.journal.principal != principal }
        newestCollected = [newestCollected, owner.newest].compactMap { $0 }.max()
        owners[principal] = nil
        return counts
    }
}
