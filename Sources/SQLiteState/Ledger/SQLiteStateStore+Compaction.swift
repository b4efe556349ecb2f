// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
package import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Returns the deltas from the cursor down to the newest that is in the base.
    package func compactableDeltas(replica: ReplicaID, upTo cursor: SyncModel.Cursor) async throws -> [CompactableDelta]
    {
        try await read { db in
            guard let anchor = try db.anchor(of: replica) else { throw StateError.replicaUnknown(replica) }
            return try db.steps(from: cursor, in: anchor).compactMap { step in
                guard let layer = step.layer, let cursor = SyncModel.Cursor(rawValue: step.cursor) else { return nil }
                return CompactableDelta(layer: LayerID(rawValue: layer), cursor: cursor)
            }
        }
    }

    /// Compacts one batch; deltas are detached from their cursors only in the last step, so that every cursor is read
    /// correctly between the steps.
    ///
    /// Nothing that a client has seen depends on a compaction, so a batch does not wait for the disk and becomes
    /// durable with the next commit.
    package func compactBatch(_ compaction: LedgerCompactionBatch, at now: Instant) async throws -> Int {
        let limit = limits.chunkBytes
        return try await writeWithoutWaiting { db in
            guard var anchor = try db.anchor(of: compaction.replica) else {
                throw StateError.replicaUnknown(compaction.replica)
            }
            guard anchor.isCurrent(compaction.version), anchor.base == compaction.base, let compacted = anchor.compacted
            else {
                throw StateError.ledgerChanged
            }
            if !LedgerAnchor.isContinuing(compaction.version) {
                anchor.compactAfter = try db.integer("SELECT max(id) FROM layer") ?? 0
            }
            try db.replaceBase(by: compaction, limit: limit)
            for (cursor, chunks) in compaction.undo.sorted(by: { $0.key < $1.key }) {
                // The order of the undos is that of the cursors, so no older cursor may come after the newest.
                guard cursor.rawValue > compacted else {
                    throw StateError.failed("compaction up to cursor \(cursor) after \(compacted)")
                }
                try db.addUndo(chunks, of: cursor, anchor, limit: limit)
            }
            try db.run(
                "UPDATE replica SET ledger_version = ledger_version + 1, fold_after = ? WHERE id = ?",
                [anchor.compactAfter, compaction.replica.rawValue])
            anchor.version += 1
            guard let finished = compaction.finished else { return anchor.readableVersion + 1 }
            try db.finishCompaction(upTo: finished, anchor, at: now)
            return anchor.readableVersion
        }
    }
}

extension Database {
    fileprivate func replaceBase(by compaction: LedgerCompactionBatch, limit: Int) throws {
        let base = compaction.base.rawValue
        for chunk in compaction.removed {
            try run("DELETE FROM chunk WHERE id = ? AND layer = ?", [chunk, base])
            guard changesCount == 1 else { throw StateError.ledgerChanged }
        }
        if !compaction.removed.isEmpty {
            try run("UPDATE layer SET chunks = chunks - ? WHERE id = ?", [compaction.removed.count, base])
        }
        try add(compaction.added, to: base, limit: limit)
        try count(compaction.counts, in: base)
    }

    /// Adds chunks to the undo that this compaction has made for a cursor, never to that of an interrupted one.
    fileprivate func addUndo(
        _ chunks: [LedgerChunk], of cursor: SyncModel.Cursor, _ anchor: LedgerAnchor, limit: Int
    ) throws {
        guard !chunks.isEmpty else { return }
        let known = try integer(
            """
            SELECT max(id) FROM layer WHERE replica = ? AND kind = \(LayerKind.undo.rawValue) AND cursor = ? AND id > ?
            """, [anchor.replica.rawValue, cursor.rawValue, anchor.compactAfter])
        let layer =
            try known ?? makeLayer(.undo, replica: anchor.replica, cursor: cursor, at: cursor.time)
        try add(chunks, to: layer, limit: limit)
        var counts: [String: LedgerCount] = [:]
        for chunk in chunks {
            counts[chunk.table, default: LedgerCount()].entries += chunk.entries
            counts[chunk.table, default: LedgerCount()].bytes += chunk.bytes.count
        }
        try count(counts, in: layer)
    }

    /// Detaches the deltas of the cursor and of those below it, since the base now holds them all.
    fileprivate func finishCompaction(upTo finished: SyncModel.Cursor, _ anchor: LedgerAnchor, at now: Instant) throws {
        let steps = try steps(from: finished, in: anchor)
        guard let bottom = steps.last, bottom.isCompacted, bottom.cursor == anchor.compacted else {
            throw StateError.ledgerChanged
        }
        for step in steps where step.layer != nil {
            try drop(layer: step.layer, of: step.cursor, anchor.principal, below: step.cursor, at: now)
        }
        // Not a cursor that has added nothing: others may rest on the one below it.
        let compacted = steps.first { $0.layer != nil } ?? bottom
        try run(
            "UPDATE replica SET folded = ?, fold_after = 0 WHERE id = ?",
            [compacted.cursor, anchor.replica.rawValue])
    }
}
