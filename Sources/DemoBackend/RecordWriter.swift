// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB

/// A writer of records in one transaction, without checks of permissions.
struct RecordWriter {
    let db: Database
    /// The user who becomes the creator of new records.
    let userID: String

    /// Creates a record or changes the given members; returns true if the record is new.
    ///
    /// `updateID` is the id of the change; nil makes a new one. A member that cannot be stored is an ``InvalidMember``.
    @discardableResult
    func put(
        _ entity: Entity, key: [String], data: [String: DemoValue], updateID: String? = nil
    ) throws -> Bool {
        let values = try columns(of: entity, data: data, updateID: updateID)
        if try exists(entity, key: key) {
            guard !values.isEmpty else { return false }
            let assignments = values.map { "\($0.column) = ?" }.joined(separator: ", ")
            try db.cachedStatement(sql: "UPDATE \(entity.name) SET \(assignments) WHERE \(entity.keyCondition)")
                .execute(arguments: StatementArguments(values.map(\.value)) + StatementArguments(key))
            return false
        }
        try insert(entity, zip(entity.keys, key).map { (column: $0.column, value: $1.databaseValue) } + values)
        if entity.name == Entity.projects.name { try share(project: key[0], with: userID, role: "owner") }
        return true
    }

    /// Creates a record of a table whose ids the database assigns.
    ///
    /// - Returns: The record's id.
    @discardableResult
    func insert(_ entity: Entity, data: [String: DemoValue], updateID: String? = nil) throws -> String {
        try insert(entity, try columns(of: entity, data: data, updateID: updateID))
        return String(db.lastInsertedRowID)
    }

    private func insert(_ entity: Entity, _ values: [(column: String, value: DatabaseValue)]) throws {
        let all = [(column: entity.creatorColumn, value: userID.databaseValue)] + values
        let names = all.map(\.column).joined(separator: ", ")
        let marks = all.map { _ in "?" }.joined(separator: ", ")
        try db.cachedStatement(sql: "INSERT INTO \(entity.name) (\(names)) VALUES (\(marks))")
            .execute(arguments: StatementArguments(all.map(\.value)))
    }

    /// Deletes a record and returns true, or returns false if there is none.
    @discardableResult
    func delete(_ entity: Entity, key: [String]) throws -> Bool {
        try db.execute(
            sql: "DELETE FROM \(entity.name) WHERE \(entity.keyCondition)", arguments: StatementArguments(key))
        return db.changesCount > 0
    }

    /// Makes a user a member of a project; an existing member gets the role.
    func share(project: String, with user: String, role: String) throws {
        try db.execute(
            sql: """
                INSERT INTO project_members (project_id, user_id, role) VALUES (?, ?, ?)
                ON CONFLICT (project_id, user_id) DO UPDATE SET role = excluded.role
                """,
            arguments: [project, user, role])
    }

    /// Takes a user out of a project.
    func revoke(project: String, from user: String) throws {
        try db.execute(
            sql: "DELETE FROM project_members WHERE project_id = ? AND user_id = ?", arguments: [project, user])
    }

    /// Shows one task to a user who need not be in its project.
    func share(task: String, with user: String) throws {
        try db.execute(
            sql: "INSERT OR IGNORE INTO task_shares (task_id, user_id) VALUES (?, ?)", arguments: [task, user])
    }

    /// Reverses ``share(task:with:)``.
    func unshare(task: String, from user: String) throws {
        try db.execute(
            sql: "DELETE FROM task_shares WHERE task_id = ? AND user_id = ?", arguments: [task, user])
    }

    /// Returns true if there is such a record.
    func exists(_ entity: Entity, key: [String]) throws -> Bool {
        let sql = "SELECT EXISTS (SELECT * FROM \(entity.name) WHERE \(entity.keyCondition))"
        return try Bool.fetchOne(try db.cachedStatement(sql: sql), arguments: StatementArguments(key)) ?? false
    }

    private func columns(
        of entity: Entity, data: [String: DemoValue], updateID: String?
    ) throws -> [(column: String, value: DatabaseValue)] {
        var values: [(column: String, value: DatabaseValue)] = []
        for (name, value) in data.sorted(by: { $0.key < $1.key }) {
            if entity.keys.contains(where: { $0.name == name }) { continue }
            guard let field = entity.fields.first(where: { $0.name == name }) else {
                throw InvalidMember("\(entity.name) has no member \(name)")
            }
            values.append((field.column, try field.databaseValue(of: value)))
        }
        if let updateID { values.append(("update_id", updateID.databaseValue)) }
        return values
    }
}
