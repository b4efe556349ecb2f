// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SyncModel

/// Principals, sessions and vectors are stored once and named by number elsewhere.
extension Database {
    /// The number of a principal, if the state has met it.
    func principalID(_ principal: Principal) throws -> Int64? {
        try integer("SELECT id FROM principal WHERE digest = ?", [key(principal.rawValue, "principal")])
    }

    /// The number of a principal, which is stored where it is new.
    func ensurePrincipal(_ principal: Principal, at now: Int64) throws -> Int64 {
        if let id = try principalID(principal) { return id }
        try run("INSERT INTO principal (digest, last_seen) VALUES (?, ?)", [principal.rawValue, now])
        return lastInsertedRowID
    }

    /// Number and generation of a session.
    func session(_ session: Session, of principal: Int64) throws -> (id: Int64, generation: Int)? {
        try row(
            "SELECT id, generation FROM session WHERE principal = ? AND digest = ?",
            [principal, key(session.rawValue, "session")]
        ).map { try ($0.integer(0), Int($0.integer(1))) }
    }

    /// Number and generation of a session, which is stored where it is new.
    func ensureSession(
        _ session: Session, of principal: Int64, at now: Int64
    ) throws -> (id: Int64, generation: Int) {
        if let found = try self.session(session, of: principal) { return found }
        try run(
            "INSERT INTO session (principal, digest, last_seen) VALUES (?, ?, ?)", [principal, session.rawValue, now])
        return (lastInsertedRowID, 0)
    }

    /// The number of a vector, which is stored where it is new.
    func ensureVector(_ vector: CheckpointVector, limit: Int) throws -> Int64 {
        let tokens = Netstrings.encode(vector)
        guard tokens.count <= limit else { throw StateError.tooLarge("checkpoint vector") }
        let digest = Data(Netstrings.digest(tokens))
        if let row = try row("SELECT id, tokens FROM vector WHERE digest = ?", [digest]) {
            // Never another vector's tokens, even where the file was tampered with.
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

    /// Deletes a replica with its cursors and what only they needed.
    func deleteReplica(_ replica: Int64) throws {
        let vectors = try Row.fetchAll(
            cachedStatement(sql: "SELECT DISTINCT vector FROM cursor WHERE replica = ?"), arguments: [replica]
        ).map { try $0.integer(0) }
        try run("DELETE FROM replica WHERE id = ?", [replica])
        for vector in vectors { try dropVectorIfUnused(vector) }
    }
}
