// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Returns the last notes of an index range.
    ///
    /// A refused record counts as held if an earlier push of it was accepted and the cursor has not seen that.
    package func pushNotes(
        of principal: Principal, after sequence: Int64, madeSince time: Instant, limit: Int
    ) async throws -> [PushNote] {
        try await readSeldom(
            of: principal, where: "EXISTS (SELECT 1 FROM push_note WHERE principal = p.id AND sequence > ?)", sequence
        ) { db, owner in
            try db.rows(
                """
                SELECT client_table, record, CASE WHEN state = 3 AND accepted > ?2 THEN 1 ELSE state END, sequence, links,
                    shape
                FROM push_note WHERE principal = ?1 AND sequence > ?2 AND made_at >= ?4 ORDER BY sequence DESC LIMIT ?3
                """, [owner, sequence, max(0, limit), time]
            ).map { try $0.pushNote() }.reversed()
        } ?? []
    }

    /// Checks the same range in the index alone.
    package func hasMorePushNotes(
        than limit: Int, of principal: Principal, after sequence: Int64
    ) async throws -> Bool {
        try await read { db in
            guard let owner = try db.principalID(principal) else { return false }
            return try db.exists(
                "SELECT 1 FROM push_note WHERE principal = ? AND sequence > ? ORDER BY sequence LIMIT 1 OFFSET ?",
                [owner, sequence, max(0, limit)])
        }
    }

    /// Writes notes, numbered in the order given; of two notes for one record the later one stays.
    ///
    /// A record that the backend holds or has deleted does not become *seen* only because it is sent again. A deletion
    /// names no links: those of the note before it remain.
    package func note(_ notes: [PushNote], principal: Principal, at now: Instant) async throws {
        guard !notes.isEmpty else { return }
        try await write { db in
            try db.write(notes, of: db.ensurePrincipal(principal, at: now), at: now)
        }
    }

    /// Reads first; writes only for principals that have pushed that much.
    package func beginNotes(of principal: Principal) async throws -> Int64 {
        let kept = max(0, limits.notesPerPrincipal)
        let found = try await readFew { db in
            try db.row(
                "SELECT id, sequence FROM principal WHERE digest = ?", [key(principal.rawValue, "principal")]
            ).map { try (owner: $0.integer(0), sequence: $0.number(1)) }
        }
        guard let found else { return 0 }
        // Each note has its number, so that there cannot be more notes than numbers.
        guard found.sequence > kept else { return found.sequence }
        let last = try await read { db in
            try db.integer(
                "SELECT sequence FROM push_note WHERE principal = ? ORDER BY sequence DESC LIMIT 1 OFFSET ?",
                [found.owner, kept])
        }
        if let last {
            try await dropNotes(of: found.owner, in: 0...last, onlyFresh: false)
            try Task.checkCancellation()
        }
        return found.sequence
    }

    /// Drops notes in transactions of bounded size, even if the task is cancelled; losing the deletion does no harm.
    package func dropNotes(of principal: Principal, after sequence: Int64) async throws {
        let range = try await writeWithoutWaiting { db -> (owner: Int64, last: Int64)? in
            guard let owner = try db.principalID(principal) else { return nil }
            return (owner, try db.row("SELECT sequence FROM principal WHERE id = ?", [owner])?.number(0) ?? 0)
        }
        guard let range, sequence < range.last else { return }
        try await dropNotes(of: range.owner, in: sequence + 1...range.last, onlyFresh: true)
    }

    /// Deletes notes by their sequences; with `onlyFresh`, only those that are *seen* and replaced no other note.
    private func dropNotes(of owner: Int64, in sequences: ClosedRange<Int64>, onlyFresh: Bool) async throws {
        let batch = max(1, limits.collectBatch * 4)
        var next: Int64? = sequences.lowerBound
        while let first = next {
            next = try await writeWithoutWaiting { db in
                let found = try db.rows(
                    "SELECT sequence FROM push_note WHERE principal = ? AND sequence BETWEEN ? AND ? ORDER BY sequence LIMIT ?",
                    [owner, first, sequences.upperBound, batch])
                guard let last = try found.last?.integer(0) else { return nil }
                try db.run(
                    """
                    DELETE FROM push_note WHERE principal = ?1 AND sequence BETWEEN ?2 AND ?3
                        AND (?4 = 0 OR (state = 0 AND accepted = -sequence))
                    """, [owner, first, last, onlyFresh])
                return found.count == batch ? last + 1 : nil
            }
        }
    }
}

extension Database {
    /// Writes notes within the caller's transaction.
    func write(_ notes: [PushNote], of owner: Int64, at now: Instant) throws {
        guard !notes.isEmpty else { return }
        let sequence = try row("SELECT sequence FROM principal WHERE id = ?", [owner])?.number(0) ?? 0
        for (index, note) in notes.enumerated() {
            guard RecordID.isSafe(note.id) else { throw StateError.invalid("record id") }
            try run(
                """
                INSERT INTO push_note (principal, client_table, record, state, sequence, links, shape, made_at,
                    accepted) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, CASE WHEN ?4 IN (1, 2) THEN ?5 ELSE -?5 END)
                ON CONFLICT (principal, client_table, record) DO UPDATE SET
                    state = CASE WHEN ?4 <> 0 THEN ?4 WHEN state <> 3 THEN state ELSE accepted > 0 END,
                    accepted = CASE WHEN ?4 IN (1, 2) THEN ?5 ELSE accepted END, sequence = ?5, made_at = ?8,
                    links = CASE WHEN length(?6) = 0 THEN links ELSE ?6 END,
                    shape = CASE WHEN length(?6) = 0 THEN shape ELSE ?7 END
                """,
                [
                    owner, key(note.table, "table"), note.id, note.state.rawValue, sequence + Int64(index) + 1,
                    Data(bytes(note.links)), Int64(note.shape), now,
                ])
        }
        try run("UPDATE principal SET sequence = ? WHERE id = ?", [sequence + Int64(notes.count), owner])
    }
}

extension StoredRow {
    /// Reads a note whose table, record, state, sequence, links and shape are the first columns.
    func pushNote() throws -> PushNote {
        let id = try text(1)
        // Packing an unsafe id would stop the process: the packing code takes it for a mistake of its caller.
        guard let state = try PushNote.State(rawValue: Int(integer(2))), RecordID.isSafe(id),
            let shape = UInt32(exactly: try integer(5))
        else { throw StateError.corrupt("a note of a push cannot be read") }
        return try PushNote(
            table: text(0), id: id, state: state, sequence: number(3), links: words(bytes(4)), shape: shape)
    }
}

/// Returns digests in their stored form: eight bytes each, the lowest first.
private func bytes(_ words: [UInt64]) -> [UInt8] {
    words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
}

private func words(_ bytes: [UInt8]) throws(StateError) -> [UInt64] {
    guard bytes.count % 8 == 0 else { throw .corrupt("the links of a note cannot be read") }
    return stride(from: 0, to: bytes.count, by: 8).map { start in
        bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
