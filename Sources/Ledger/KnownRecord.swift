// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// The knowledge about one record before a stream: its ledger entry with the notes of newer pushes laid over it.
struct KnownRecord {
    /// The believed state on the device; nil if the record is unknown.
    var state: LedgerState?
    /// The hash of what it was sent; nil where none is to be trusted.
    var content: UInt64?
    /// True if the ledger has a hash that must not be trusted.
    var isDistrusted = false
    /// The feeds that it came by; 0 where they are unknown.
    var sources: UInt64 = 0
    /// The digests of its links.
    var links: [UInt64] = []
    /// The time at which a tombstone was made.
    var goneAt: Int64 = 0
    /// True if a push after the cursor has named the record: it is never `created`, and its hash is not trusted
    /// (finding 14).
    var isNoted = false
    /// True if the ledger has an entry of the record.
    var isStored = false
    /// True if that entry says that the device holds the record.
    var wasHeld = false

    /// Forgets the record, and keeps the storage for the next one.
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
