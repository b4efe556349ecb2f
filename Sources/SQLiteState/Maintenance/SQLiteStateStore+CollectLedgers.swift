// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore
import SyncModel

extension SQLiteStateStore {
    /// Collects undos that lead back too far, deltas whose cursors never came back, detached layers, and notes that no
    /// cursor needs.
    func collectLedgers(_ retention: Retention, into collected: inout Collected) async throws {
        collected.undos = try await inBatches { try $0.collectUndos(retention, $1) }
        collected.siblings = try await inBatches { try $0.collectSiblings(retention, $1) }
        collected.chunks = try await inBatches { try $0.collectChunks(before: retention.stagedBefore, $1) }
        collected.notes = try await inBatches { db, batch in
            let rows = try db.rows(
                "SELECT principal, sequence FROM push_note INDEXED BY push_note_time WHERE made_at < ? LIMIT ?",
                [retention.seenBefore, batch])
            for row in rows {
                try db.run(
                    "DELETE FROM push_note WHERE principal = ? AND sequence = ?", [row.integer(0), row.integer(1)])
            }
            return rows.count
        }
        let principals = try await read { db in
            try db.rows(
                "SELECT DISTINCT principal FROM push_note INDEXED BY push_note_time WHERE made_at < ?",
                [retention.undoBefore]
            ).map { try $0.integer(0) }
        }
        for principal in principals {
            // Not under the write lock, since it reads every cursor of the principal. Later cursors have seen more:
            // they are made by pulls that began after these notes, which are older than the rewind.
            let seen = try await read { try $0.notesSeen(by: principal) }
            collected.notes += try await inBatches { try $0.collectNotes(of: principal, upTo: seen, retention, $1) }
        }
    }
}

extension Database {
    /// Collects old undos, but only of cursors that are in the base: every older cursor needs the undos of a compaction
    /// in progress.
    fileprivate func collectUndos(_ retention: Retention, _ batch: Int) throws -> Int {
        let rows = try rows(
            """
            SELECT l.id, l.replica, l.cursor FROM layer l JOIN replica r ON r.id = l.replica
            WHERE l.kind = 3 AND l.replica IS NOT NULL AND l.cursor < ? AND l.cursor <= r.folded
            ORDER BY l.cursor LIMIT ?
            """, [retention.undoCursorsBefore, batch])
        for row in rows {
            try loosen(layer: row.integer(0), at: retention.now)
            try run(
                "UPDATE replica SET horizon = max(coalesce(horizon, 0), ?) WHERE id = ?",
                [row.integer(2), row.integer(1)])
        }
        return rows.count
    }

    /// Collects the deltas of cursors without which their replica has gone on.
    fileprivate func collectSiblings(_ retention: Retention, _ batch: Int) throws -> Int {
        let rows = try rows(
            """
            SELECT c.principal, c.cursor, c.layer FROM cursor c JOIN replica r ON r.id = c.replica
            WHERE c.layer IS NOT NULL AND c.confirmed = 0 AND c.cursor < ? AND r.tip IS NOT NULL
                AND c.parent IS NOT r.tip
            LIMIT ?
            """, [retention.undoCursorsBefore, batch])
        for row in rows {
            try drop(
                layer: row.integer(2), of: row.integer(1), row.integer(0), below: nil, at: retention.now)
        }
        return rows.count
    }

    /// Collects the chunks of layers that belong to no replica, and the layers that have none left.
    fileprivate func collectChunks(before: Instant, _ batch: Int) throws -> Int {
        var room = batch
        for row in try rows("SELECT id FROM layer WHERE replica IS NULL AND made_at < ? LIMIT ?", [before, batch]) {
            let layer = try row.integer(0)
            // Before the first chunk is deleted: a batch may end after a part of a staged layer that a commit could
            // still name.
            try run("UPDATE layer SET kind = ? WHERE id = ?", [LayerKind.vanishing, layer])
            try run("DELETE FROM chunk WHERE id IN (SELECT id FROM chunk WHERE layer = ? LIMIT ?)", [layer, room])
            room -= changesCount
            guard room > 0 else { return batch }
            try run("DELETE FROM layer WHERE id = ?", [layer])
            room -= 1
            guard room > 0 else { return batch }
        }
        return batch - room
    }

    /// Returns the sequence up to which notes have been seen by all cursors with an exact ledger and by every tip.
    ///
    /// If there is no replica, all notes count as seen: no device is left that could see an echo.
    fileprivate func notesSeen(by principal: Int64) throws -> Int64 {
        try integer(
            """
            SELECT min(c.noted) FROM replica r JOIN cursor c ON c.replica = r.id
            WHERE r.principal = ? AND r.dead = 0 AND c.cursor >= coalesce(r.horizon, 0)
                AND (c.exact = 1 OR c.cursor >= coalesce(r.tip, 0))
            """, [principal]) ?? .max
    }

    fileprivate func collectNotes(
        of principal: Int64, upTo seen: Int64, _ retention: Retention, _ batch: Int
    ) throws -> Int {
        try run(
            """
            DELETE FROM push_note WHERE principal = ?1 AND sequence IN (
                SELECT sequence FROM push_note WHERE principal = ?1 AND sequence <= ?2 AND made_at < ?3
                ORDER BY sequence LIMIT ?4)
            """, [principal, seen, retention.undoBefore, batch])
        return changesCount
    }
}
