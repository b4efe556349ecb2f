// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// One record as it was known before a stream: its ledger entry with the notes of newer pushes laid over it.
struct KnownRecord {
    /// The state that the device is believed to have; nil if the record was never met.
    var state: LedgerState?
    /// The hash of the content that the device was sent; nil if none can be trusted.
    var content: UInt64?
    /// True if the device was sent a default in place of a value that could not be read.
    var isDefaulted = false
    /// The hash of the content that the device was last sent, whether it can be trusted or not; nil if it is unknown.
    var sent: UInt64?
    /// True if the ledger has a hash that cannot be trusted.
    var isDistrusted = false
    /// The feeds that the record came by; empty if unknown.
    var feeds: FeedSet = []
    /// The digests of the record's links.
    var links: [UInt64] = []
    /// The time at which a tombstone was made; else 0.
    var goneAt: Instant = 0
    /// True if a push that the cursor has not seen has named the record: it is never `created`, and no hash is trusted
    /// (finding 14).
    var isNoted = false
    /// True if the ledger has an entry of the record.
    var isStored = false
    /// True if that entry says that the device holds the record.
    var wasHeld = false
    /// True if the record is held and only pushes have named it so far: no line has said by which feeds it is there.
    var isUnplaced = false

    /// Forgets everything; the storage is kept for the next record.
    mutating func clear() {
        state = nil
        content = nil
        sent = nil
        isDefaulted = false
        isDistrusted = false
        feeds = []
        links.removeAll(keepingCapacity: true)
        goneAt = 0
        isNoted = false
        isStored = false
        wasHeld = false
        isUnplaced = false
    }

    /// Returns true if a row of a whole stream may show the record as it was before a push of the last minutes.
    ///
    /// That is a row that the device was sent before, or any row of a record that the push has deleted and that nothing
    /// has brought again since, unless the ledger holds the record and the row is not what was sent of it. What is
    /// fetched for a client that has gained the table or its columns was sent before, too, and thrown away.
    func mayBeOlder(_ row: UInt64, than push: PushNote.State, _ rules: RecordVerdict.Rules) -> Bool {
        let isOther = wasHeld && sent != nil && sent != row && !rules.isFetched
        if push == .gone { return content == nil && !isOther }
        return wasHeld && sent == row && !rules.isFetched
    }

    /// Returns the feeds of a record that stays although one of its feeds has gone: those that nothing has taken away.
    func feeds(leftOf remaining: FeedSet, _ rules: RecordVerdict.Rules) -> FeedSet {
        let left = (feeds.isDisjoint(with: remaining) ? rules.allFeeds : feeds).intersection(remaining)
        return left.isEmpty ? feeds : left
    }

    /// Returns the feeds to store of a record that is missing and stays; if lines of it could not be read, it has left
    /// the other feeds that came in full, and a comparison of these must not take it away (finding 13).
    func feeds(missingIn rules: RecordVerdict.Rules, _ unread: FeedSet) -> FeedSet {
        unread.isEmpty ? feeds : feeds.subtracting(rules.comparedFeeds).union(unread)
    }

    /// Returns the feeds to store of a record that stays; if no line has said yet where it is, those of its unreadable
    /// lines.
    ///
    /// That it may be there by any feed is no knowledge: the first line will say more.
    func kept(_ feeds: FeedSet, _ unread: FeedSet, in rules: RecordVerdict.Rules) -> FeedSet {
        isUnplaced && rules.isExact && feeds == rules.allFeeds ? unread : feeds
    }

    /// Loads the entry that the view is at.
    mutating func load(_ view: LedgerView, _ table: LedgerDiffTable) {
        state = view.state
        let isTrusted = RecordVerdict.isTrusted(view.feeds, table.rules)
        content = isTrusted ? view.content : nil
        sent = view.content ?? view.formerContent
        isDefaulted = view.isDefaulted
        isDistrusted = !isTrusted && view.content != nil
        feeds = view.feeds
        for link in 0..<table.shape.links { links.append(view.link(link)) }
        goneAt = view.goneAt
        isStored = true
        wasHeld = view.state == .held
        isUnplaced = wasHeld && feeds.isEmpty && view.content == nil
    }

    /// Lays a note over the entry.
    ///
    /// The note comes from a file, and from a time when the table may have had other links: links that do not fit the
    /// present shape are ignored.
    mutating func overlay(_ note: PushNote, shape: LedgerShape) {
        // The backend has what the device was sent: a row that comes unchanged must not undo what waits in quarantine.
        if note.state == .refused, state == .held { return }
        let fits = note.shape == shape.tag && note.links.count == shape.links
        isNoted = true
        content = nil
        switch note.state {
        // What one device has deleted, the others still have, and the line that says so may get lost.
        case .held, .gone:
            // The backend need not have the record under the feeds and parents that the device gave it; a streamed
            // state counts more.
            if state != .held {
                feeds = []
                isUnplaced = true
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
