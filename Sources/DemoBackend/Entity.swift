// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A kind of record: its name in pushes, its key, and its members with the columns that hold them.
struct Entity: Sendable {
    /// The kinds of values that a member may have.
    enum Kind: String, Sendable {
        case string, number, boolean, date, object
        case integer = "whole number"
    }

    /// A member of a record.
    struct Field: Sendable {
        let name: String
        let column: String
        let kind: Kind
        let isOptional: Bool
        /// The table in which a value must name a record that the user sees.
        let references: String?

        init(
            _ name: String, column: String, _ kind: Kind, optional: Bool = false, to references: String? = nil
        ) {
            self.name = name
            self.column = column
            self.kind = kind
            isOptional = optional
            self.references = references
        }
    }

    /// The name in pushes and in the database.
    let name: String
    /// The key's members; one named `id`, or several that make a composite key.
    let keys: [Field]
    /// The members that clients may write.
    let fields: [Field]
    /// The column with the user who made the record.
    let creatorColumn: String
    /// The audit table and its columns that hold a deleted record's key.
    let audit: (table: String, keys: [String])

    static let projects = Entity(
        name: "projects", keys: [Field("id", column: "id", .string)],
        fields: [
            Field("name", column: "name", .string), Field("isArchived", column: "is_archived", .boolean),
            Field("color", column: "color", .string, optional: true),
            Field("settings", column: "settings", .object, optional: true),
        ],
        creatorColumn: "owner_id", audit: ("project_audit", ["project_id"]))
    static let tasks = Entity(
        name: "tasks", keys: [Field("id", column: "id", .string)],
        fields: [
            Field("name", column: "name", .string), Field("position", column: "position", .number),
            Field("isDone", column: "is_done", .boolean),
            Field("projectId", column: "project_id", .string, optional: true),
            Field("note", column: "note", .string, optional: true),
            Field("dueAt", column: "due_at", .date, optional: true),
            Field("createdAt", column: "created_at", .date), Field("updatedAt", column: "updated_at", .date),
        ],
        creatorColumn: "creator_id", audit: ("task_audit", ["task_id"]))
    static let comments = Entity(
        name: "comments", keys: [Field("id", column: "id", .string)],
        fields: [Field("body", column: "body", .string), Field("taskId", column: "task_id", .string, optional: true)],
        creatorColumn: "creator_id", audit: ("comment_audit", ["comment_id"]))
    static let tags = Entity(
        name: "tags", keys: [Field("id", column: "id", .string)], fields: [Field("label", column: "label", .string)],
        creatorColumn: "creator_id", audit: ("tag_audit", ["tag_id"]))
    static let taskTags = Entity(
        name: "task_tags",
        keys: [Field("taskId", column: "task_id", .string), Field("tagId", column: "tag_id", .string)],
        fields: [], creatorColumn: "creator_id", audit: ("task_tag_audit", ["task_id", "tag_id"]))

    static let all = [projects, tasks, comments, tags, taskTags, folders, notes]

    static func named(_ name: some StringProtocol) -> Entity? { all.first { $0.name == name } }

    /// The condition that finds one record, with a `?` for each part of its key.
    var keyCondition: String { keys.map { "\($0.column) = ?" }.joined(separator: " AND ") }
}
