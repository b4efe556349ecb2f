// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB

/// A writer of records for a user whose permissions are limited.
struct RecordGuard {
    /// The reason why a record was not written.
    struct Refusal: Error {
        enum Outcome: String {
            case conflict, rejected, missing
        }
        let outcome: Outcome
        let message: String
    }

    let writer: RecordWriter
    let rejections: Rejections

    private var db: Database { writer.db }

    /// Creates a record, or changes it if it exists.
    func create(_ entity: Entity, key: [String], data: [String: DemoValue], base: String? = nil) throws {
        try checkRejected(key)
        if try writer.exists(entity, key: key) {
            guard try isVisible(entity, key: key) else { throw rejection("the id belongs to another user's record") }
            try checkBase(entity, key: key, base: base)
        }
        try write(entity, key: key, data: data)
    }

    /// Creates a record whose id the database makes.
    ///
    /// - Returns: The record's id.
    func insert(_ entity: Entity, data: [String: DemoValue]) throws -> String {
        try checkRejected([data["clientId"]?.string].compactMap(\.self))
        return try checking(entity, data: data) { try writer.insert(entity, data: data) }
    }

    /// Changes a record, or creates it if it does not exist and never was deleted.
    func update(_ entity: Entity, key: [String], data: [String: DemoValue], base: String? = nil) throws {
        try checkRejected(key)
        if try writer.exists(entity, key: key) {
            guard try isVisible(entity, key: key) else {
                throw Refusal(outcome: .missing, message: "the record is not there for this user")
            }
            try checkBase(entity, key: key, base: base)
        } else if try wasDeleted(entity, key: key) {
            throw Refusal(outcome: .missing, message: "the record was deleted")
        }
        try write(entity, key: key, data: data)
    }

    /// Deletes a record; a record that does not exist, or that the user cannot see, is no error.
    ///
    /// - Returns: True if there was such a record.
    @discardableResult
    func delete(_ entity: Entity, key: [String], base: String? = nil) throws -> Bool {
        try checkRejected(key)
        guard try writer.exists(entity, key: key), try isVisible(entity, key: key) else { return false }
        try checkBase(entity, key: key, base: base)
        try checkRole(in: project(of: entity, key: key))
        return try writer.delete(entity, key: key)
    }

    /// Returns true if the user sees the record.
    func isVisible(_ entity: Entity, key: [String]) throws -> Bool {
        let (alias, condition) = Visibility.of(entity)
        let isRecord = entity.keys.indices.map { "\(alias).\(entity.keys[$0].column) = :key\($0)" }
            .joined(separator: " AND ")
        var arguments: [String: (any DatabaseValueConvertible)?] = ["user": writer.userID]
        for (index, part) in key.enumerated() { arguments["key\(index)"] = part }
        return try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT * FROM \(entity.name) \(alias) WHERE \(isRecord) AND \(condition))",
            arguments: StatementArguments(arguments)) ?? false
    }

    /// Returns the id of the record's last change; nil if there is no such record.
    func version(of entity: Entity, key: [String]) throws -> String? {
        try String.fetchOne(
            db, sql: "SELECT update_id FROM \(entity.name) WHERE \(entity.keyCondition)",
            arguments: StatementArguments(key))
    }

    private func write(_ entity: Entity, key: [String], data: [String: DemoValue]) throws {
        try checkRole(in: project(of: entity, key: key))
        if entity.name == Entity.tasks.name { try checkRole(in: data["projectId"]?.string) }
        if entity.name == Entity.comments.name, let task = data["taskId"]?.string {
            try checkRole(in: project(of: .tasks, key: [task]))
        }
        try checking(entity, data: data) { _ = try writer.put(entity, key: key, data: data) }
    }

    /// Refuses rejected texts, references to records that the user does not see, and members that cannot be stored.
    private func checking<Value>(
        _ entity: Entity, data: [String: DemoValue], _ body: () throws -> Value
    ) throws -> Value {
        if let text = rejections.text(in: data) { throw rejection("'\(text)' is refused") }
        for field in entity.fields {
            guard let table = field.references.flatMap({ Entity.named($0) }), let id = data[field.name]?.keyText else {
                continue
            }
            guard try isVisible(table, key: [id]) else { throw rejection("\(field.name) names none of \(table.name)") }
        }
        do {
            return try body()
        } catch let error as InvalidMember {
            throw rejection(error.message)
        }
    }

    private func rejection(_ message: String) -> Refusal { Refusal(outcome: .rejected, message: message) }

    private func checkRejected(_ key: [String]) throws {
        if !rejections.ids.isDisjoint(with: key) || rejections.ids.contains(key.joined(separator: ".")) {
            throw rejection("this id is refused")
        }
    }

    /// Refuses, as a conflict, a record that has changed after the token's id.
    private func checkBase(_ entity: Entity, key: [String], base: String?) throws {
        guard let base else { return }
        let parts = base.split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count > 1, UpdateIDs.isUUID(parts[1]) else { throw rejection("base is no token of this backend") }
        if let version = try version(of: entity, key: key), version > parts[1] {
            throw Refusal(outcome: .conflict, message: "the record has changed since")
        }
    }

    /// Returns the project that a record belongs to; nil if it is unknown.
    private func project(of entity: Entity, key: [String]) throws -> String? {
        switch entity.name {
        case Entity.projects.name: key[0]
        case Entity.tasks.name:
            try String.fetchOne(db, sql: "SELECT project_id FROM tasks WHERE id = ?", arguments: [key[0]])
        case Entity.taskTags.name:
            try String.fetchOne(db, sql: "SELECT project_id FROM tasks WHERE id = ?", arguments: [key[0]])
        case Entity.comments.name:
            try String.fetchOne(
                db,
                sql: "SELECT t.project_id FROM comments c JOIN tasks t ON t.id = c.task_id WHERE c.id = ?",
                arguments: [key[0]])
        default: nil
        }
    }

    /// Refuses users who are no members of a project, and viewers; all users may write if there is no such project.
    private func checkRole(in project: String?) throws {
        guard let project, try writer.exists(.projects, key: [project]) else { return }
        let role = try String.fetchOne(
            db, sql: "SELECT role FROM project_members WHERE project_id = ? AND user_id = ?",
            arguments: [project, writer.userID])
        guard let role else { throw rejection("not a member of the project") }
        guard role != "viewer" else { throw rejection("viewers cannot change the project") }
    }

    private func wasDeleted(_ entity: Entity, key: [String]) throws -> Bool {
        let condition = entity.audit.keys.map { "\($0) = ?" }.joined(separator: " AND ")
        return try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT * FROM \(entity.audit.table) WHERE \(condition))",
            arguments: StatementArguments(key)) ?? false
    }
}
