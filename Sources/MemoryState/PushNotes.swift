// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// What pushes of one principal have said about records.
struct PushNotes: Sendable {
    struct Stored: Sendable {
        var note: PushNote
        var madeAt: Int64
        /// The sequence of the newest note by which the backend has, or has deleted, the record; before there is one,
        /// that of the record's first note, negative.
        var accepted: Int64

        /// Whether a push has only been seen of the record, once.
        var isFresh: Bool { note.state == .seen && accepted == -note.sequence }
    }

    /// How many notes there were so far.
    var sequence: Int64 = 0
    var notes: [PushedRecordKey: Stored] = [:]

    /// Writes notes, each in place of an older one of its record.
    ///
    /// A record that the backend has, or has deleted, does not become one that it may have, only because it is sent
    /// once more. A deletion names no links: those of the note before it count on.
    mutating func write(_ added: [PushNote], at now: Int64) throws(StateError) {
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

    /// Those with greater sequences, by their sequences.
    ///
    /// A record that was refused counts as held where the cursor has not seen that an earlier push of it was taken.
    func after(_ sequence: Int64) -> [PushNote] {
        notes.values.filter { $0.note.sequence > sequence }.map { stored in
            var note = stored.note
            if note.state == .refused, stored.accepted > sequence { note.state = .held }
            return note
        }.sorted { $0.sequence < $1.sequence }
    }

    /// Forgets what was only seen since a sequence, of records that no note was there of before.
    mutating func dropFresh(after sequence: Int64) {
        notes = notes.filter { $0.value.note.sequence <= sequence || !$0.value.isFresh }
    }

    /// Forgets all but the newest.
    mutating func keep(_ count: Int) {
        let old = notes.values.map(\.note.sequence).sorted().dropLast(max(0, count))
        guard let last = old.last else { return }
        notes = notes.filter { $0.value.note.sequence > last }
    }
}
