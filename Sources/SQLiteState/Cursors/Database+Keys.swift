// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import GRDB
import StateStore
import SyncModel

/// Stores principals, sessions and vectors once; other rows name them by number.
extension Database {
    /// Returns the number of a principal; nil if the state does not know it.
    func principalID(_ principal: Principal) throws -> Int64? {
        try integer("SELECT id FROM principal WHERE digest = ?", [key(principal.rawValue, "principal")])
    }

    /// Returns the number of a principal, and stores the principal if it is new.
    func ensurePrincipal(_ principal: Principal, at now: Instant) throws -> Int64 {
        if let id = try principalID(principal) { return id }
        try run(
            "INSERT INTO principal (digest, last_seen, user_digest, scope) VALUES (?, ?, ?, ?)",
            [principal.rawValue, now, principal.origin?.user, principal.origin?.scope])
        return lastInsertedRowID
    }

    /// Returns a condition on a principal's digest: it is that of the parameter, or belongs to the user of the parameter.
    static func belongs(_ digest: String, to parameter: String) -> String {
        "(\(digest) = \(parameter) OR \(digest) IN (SELECT digest FROM principal WHERE user_digest = \(parameter)))"
    }

    /// Returns a query for the numbers of the principals that belong to the user of a parameter, or that it names.
    static func principals(of parameter: String) -> String {
        "SELECT id FROM principal WHERE digest = \(parameter) OR user_digest = \(parameter)"
    }

    /// Returns the number and generation of a session.
    func session(_ session: Session, of principal: Int64) throws -> (id: Int64, generation: Int)? {
        try row(
            "SELECT id, generation FROM session WHERE principal = ? AND digest = ?",
            [principal, key(session.rawValue, "session")]
        ).map { try ($0.integer(0), Int($0.number(1))) }
    }

    /// Returns the number and generation of a session, and stores the session if it is new.
    func ensureSession(
        _ session: Session, of principal: Int64, at now: Instant
    ) throws -> (id: Int64, generation: Int) {
        if let found = try self.session(session, of: principal) { return found }
        try run(
            "INSERT INTO session (principal, digest, last_seen) VALUES (?, ?, ?)", [principal, session.rawValue, now])
        return (lastInsertedRowID, 0)
    }

    /// Returns the number of a vector, and stores the vector if it is new.
    func ensureVector(_ vector: CheckpointVector, limit: Int) throws -> Int64 {
        let tokens = Netstrings.encode(vector)
        guard tokens.count <= limit else { throw StateError.tooLarge("checkpoint vector") }
        let digest = Data(digest(of: tokens))
        if let row = try row("SELECT id, tokens FROM vector WHERE digest = ?", [digest]) {
            // Never another vector's tokens, even if the file was tampered with.
            guard try row.bytes(1) == tokens else { throw StateError.corrupt("a vector does not match its digest") }
            return try row.integer(0)
        }
        try run("INSERT INTO vector (digest, tokens) VALUES (?, ?)", [digest, Data(tokens)])
        return lastInsertedRowID
    }

    /// Deletes a vector that no cursor and no session names any more.
    func dropVectorIfUnused(_ vector: Int64) throws {
        try run(
            """
            DELETE FROM vector WHERE id = ?1
                AND NOT EXISTS (SELECT 1 FROM cursor WHERE vector = ?1)
                AND NOT EXISTS (SELECT 1 FROM session WHERE position = ?1)
            """, [vector])
    }

    /// Returns the number of a cursor's comparison states, and stores them if they are new; nil for none.
    ///
    /// Most cursors have those of their parent.
    func ensureComparisons(_ comparisons: [String: FullComparison], limit: Int) throws -> Int64? {
        guard !comparisons.isEmpty else { return nil }
        let states = FullComparisonStates.encode(comparisons)
        guard states.count <= limit else { throw StateError.tooLarge("comparison states") }
        let digest = Data(digest(of: states))
        if let row = try row("SELECT id, states FROM sweep_states WHERE digest = ?", [digest]) {
            guard try row.bytes(1) == states else {
                throw StateError.corrupt("comparison states do not match their digest")
            }
            return try row.integer(0)
        }
        try run("INSERT INTO sweep_states (digest, states) VALUES (?, ?)", [digest, Data(states)])
        return lastInsertedRowID
    }

    /// Deletes comparison states that no cursor names any more.
    func dropComparisonsIfUnused(_ comparisons: Int64) throws {
        try run(
            "DELETE FROM sweep_states WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM cursor WHERE sweeps = ?1)",
            [comparisons])
    }

    /// Hides a replica; its rows are deleted by collections, in batches (``buryDead(at:_:)``).
    ///
    /// Its cursors are unknown from now on, its ledger belongs to no device, and a pull in progress finds the replica
    /// gone when it commits.
    func kill(_ replica: Int64) throws {
        try run("UPDATE replica SET dead = 1, tip = NULL, base = NULL, folded = NULL WHERE id = ?", [replica])
    }

    /// Deletes the rows that dead replicas have left: their cursors, then the layers that no cursor names any more.
    ///
    /// - Returns: The number of rows; if it is `batch`, there may be more.
    func buryDead(at now: Instant, _ batch: Int) throws -> Int {
        var room = batch
        for row in try rows("SELECT id FROM replica WHERE dead = 1 ORDER BY id LIMIT ?", [batch]) {
            let replica = try row.integer(0)
            room -= try deleteCursors(
                rows(
                    "SELECT principal, cursor, vector, sweeps FROM cursor WHERE replica = ? ORDER BY cursor LIMIT ?",
                    [replica, room]))
            guard room > 0 else { return batch }
            // Only detached: reads in progress may still use them for a while.
            try run(
                """
                UPDATE layer SET replica = NULL, made_at = ? WHERE id IN (SELECT id FROM layer WHERE replica = ? LIMIT ?)
                """, [now, replica, room])
            room -= changesCount
            guard room > 0 else { return batch }
            try run("DELETE FROM replica WHERE id = ?", [replica])
            room -= 1
            guard room > 0 else { return batch }
        }
        return batch - room
    }

    /// Deletes cursors and the data that only they needed, given rows of principal, cursor, vector and comparison
    /// states.
    ///
    /// - Returns: The number of cursors.
    func deleteCursors(_ rows: [StoredRow]) throws -> Int {
        for row in rows {
            try run("DELETE FROM cursor WHERE principal = ? AND cursor = ?", [row.integer(0), row.integer(1)])
            try dropVectorIfUnused(row.integer(2))
            if let comparisons = try row.optionalInteger(3) { try dropComparisonsIfUnused(comparisons) }
        }
        return rows.count
    }
}

/// Returns the SHA-256 of stored bytes, by which equal byte sequences are stored once.
func digest(of bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
