// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// The notes that the pushes of one principal have made about records.
struct NoteTable: Sendable {
    struct Stored: Sendable {
        var note: PushNote
        var madeAt: Instant
        /// The sequence of the newest note that says that the backend holds or has deleted the record; until there is
        /// one, the sequence of the record's first note, negative.
        var accepted: Int64

        /// True if the record has been *seen* in a push once, and has no other note.
        var isFresh: Bool { note.state == .seen && accepted == -note.sequence }
    }

    /// The number of notes so far.
    var sequence: Int64 = 0
    var notes: [PushedRecordKey: Stored] = [:]

    /// Writes notes, each in place of an older one of its record.
    ///
    /// A record that the backend holds or has deleted does not become *seen* only because it is sent again. A deletion
    /// names no links: those of the note before it remain.
    mutating func write(_ added: [PushNote], at now: Instant) throws(StateError) {
        for note in added {
            guard RecordID.isSafe(note.id) else { throw .invalid("record id") }
            sequence += 1
            var note = note
            note.sequence = sequence
            let record = PushedRecordKey(table: try key(note.table, "table"), id: note.id)
            let isAccepted = note.state == .held || note.state == .gone
            var accepted = isAccepted ? sequence : -sequence
            if let old = notes[record] {
                if !isAccepted { accepted = old.accepted }
                if note.state == .seen {
                    note.state = old.note.state != .refused ? old.note.state : old.accepted > 0 ? .held : .seen
                }
                if note.links.isEmpty { (note.links, note.shape) = (old.note.links, old.note.shape) }
            }
            notes[record] = Stored(note: note, madeAt: now, accepted: accepted)
        }
    }

    /// Returns the notes with greater sequences, by their sequences.
    ///
    /// A refused record counts as held if an earlier push of it was accepted and the cursor has not seen that.
    func after(_ sequence: Int64, madeSince time: Instant = 0) -> [PushNote] {
        notes.values.filter { $0.note.sequence > sequence && $0.madeAt >= time }.map { stored in
            var note = stored.note
            if note.state == .refused, stored.accepted > sequence { note.state = .held }
            return note
        }.sorted { $0.sequence < $1.sequence }
    }

    /// Forgets the notes since a sequence that are only *seen*, of records that had no note before.
    mutating func dropFresh(after sequence: Int64) {
        notes = notes.filter { $0.value.note.sequence <= sequence || !$0.value.isFresh }
    }

    /// Forgets all but the newest notes.
    mutating func keep(_ count: Int) {
        let old = notes.values.map(\.note.sequence).sorted().dropLast(max(0, count))
        guard let last = old.last else { return }
        notes = notes.filter { $0.value.note.sequence > last }
    }
}
