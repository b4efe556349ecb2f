// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB

/// A request type: the lines that it brings, and the queries behind them.
///
/// The queries take `:user`, `:now` (the bound of the stream), `:after` (the checkpoint, or the end of the previous
/// page) and `:limit`; backfills also `:parent`, `:from` and `:end`. Their rows come in the order of `update_id`.
struct StreamType: Sendable {
    /// The deletions of a type: the line type, the query, and the members that name the record.
    struct Deletes: Sendable {
        let lineType: String
        let sql: String
        let members: [(name: String, column: String)]
    }

    /// The backfill of older rows that become visible: memberships in their order, and the rows that came into sight
    /// with one.
    struct Backfill: Sendable {
        let lineType: String
        let parents: String
        let rows: String
    }

    let request: String
    let upsert: String
    let deletes: Deletes?
    /// The lines that each delete all records with one value, if the configuration asks for them.
    var clears: Deletes? = nil
    let backfill: Backfill?
    let sql: String
    let render: @Sendable (Row) -> DemoMembers

    /// All request types in the order in which a stream serves them, regardless of the order in the request.
    static let all = [
        projects(version: 1), projects(version: 2), tasks(version: 1), tasks(version: 2), sharedTasks, comments, tags,
        taskTags, folders, notes,
    ]

    private static func projects(version: Int) -> StreamType {
        StreamType(
            request: "ProjectsV\(version)", upsert: "ProjectV\(version)",
            deletes: Deletes(
                lineType: "ProjectDeleteV1", sql: deletions("project_audit", "a.user_id = :user"),
                members: [("projectId", "project_id")]),
            backfill: nil, sql: changes(of: .projects)
        ) { row in
            let (id, name) = (text(row["id"]), text(row["name"]))
            let isArchived = DemoValue.bool(row["is_archived"])
            let created = date(row["created_at"])
            guard version > 1 else {
                return [
                    ("id", id), ("ownerId", text(row["owner_id"])), ("name", name), ("isArchived", isArchived),
                    ("createdAt", created),
                ]
            }
            let settings = (row["settings"] as String?).flatMap { DemoValue(parsing: $0.utf8) }
            return [
                ("id", id), ("name", name), ("isArchived", isArchived), ("color", text(row["color"])),
                ("settings", settings ?? ["view": "list", "showDone": true]), ("createdAt", created),
                ("version", text(row["update_id"])),
            ]
        }
    }

    private static func tasks(version: Int) -> StreamType {
        StreamType(
            request: "TasksV\(version)", upsert: "TaskV\(version)",
            deletes: Deletes(
                lineType: "TaskDeleteV1", sql: deletions("task_audit", scoped()), members: [("taskId", "task_id")]),
            backfill: Backfill(
                lineType: "TaskBackfillV\(version)", parents: memberships,
                rows: "SELECT t.* FROM tasks t WHERE t.project_id = :parent AND \(page("t"))"),
            sql: changes(of: .tasks)
        ) { task($0, version: version) }
    }

    private static let sharedTasks = StreamType(
        request: "SharedTasksV1", upsert: "SharedTaskV1",
        deletes: Deletes(
            lineType: "SharedTaskDeleteV1", sql: deletions("task_share_audit", "a.user_id = :user"),
            members: [("taskId", "task_id")]),
        backfill: Backfill(
            lineType: "SharedTaskBackfillV1",
            parents: """
                SELECT s.task_id AS parent, s.create_id FROM task_shares s WHERE s.user_id = :user \
                AND s.create_id < :now AND s.create_id >= :after ORDER BY s.create_id
                """,
            rows: "SELECT t.* FROM tasks t WHERE t.id = :parent AND \(page("t"))"),
        sql: """
            SELECT t.* FROM tasks t JOIN task_shares s ON s.task_id = t.id AND s.user_id = :user \
            WHERE t.update_id < :now AND t.update_id > :after ORDER BY t.update_id LIMIT :limit
            """
    ) { task($0, version: 2) }

