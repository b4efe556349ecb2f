// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// What is known of one record before a stream: its ledger entry with the notes of newer pushes laid over it.
struct KnownRecord {
    /// What the device is believed to have; nil where the record was never met.
    var state: LedgerState?
    /// The hash of what it was sent; nil where none is to be trusted.
    var content: UInt64?
    /// Whether the ledger has a hash that is not to be trusted.
    var isDistrusted = false
    /// The feeds that it came by; 0 where they are unknown.
    var sources: UInt64 = 0
    /// The digests of its links.
    var links: [UInt64] = []
    /// When a tombstone was made.
    var goneAt: Int64 = 0
    /// Whether a push has named it that the cursor has not seen: never `created`, no hash trusted (finding 14).
    var isNoted = false
    /// Whether the ledger has an entry of it.
    var isStored = false
    /// Whether that entry says that the device holds it.
    var wasHeld = false

    /// Nothing is known; keeps its storage for the next record.
    mutating func clear() {
        state = nil
        content = nil
        isDistrusted = false
        sources = 0
        links.removeAll(keepingCapacity: true)
        goneAt = 0
        isNoted = false
        isStored = false
        wasHeld = false
    }

    /// Takes over what the ledger has, where it has an entry.
    mutating func load(_ view: LedgerView, _ table: LedgerDiffTable) {
        state = view.state
        let isTrusted = RecordVerdict.isTrusted(view.sources, table.rules)
        content = isTrusted ? view.content : nil
        isDistrusted = !isTrusted && view.content != nil
        sources = view.sources
        for link in 0..<table.shape.links { links.append(view.link(link)) }
        goneAt = view.goneAt
        isStored = true
        wasHeld = view.state == .held
    }

    /// Lays a note over it.
    ///
    /// The note comes from a file, and from a time when the table may have had other links: what does not fit the
    /// present shape is not looked at.
    mutating func overlay(_ note: PushNote, shape: LedgerShape) {
        // The backend has what the device was sent: let a row that comes as it was not undo what waits in quarantine.
        if note.state == .refused, state == .held { return }
        let fits = note.shape == shape.tag && note.links.count == shape.links
        isNoted = true
        content = nil
        switch note.state {
        // What one device has deleted the others still have, and the line that says so may get lost.
        case .held, .gone:
            // A backend need not put the record where the device has; what was streamed counts more.
            if state != .held {
                sources = 0
                if fits, note.links.contains(where: { $0 != 0 }) { links = note.links }
            }
            state = .held
        case .seen, .refused:
            guard state == nil else { return }
            state = .seen
            if fits { links = note.links }
        }
    }
}
