// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Keeps the notes that the pushes of a principal have made about records.
package enum NoteRules {
    /// A note with its history; its key has the record.
    struct Note: Coded {
        var note = PushNote(table: "", id: "", state: .seen)
        var madeAt: Instant = 0
        /// The sequence of the newest note that says that the backend holds or has deleted the record; until there is
        /// one, the sequence of the record's first note, negative.
        var accepted: Int64 = 0

        /// True if the record has been *seen* in a push once, and has no other note.
        var isFresh: Bool { note.state == .seen && accepted == -note.sequence }

        mutating func code(with coder: inout Coder) throws(StateError) {
            var (links, shape) = (note.links.map(Int64.init(bitPattern:)), Int64(note.shape))
            try coder.code(raw: &note.state)
            try coder.code(&note.sequence, &links, &shape, &madeAt, &accepted)
            note.links = links.map(UInt64.init(bitPattern:))
            note.shape = UInt32(truncatingIfNeeded: shape)
        }

        func note(of record: PushedRecordKey) -> PushNote {
            var note = note
            (note.table, note.id) = (record.table, record.id)
            return note
        }
    }

    static func rowKey(_ record: PushedRecordKey, _ owner: Int64) -> RowKey {
        RowKey(.note, of: owner, record.keyBytes)
    }

    /// Writes notes, each in place of an older one of its record; their sequences are the next ones of the principal,
    /// and those in the given notes are ignored.
    ///
    /// A record that the backend holds or has deleted does not become *seen* only because it is sent again. A deletion
    /// names no links: those of the note before it remain.
    package static func write(_ notes: [PushNote], at now: Instant, in account: inout Account) throws {
        guard !notes.isEmpty else { return }
        let owner = account.owner
        try account.need(
            notes.map { .row(rowKey(PushedRecordKey(table: $0.table, id: $0.id), owner)) })
        var head = try account.withHead(at: now) { $0 }
        for note in notes {
            guard RecordID.isSafe(note.id) else { throw StateError.invalid("record id") }
            let row = rowKey(PushedRecordKey(table: try key(note.table, "table"), id: note.id), owner)
            head.noteSequence += 1
            let old = try account.value(row, as: Note.self)?.value
            if old == nil { head.notes += 1 }
            let value = merged(note, head.noteSequence, after: old, at: now)
            try account.put(value, at: row, number: value.note.sequence)
        }
        try account.withHead(at: now) { $0 = head }
    }

    private static func merged(_ note: PushNote, _ sequence: Int64, after old: Note?, at now: Instant) -> Note {
        let isAccepted = note.state == .held || note.state == .gone
        var value = Note(note: note, madeAt: now, accepted: isAccepted ? sequence : -sequence)
        value.note.sequence = sequence
        guard let old else { return value }
        if !isAccepted { value.accepted = old.accepted }
        if note.state == .seen {
            value.note.state = old.note.state != .refused ? old.note.state : old.accepted > 0 ? .held : .seen
        }
        if note.links.isEmpty { (value.note.links, value.note.shape) = (old.note.links, old.note.shape) }
        return value
    }

    /// Returns the notes that a cursor has not seen, which are those with a greater sequence, as far as they were made
    /// since a time: the newest `limit` of them, by their sequences.
    ///
    /// A refused record counts as held if an earlier push of it was accepted and the cursor has not seen that.
    package static func notes(
        after sequence: Int64, madeSince time: Instant = 0, limit: Int, of account: inout Account
    ) throws -> [PushNote] {
        guard let head = try account.head(), head.notes > 0, head.noteSequence > sequence else { return [] }
        let rows = try account.rows(
            .numbered(.note, of: account.owner, after: sequence, limit: max(0, limit), descending: true))
        return try rows.reversed().compactMap { row in
            let stored = try Note(decoding: row.bytes)
            guard stored.madeAt >= time else { return nil }
            var note = stored.note(of: PushedRecordKey(keyBytes: row.key.key[...]))
            if note.state == .refused, stored.accepted > sequence { note.state = .held }
            return note
        }
    }

    /// Returns the note of one record.
    package static func note(of record: PushedRecordKey, in account: inout Account) throws -> PushNote? {
        try account.value(rowKey(record, account.owner), as: Note.self)?.value.note(of: record)
    }

    /// Deletes the oldest notes over the limit, at most some thousands; returns true if there may be more.
    package static func makeRoom(in account: inout Account) throws -> Bool {
        guard let head = try account.head() else { return false }
        let surplus = head.notes - max(0, account.setting.limits.notesPerPrincipal)
        guard surplus > 0 else { return false }
        let count = min(surplus, account.setting.limits.collectBatch)
        let rows = try account.rows(.numbered(.note, of: account.owner, after: .min, limit: count, descending: false))
        try delete(rows, in: &account)
        account.needNotBeDurable()
        return surplus > count
    }

    /// Forgets the notes since a sequence that are only *seen*, of records that had no note before; returns the
    /// sequence to go on after, nil at the end.
    package static func dropFresh(after sequence: Int64, in account: inout Account) throws -> Int64? {
        guard let head = try account.head(), head.noteSequence > sequence else { return nil }
        let limit = account.setting.limits.collectBatch
        let rows = try account.rows(
            .numbered(.note, of: account.owner, after: sequence, limit: limit, descending: false))
        try delete(rows.filter { try Note(decoding: $0.bytes).isFresh }, in: &account)
        account.needNotBeDurable()
        return rows.count < limit ? nil : rows.last?.number
    }

    private static func delete(_ rows: [ByteRow], in account: inout Account) throws {
        guard !rows.isEmpty else { return }
        for row in rows { account.delete(row.key) }
        try account.withKnownHead { $0.notes -= rows.count }
    }

    /// Deletes old notes that all cursors with an exact ledger and every tip have seen; returns their number.
    ///
    /// One that a cursor has not seen stays, however old it is: its device may have failed to pull for as long.
    static func collect(
        seenBy noted: Int64?, _ retention: Retention, in account: inout Account
    ) throws -> Int {
        guard let head = try account.head(), head.notes > 0 else { return 0 }
        let seen = noted ?? .max
        // Notes grow old in the order of their sequences.
        let limit = 10 * account.setting.limits.collectBatch
        let rows = try account.rows(.numbered(.note, of: account.owner, after: .min, limit: limit, descending: false))
        let before = max(retention.seenBefore, retention.undoBefore)
        let gone = try rows.prefix { try $0.number <= seen && Note(decoding: $0.bytes).madeAt < before }
        try delete(Array(gone), in: &account)
        return gone.count
    }

    /// Returns the least number of notes that a cursor with an exact ledger, or one from the tip on, has seen; it may be
    /// less if there are many older ones.
    static func leastNoted(_ replica: ReplicaHead, in account: inout Account) throws -> Int64? {
        func counts(_ cursor: StoredCursor) -> Bool {
            replica.ledger.horizon.map { cursor.cursor >= $0 } ?? true
                && (cursor.isExact || replica.tip.map { cursor.cursor >= $0 } ?? true)
        }
        let least = replica.cursors.filter(counts).map(\.noted).min()
        guard replica.older.count > 0, replica.ledger.base != nil else { return least }
        let limit = CollectionRules.maximumPages
        let pages = try account.rows(replica.olderPages(account.owner, from: replica.ledger.horizon, limit: limit))
        for (index, row) in pages.enumerated() {
            let cursors = try CursorPage(decoding: row.bytes).cursors
            // The first of the older ones has seen the fewest. Those of further pages have seen as many as the last one.
            guard let first = cursors.first(where: counts) ?? (index == limit - 1 ? cursors.last : nil) else {
                continue
            }
            return min(least ?? first.noted, first.noted)
        }
        return least
    }
}
