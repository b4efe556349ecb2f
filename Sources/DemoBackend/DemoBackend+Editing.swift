// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB

/// A change of the backend's records by another client or user than the one under test.
package enum DemoEdit: Sendable {
    /// Creates a record, or changes the given members.
    ///
    /// The members must include the key's, except for folders and notes, which get the next number if they have none.
    case put(String, [String: DemoValue])
    /// Deletes a record by its key's parts in their order; a missing record is ignored.
    case delete(String, [String])
    /// Makes a user, by id or email, a member of a project.
    case share(project: String, with: String, role: String = "editor")
    /// Takes a user out of a project.
    case revoke(project: String, from: String)
    /// Shows one task to a user, as a second source of tasks beside projects.
    case shareTask(String, with: String)
    /// Reverses ``shareTask(_:with:)``.
    case unshareTask(String, from: String)

    /// Deletes a record with a key of one part.
    package static func delete(_ table: String, _ id: String) -> DemoEdit { .delete(table, [id]) }
}

extension DemoBackend {
    /// Assigns a session to another user, by id or email, like a login that makes no new session.
    package func give(sessionOf token: String, to user: String) async throws {
        try await store.write { db in
            try db.execute(
                sql: "UPDATE sessions SET user_id = ? WHERE token = ?",
                arguments: [try Accounts.user(user, in: db), token])
        }
    }

    /// Makes changes in one transaction, in the name of a user (id or email), without checking permissions.
    ///
    /// - Throws: An error with one sentence if a table, member or user does not exist.
    package func edit(as user: String = DemoConfiguration.Account.ada.id, _ edits: DemoEdit...) async throws {
        try await edit(as: user, edits)
    }

    /// Makes changes in one transaction.
    package func edit(as user: String = DemoConfiguration.Account.ada.id, _ edits: [DemoEdit]) async throws {
        try await store.write { db in
            let writer = RecordWriter(db: db, userID: try Accounts.user(user, in: db))
            for edit in edits { try edit.apply(to: writer, updateID: nil) }
        }
    }

    /// Begins a transaction that will commit late: other transactions, and streams, may come in between.
    ///
    /// In faithful order, its changes get the ids of this moment, so a client whose checkpoint has passed them misses
    /// them; in commit order, they get their ids at ``LateTransaction/commit()``.
    package func beginLate(
        as user: String = DemoConfiguration.Account.ada.id, _ edits: DemoEdit...
    ) -> LateTransaction {
        let ids = edits.map { _ in configuration.order == .faithful ? store.ids.next() : nil }
        return LateTransaction(backend: self, user: user, edits: Array(zip(edits, ids)))
    }

    /// A transaction whose statements have run and that is not committed yet.
    package struct LateTransaction: Sendable {
        fileprivate let backend: DemoBackend
        fileprivate let user: String
        fileprivate let edits: [(edit: DemoEdit, updateID: String?)]

        /// Makes the changes visible.
        ///
        /// A transaction that is never committed changes nothing.
        package func commit() async throws {
            let (user, edits) = (user, edits)
            try await backend.store.write { db in
                let writer = RecordWriter(db: db, userID: try Accounts.user(user, in: db))
                for (edit, updateID) in edits { try edit.apply(to: writer, updateID: updateID) }
            }
        }
    }
}

extension DemoEdit {
    func apply(to writer: RecordWriter, updateID: String?) throws {
        switch self {
        case .put(let table, let record):
            let entity = try Self.entity(table)
            do {
                if entity.isNumbered, record["id"] == nil {
                    try writer.insert(entity, data: record, updateID: updateID)
                } else {
                    try writer.put(entity, key: try Self.key(of: record, entity), data: record, updateID: updateID)
                }
            } catch let error as InvalidMember {
                throw DemoError.badRequest(error.message)
            }
        case .delete(let table, let key):
            let entity = try Self.entity(table)
            guard key.count == entity.keys.count else {
                throw DemoError.badRequest("the key of \(table) has \(entity.keys.count) parts")
            }
            let deleted = try writer.delete(entity, key: key)
            if deleted, let updateID { try writer.backdateAudit(of: entity, key: key, to: updateID) }
        case .share(let project, let user, let role):
            try writer.share(project: project, with: try Accounts.user(user, in: writer.db), role: role)
        case .revoke(let project, let user):
            try writer.revoke(project: project, from: try Accounts.user(user, in: writer.db))
        case .shareTask(let task, let user):
            try writer.share(task: task, with: try Accounts.user(user, in: writer.db))
        case .unshareTask(let task, let user):
            try writer.unshare(task: task, from: try Accounts.user(user, in: writer.db))
        }
    }

    private static func key(of record: [String: DemoValue], _ entity: Entity) throws -> [String] {
        try entity.keys.map { field in
            guard let part = record[field.name]?.keyText else {
                throw DemoError.badRequest("a record of \(entity.name) needs \(field.name)")
            }
            return part
        }
    }

    private static func entity(_ name: String) throws -> Entity {
        guard let entity = Entity.named(name) else { throw DemoError.badRequest("no table \(name)") }
        return entity
    }
}

extension RecordWriter {
    /// Sets the newest audit row of a record to an id of an earlier moment.
    fileprivate func backdateAudit(of entity: Entity, key: [String], to id: String) throws {
        let condition = entity.audit.keys.map { "\($0) = ?" }.joined(separator: " AND ")
        let newest = "SELECT MAX(id) FROM \(entity.audit.table) WHERE \(condition)"
        try db.execute(
            sql: "UPDATE \(entity.audit.table) SET id = ? WHERE id = (\(newest))",
            arguments: [id] + StatementArguments(key))
    }
}
