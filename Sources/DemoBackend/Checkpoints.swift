// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The checkpoints of a session, stored as clients send them: the backend does not check their contents, or that they
/// move forward.
enum Checkpoints {
    static let reset = "SyncResetV1"
    static let complete = "SyncCompleteV1"
    static let maximumAcks = 1000

    /// Returns the checkpoints by namespace.
    static func all(of session: String, in db: Database) throws -> [String: String] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT type, ack FROM checkpoints WHERE session_id = ?", arguments: [session])
        return Dictionary(rows.map { ($0["type"], $0["ack"]) }) { _, last in last }
    }

    /// Stores acks in their order; the ack of a reset carries out the reset and drops all other acks of the request.
    static func set(_ acks: [String], of session: String, in db: Database) throws {
        guard acks.count <= maximumAcks else { throw DemoError.badRequest("acks must contain at most 1000 elements") }
        guard !acks.isEmpty else { throw DemoError.internal("syntax error at end of input") }
        let types = acks.map { String($0.prefix { $0 != "|" }) }
        for type in types where !StreamType.namespaces.contains(type) {
            throw DemoError.badRequest("Invalid ack type: \(type)")
        }
        if types.contains(reset) { return try clear(session, in: db) }
        for (type, ack) in zip(types, acks) { try set(ack, type: type, of: session, in: db) }
    }

    /// Stores one ack in place of any earlier one.
    static func set(_ ack: String, type: String, of session: String, in db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO checkpoints (session_id, type, ack) VALUES (?, ?, ?)
                ON CONFLICT (session_id, type) DO UPDATE SET ack = excluded.ack
                """,
            arguments: [session, type, ack])
    }

    /// Forgets the checkpoints of some types, or all of them.
    static func delete(types: [String]?, of session: String, in db: Database) throws {
        guard let types else {
            return try db.execute(sql: "DELETE FROM checkpoints WHERE session_id = ?", arguments: [session])
        }
        guard !types.isEmpty else { throw DemoError.internal("syntax error at or near \")\"") }
        for type in types {
            guard StreamType.namespaces.contains(type) else { throw DemoError.badRequest("unknown type \(type)") }
            try db.execute(
                sql: "DELETE FROM checkpoints WHERE session_id = ? AND type = ?", arguments: [session, type])
        }
    }

    /// Ends a pending reset: clears the session's flag and its checkpoints.
    static func clear(_ session: String, in db: Database) throws {
        try db.execute(sql: "UPDATE sessions SET is_pending_reset = 0 WHERE id = ?", arguments: [session])
        try db.execute(sql: "DELETE FROM checkpoints WHERE session_id = ?", arguments: [session])
    }
}

extension StreamType {
    /// All types that a token can belong to.
    static let namespaces: Set<String> = Set(
        all.flatMap {
            [$0.upsert, $0.deletes?.lineType, $0.clears?.lineType, $0.backfill?.lineType].compactMap(\.self)
        }
            + [Checkpoints.reset, Checkpoints.complete, BulkRows.lineType, IDMaps.lineType])

    /// All request types that this backend knows.
    static let requests = Set(requestOrder)

    /// All request types in the order in which a stream serves them.
    static let requestOrder = all.map(\.request) + [BulkRows.request]
}