    private static let comments = StreamType(
        request: "CommentsV1", upsert: "CommentV1",
        deletes: Deletes(
            lineType: "CommentDeleteV1",
            sql: deletions(
                "comment_audit",
                "(a.user_id = :user OR (a.user_id IS NULL AND "
                    + Visibility.following(task: "a.task_id", creator: "a.creator_id") + "))"),
            members: [("commentId", "comment_id")]),
        clears: Deletes(
            lineType: "CommentsDeleteV1", sql: deletions("task_audit", scoped()), members: [("taskId", "task_id")]),
        backfill: Backfill(
            lineType: "CommentBackfillV1", parents: memberships,
            rows: """
                SELECT c.* FROM comments c JOIN tasks t ON t.id = c.task_id \
                WHERE t.project_id = :parent AND \(page("c"))
                """),
        sql: changes(of: .comments)
    ) { row in
        [
            ("id", text(row["id"])), ("taskId", text(row["task_id"])), ("authorId", text(row["creator_id"])),
            ("body", text(row["body"])), ("createdAt", date(row["created_at"])),
        ]
    }

    private static let tags = StreamType(
        request: "TagsV1", upsert: "TagV1",
        deletes: Deletes(
            lineType: "TagDeleteV1", sql: deletions("tag_audit", "a.user_id = :user"), members: [("tagId", "tag_id")]),
        backfill: nil, sql: changes(of: .tags)
    ) { row in [("id", text(row["id"])), ("label", text(row["label"]))] }

    private static let taskTags = StreamType(
        request: "TaskTagsV1", upsert: "TaskTagV1",
        deletes: Deletes(
            lineType: "TaskTagDeleteV1", sql: deletions("task_tag_audit", scoped()),
            members: [("taskId", "task_id"), ("tagId", "tag_id")]),
        backfill: Backfill(
            lineType: "TaskTagBackfillV1", parents: memberships,
            rows: """
                SELECT g.* FROM task_tags g JOIN tasks t ON t.id = g.task_id \
                WHERE t.project_id = :parent AND \(page("g"))
                """),
        sql: changes(of: .taskTags)
    ) { row in [("taskId", text(row["task_id"])), ("tagId", text(row["tag_id"]))] }
}

extension StreamType {
    private static let memberships = """
        SELECT m.project_id AS parent, m.create_id FROM project_members m WHERE m.user_id = :user \
        AND m.create_id < :now AND m.create_id >= :after ORDER BY m.create_id
        """

    private static func page(_ alias: String) -> String {
        """
        \(alias).update_id <= :end AND \(alias).update_id >= :from AND \(alias).update_id > :after \
        ORDER BY \(alias).update_id LIMIT :limit
        """
    }

    static func changes(of entity: Entity) -> String {
        let (alias, condition) = Visibility.of(entity)
        return """
            SELECT \(alias).* FROM \(entity.name) \(alias) WHERE \(alias).update_id < :now \
            AND \(alias).update_id > :after AND \(condition) ORDER BY \(alias).update_id LIMIT :limit
            """
    }

    static func deletions(_ table: String, _ condition: String) -> String {
        """
        SELECT a.*, a.id AS update_id FROM \(table) a WHERE a.id < :now AND a.id > :after AND \(condition) \
        ORDER BY a.id LIMIT :limit
        """
    }

    private static func scoped() -> String {
        "(a.user_id = :user OR (a.user_id IS NULL AND "
            + Visibility.scope(project: "a.project_id", creator: "a.creator_id") + "))"
    }

    private static func task(_ row: Row, version: Int) -> DemoMembers {
        var members: DemoMembers = [
            ("id", text(row["id"])), ("projectId", text(row["project_id"])), ("name", text(row["name"])),
            ("position", .number(row["position"])), ("isDone", .bool(row["is_done"])), ("note", text(row["note"])),
            ("createdAt", date(row["created_at"])), ("updatedAt", date(row["updated_at"])),
        ]
        if version > 1 { members += [("dueAt", date(row["due_at"])), ("version", text(row["update_id"]))] }
        return members
    }

    static func text(_ value: String?) -> DemoValue { value.map(DemoValue.string) ?? .null }

    static func date(_ value: Double?) -> DemoValue {
        value.map { moment in ISO8601.text(of: moment).map(DemoValue.string) ?? .number(moment) } ?? .null
    }
}
