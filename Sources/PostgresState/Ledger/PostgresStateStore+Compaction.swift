// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Returns the deltas from the cursor down to the newest that is in the base.
    package func compactableDeltas(replica: ReplicaID, upTo cursor: Cursor) async throws -> [CompactableDelta] {
        try await transaction(.readOnly) { transaction in
            guard let row = try await transaction.query(.anchor(of: replica)).rows.first else {
                throw StateError.replicaUnknown(replica)
            }
            let anchor = try LedgerAnchor(row)
            return try await Self.steps(from: cursor, anchor, &transaction).compactMap { step in
                guard let layer = step.layer, let cursor = Cursor(rawValue: step.cursor) else { return nil }
                return CompactableDelta(layer: LayerID(rawValue: layer), cursor: cursor)
            }
        }
    }

    /// Compacts one batch; deltas are detached from their cursors only in the last step, so that every cursor is read
    /// correctly between the steps.
    package func compactBatch(_ compaction: LedgerCompactionBatch, at now: Instant) async throws -> Int {
        let limit = limits.chunkBytes
        return try await transaction { transaction in
            guard let row = try await transaction.query(.lockedAnchor(of: compaction.replica)).rows.first else {
                throw StateError.replicaUnknown(compaction.replica)
            }
            var anchor = try LedgerAnchor(row)
            guard anchor.isCurrent(compaction.version), anchor.base == compaction.base, let compacted = anchor.compacted
            else { throw StateError.ledgerChanged }
            // The order of the undos is that of the cursors, so no older cursor may come after the newest.
            for cursor in compaction.undo.keys where cursor.rawValue <= compacted {
                throw StateError.failed("compaction up to cursor \(cursor) after \(compacted)")
            }
            if !LedgerAnchor.isContinuing(compaction.version) {
                let last = try await transaction.query("SELECT nextval('layer_id_seq')").rows.first
                anchor.compactAfter = try last?.integer(0) ?? 0
            }
            let undos = try await Self.undos(for: compaction, anchor, &transaction)
            var statements = try compaction.statements(limit: limit)
            for (cursor, chunks) in compaction.undo.sorted(by: { $0.key < $1.key }) where !chunks.isEmpty {
                guard let undo = undos[cursor] else { throw StateError.ledgerChanged }
                statements += try Self.fill(undo, with: chunks, of: cursor, anchor, limit: limit)
            }
            statements.append(
                PostgresStatement(
                    "UPDATE replica SET ledger_version = ledger_version + 1, compact_after = $2 WHERE id = $1",
                    [.integer(compaction.replica.rawValue), .integer(anchor.compactAfter)]))
            let removed = try await transaction.pipeline(statements).prefix(compaction.removed.count)
            guard removed.allSatisfy({ $0.count == 1 }) else { throw StateError.ledgerChanged }
            anchor.version += 1
            guard let finished = compaction.finished else { return anchor.readableVersion + 1 }
            try await Self.finish(upTo: finished, anchor, at: now, &transaction)
            return anchor.readableVersion
        }
    }

    private static func steps(
        from cursor: Cursor, _ anchor: LedgerAnchor, _ transaction: inout PostgresTransaction
    ) async throws -> [LedgerStep] {
        let isOwn = try await transaction.query(
            PostgresStatement(
                "SELECT 1 FROM cursor WHERE principal = $1 AND cursor = $2 AND replica = $3",
                [.principal(anchor.principal), .cursor(cursor), .integer(anchor.replica.rawValue)]))
        guard !isOwn.rows.isEmpty else { return [] }
        let chain = try await transaction.query(try .chain(from: cursor, of: anchor.principal))
        return try LedgerChain(chain.rows).steps
    }

    /// An undo layer of this compaction, which may have to be made.
    private struct Undo {
        var layer: Int64
        var isNew: Bool
    }

    /// Returns the undo that this compaction has made for each cursor, never that of an interrupted one, or a number for
    /// a new one.
    private static func undos(
        for compaction: LedgerCompactionBatch, _ anchor: LedgerAnchor, _ transaction: inout PostgresTransaction
    ) async throws -> [Cursor: Undo] {
        let cursors = compaction.undo.filter { !$0.value.isEmpty }.keys.sorted()
        guard !cursors.isEmpty else { return [:] }
        let results = try await transaction.pipeline(
            cursors.map { cursor in
                PostgresStatement(
                    """
                    WITH known AS (
                        SELECT max(id) AS id FROM layer WHERE replica = $1 AND kind = 3 AND cursor = $2 AND id > $3)
                    SELECT coalesce(id, nextval('layer_id_seq')), id IS NULL FROM known
                    """, [.integer(anchor.replica.rawValue), .cursor(cursor), .integer(anchor.compactAfter)])
            })
        var undos: [Cursor: Undo] = [:]
        for (cursor, result) in zip(cursors, results) {
            undos[cursor] = try result.rows.first.map { Undo(layer: try $0.integer(0), isNew: try $0.bool(1)) }
        }
        return undos
    }

    private static func fill(
        _ undo: Undo, with chunks: [LedgerChunk], of cursor: Cursor, _ anchor: LedgerAnchor, limit: Int
    ) throws -> [PostgresStatement] {
        var statements: [PostgresStatement] = []
        if undo.isNew {
            statements.append(
                try .makeLayer(
                    undo.layer, .undo, of: anchor.replica, principal: anchor.principal, cursor: cursor, at: cursor.time)
            )
        }
        statements += try PostgresStatement.add(chunks, to: undo.layer, limit: limit)
        var counts: [String: LedgerCount] = [:]
        for chunk in chunks {
            counts[chunk.table, default: LedgerCount()].entries += chunk.entries
            counts[chunk.table, default: LedgerCount()].bytes += chunk.bytes.count
        }
        return statements + (try PostgresStatement.count(counts, in: undo.layer))
    }

    /// Detaches the deltas of the cursor and of those below it, since the base now holds them all.
    private static func finish(
        upTo finished: Cursor, _ anchor: LedgerAnchor, at now: Instant, _ transaction: inout PostgresTransaction
    ) async throws {
        let steps = try await steps(from: finished, anchor, &transaction)
        guard let bottom = steps.last, bottom.isCompacted, bottom.cursor == anchor.compacted else {
            throw StateError.ledgerChanged
        }
        var statements: [PostgresStatement] = []
        for step in steps {
            guard let layer = step.layer else { continue }
            statements += try PostgresStatement.drop(
                layer: layer, of: step.cursor, anchor.principal, below: step.cursor, at: now)
        }
        // Not a cursor that has added nothing: others may rest on the one below it.
        let compacted = steps.first { $0.layer != nil } ?? bottom
        statements.append(
            PostgresStatement(
                "UPDATE replica SET compacted = $2, compact_after = 0 WHERE id = $1",
                [.integer(anchor.replica.rawValue), .integer(compacted.cursor)]))
        _ = try await transaction.commit(statements)
    }
}

extension LedgerCompactionBatch {
    /// Returns the statements that replace chunks of the base, beginning with one for each chunk that is removed.
    fileprivate func statements(limit: Int) throws -> [PostgresStatement] {
        var statements = removed.map { chunk in
            PostgresStatement(
                "DELETE FROM chunk WHERE id = $1 AND layer = $2", [.integer(chunk), .integer(base.rawValue)])
        }
        if !removed.isEmpty {
            statements.append(
                PostgresStatement(
                    "UPDATE layer SET chunks = chunks - $2 WHERE id = $1",
                    [.integer(base.rawValue), .int(removed.count)]))
        }
        statements += try PostgresStatement.add(added, to: base.rawValue, limit: limit)
        return statements + (try PostgresStatement.count(counts, in: base.rawValue))
    }
}
