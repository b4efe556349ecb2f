// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
package import StateStore
import SyncModel

extension SQLiteStateStore {
    /// Commits a pull in one transaction, which any error rolls back.
    package func commit(_ pull: PullCommit) async throws {
        let limits = limits
        try await write { db in
            let row = pull.row
            let principal = try db.ensurePrincipal(row.principal, at: pull.now)
            try db.advance(principal, to: row.cursor, at: pull.now)
            let session = try db.ensureSession(row.session, of: principal, at: pull.now)
            guard session.generation == row.generation else {
                throw StateError.generationChanged(current: session.generation)
            }
            try db.run(
                """
                UPDATE session SET last_seen = max(last_seen, ?), accepted_at = coalesce(?, accepted_at) WHERE id = ?
                """, [pull.now, pull.acceptedAt, session.id])
            if let position = pull.position {
                try db.put(.at(position), of: session.id, limit: limits.vectorBytes, at: pull.now)
            }
            guard try db.idSequence(of: principal) == row.ids.sequence else { throw StateError.idsChanged }
            try db.putInChain(pull, principal)
            let standing = try db.takeLedger(of: pull, limits)
            let vector = try db.ensureVector(row.vector, limit: limits.vectorBytes)
            try db.run(
                """
                INSERT INTO cursor (principal, cursor, replica, parent, vector, schema_version, session, generation,
                    confirmed, mapping, layer, below, exact, noted, sweeps, id_sequence, kept)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    principal, row.cursor.rawValue, row.replica.rawValue, row.parent?.rawValue, vector,
                    row.schemaVersion, session.id, row.generation, row.isConfirmed,
                    key(row.mappingDigest, "mapping digest"), standing.layer, standing.below, standing.isExact,
                    row.noted,
                    db.ensureComparisons(row.comparisons, limit: limits.comparisonBytes), row.ids.sequence,
                    db.encoded(row.ids.kept),
                ])
            try db.deliver(pull.delivered, to: row.replica, with: row.cursor)
            try db.run("DELETE FROM push WHERE principal = ?", [principal])
            try db.capUnconfirmed(of: principal, at: pull.unconfirmedReplicas, except: row.replica)
            try db.quarantine(pull.quarantined, for: row.principal, at: pull.now, limits)
        }
    }
}

extension Database {
    /// Takes a cursor for a principal, for ever: the number outlives the row.
    fileprivate func advance(_ principal: Int64, to cursor: SyncModel.Cursor, at now: Instant) throws {
        let newest = try integer("SELECT newest FROM principal WHERE id = ?", [principal])
        if let newest = newest.flatMap(SyncModel.Cursor.init(rawValue:)), cursor <= newest {
            throw StateError.cursorTaken(newest: newest)
        }
        try run(
            "UPDATE principal SET newest = ?, last_seen = max(last_seen, ?) WHERE id = ?",
            [cursor.rawValue, now, principal])
    }

    /// Creates the replica of a pull, or records that it was seen; its cursors form one line.
    fileprivate func putInChain(_ pull: PullCommit, _ principal: Int64) throws {
        let replica = pull.row.replica
        let anchor = try anchor(of: replica)
        switch (pull.replica, anchor?.principal) {
        case (.new, nil):
            try run(
                """
                INSERT INTO replica (id, principal, confirmed, first_seen, last_seen, last_result, schema_version)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    replica.rawValue, principal, pull.row.isConfirmed, pull.now, pull.now, remark(pull.result),
                    pull.clientVersion,
                ])
        case (.existing, principal):
            guard pull.row.parent == anchor?.tip, pull.row.parent != nil else {
                throw StateError.replicaForked(replica)
            }
            try run(
                """
                UPDATE replica SET last_seen = max(last_seen, ?), last_result = ?, schema_version = ? WHERE id = ?
                """, [pull.now, remark(pull.result), pull.clientVersion, replica.rawValue])
        default:
            throw StateError.replicaUnknown(replica)
        }
        if pull.row.isConfirmed {
            try run("UPDATE replica SET tip = ? WHERE id = ?", [pull.row.cursor.rawValue, replica.rawValue])
        }
    }

    /// Drops the oldest replicas that have never come back, down to the limit (finding 27), and their ledgers at once:
    /// a client that begins again in a loop writes a whole ledger each time.
    ///
    /// Their cursors were never presented. A pull that compares all devices of its principal finds them gone and is
    /// repeated.
    fileprivate func capUnconfirmed(of principal: Int64, at limit: Int, except replica: ReplicaID) throws {
        let surplus = try rows(
            """
            SELECT id FROM replica WHERE principal = ? AND confirmed = 0 AND dead = 0
            ORDER BY last_seen DESC, id = ? DESC, id DESC LIMIT 1000 OFFSET ?
            """, [principal, replica.rawValue, max(1, limit)])
        for row in surplus {
            let id = try row.integer(0)
            guard id != replica.rawValue else { continue }
            try kill(id)
            try run("DELETE FROM chunk WHERE layer IN (SELECT id FROM layer WHERE replica = ?)", [id])
        }
    }
}
