// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Returns the last notes of an index range.
    ///
    /// A refused record counts as held if an earlier push of it was accepted and the cursor has not seen that.
    package func pushNotes(
        of principal: Principal, after sequence: Int64, madeSince time: Instant, limit: Int
    ) async throws -> [PushNote] {
        try await read([Self.readNotes(of: principal, after: sequence, since: time, limit: limit)])
            .rows(0).map { try $0.pushNote() }.reversed()
    }

    static func readNotes(
        of principal: Principal, after sequence: Int64, since time: Instant = 0, limit: Int
    ) throws -> PostgresStatement {
        PostgresStatement(
            """
            SELECT client_table, record, CASE WHEN state = 3 AND accepted > $2 THEN 1 ELSE state END, sequence,
                links, shape
            FROM push_note WHERE principal = $1 AND sequence > $2 AND made_at >= $4 ORDER BY sequence DESC LIMIT $3
            """, [try .principal(principal), .integer(sequence), .int(max(0, limit)), .instant(time)])
    }

    /// Checks the same range in the index alone.
    package func hasMorePushNotes(
        than limit: Int, of principal: Principal, after sequence: Int64
    ) async throws -> Bool {
        try await read([
            PostgresStatement(
                "SELECT 1 FROM push_note WHERE principal = $1 AND sequence > $2 ORDER BY sequence OFFSET $3 LIMIT 1",
                [.principal(principal), .integer(sequence), .int(max(0, limit))])
        ]).row(0) != nil
    }

    /// Writes notes, numbered in the order given, in one round trip; of two notes for one record the later one stays.
    package func note(_ notes: [PushNote], principal: Principal, at now: Instant) async throws {
        guard !notes.isEmpty else { return }
        try await write([.ensure(principal, at: now)] + PostgresStatement.write(notes, of: principal, at: now))
    }

    /// Reads first; writes only for principals that have pushed that much.
    package func beginNotes(of principal: Principal) async throws -> Int64 {
        let kept = max(0, limits.notesPerPrincipal)
        let sequence = try await read([
            PostgresStatement("SELECT sequence FROM principal WHERE principal = $1", [.principal(principal)])
        ]).row(0)?.number(0)
        // Each note has its number, so that there cannot be more notes than numbers.
        guard let sequence, sequence > kept else { return sequence ?? 0 }
        let newest = try PostgresStatement(
            "SELECT sequence FROM push_note WHERE principal = $1 ORDER BY sequence DESC OFFSET $2 LIMIT 1",
            [.principal(principal), .int(kept)])
        guard let last = try await read([newest]).row(0)?.number(0) else { return sequence }
        try await inBatches(limits.collectBatch * 4) { batch in
            PostgresStatement(
                """
                DELETE FROM push_note WHERE principal = $1 AND sequence IN (
                    SELECT sequence FROM push_note WHERE principal = $1 AND sequence <= $2 ORDER BY sequence LIMIT $3)
                """, [try .principal(principal), .integer(last), .int(batch)])
        }
        try Task.checkCancellation()
        return sequence
    }

    /// Drops notes in transactions of bounded size, even if the task is cancelled; losing the deletion does no harm.
    package func dropNotes(of principal: Principal, after sequence: Int64) async throws {
        try await inBatches(limits.collectBatch * 4) { batch in
            PostgresStatement(
                """
                DELETE FROM push_note WHERE principal = $1 AND sequence IN (
                    SELECT sequence FROM push_note WHERE principal = $1 AND sequence > $2 AND state = 0
                        AND accepted = -sequence ORDER BY sequence LIMIT $3)
                """, [try .principal(principal), .integer(sequence), .int(batch)])
        }
    }

    /// Runs a statement that changes at most `size` rows, until it finds fewer.
    @discardableResult
    func inBatches(_ size: Int, _ statement: (Int) throws -> PostgresStatement) async throws -> Int {
        let size = max(1, size)
        var total = 0
        while true {
            let count = try await write([statement(size)]).first?.count ?? 0
            total += count
            if count < size { return total }
        }
    }
}

extension PostgresStatement {
    /// Writes notes within the caller's transaction: raises the principal's sequence, which locks its row, and then
    /// numbers each note by it.
    ///
    /// A record that the backend holds or has deleted does not become *seen* only because it is sent again. A deletion
    /// names no links: those of the note before it remain.
    static func write(_ notes: [PushNote], of principal: Principal, at now: Instant) throws -> [PostgresStatement] {
        guard !notes.isEmpty else { return [] }
        let owner = try PostgresParameter.principal(principal)
        var statements = [
            PostgresStatement(
                "UPDATE principal SET sequence = sequence + $2 WHERE principal = $1", [owner, .int(notes.count)])
        ]
        for (index, note) in notes.enumerated() {
            guard RecordID.isSafe(note.id) else { throw StateError.invalid("record id") }
            statements.append(
                PostgresStatement(
                    """
                    INSERT INTO push_note AS n (principal, client_table, record, state, sequence, links, shape, made_at,
                        accepted)
                    SELECT $1, $2, $3, $4, p.sequence - $8, $5, $6, $7,
                        CASE WHEN $4 IN (1, 2) THEN p.sequence - $8 ELSE $8 - p.sequence END
                    FROM principal p WHERE p.principal = $1
                    ON CONFLICT (principal, client_table, record) DO UPDATE SET
                        state = CASE WHEN $4 <> 0 THEN $4 WHEN n.state <> 3 THEN n.state
                            WHEN n.accepted > 0 THEN 1 ELSE 0 END,
                        accepted = CASE WHEN $4 IN (1, 2) THEN excluded.sequence ELSE n.accepted END,
                        sequence = excluded.sequence, made_at = $7,
                        links = CASE WHEN length($5) = 0 THEN n.links ELSE $5 END,
                        shape = CASE WHEN length($5) = 0 THEN n.shape ELSE $6 END
                    """,
                    [
                        owner, try .table(note.table), .text(note.id), .int(note.state.rawValue),
                        .bytes(bytes(note.links)), .integer(Int64(note.shape)), .instant(now),
                        .int(notes.count - 1 - index),
                    ]))
        }
        return statements
    }
}

extension PostgresRow {
    /// Reads a note whose table, record, state, sequence, links and shape are the first columns.
    func pushNote() throws -> PushNote {
        let id = try text(1)
        // Packing an unsafe id would stop the process: the packing code takes it for a mistake of its caller.
        guard let state = PushNote.State(rawValue: Int(try integer(2))), RecordID.isSafe(id),
            let shape = UInt32(exactly: try integer(5))
        else { throw StateError.corrupt("a note of a push cannot be read") }
        return PushNote(
            table: try text(0), id: id, state: state, sequence: try number(3), links: try words(bytes(4)), shape: shape)
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
