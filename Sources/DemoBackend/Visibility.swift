// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The conditions under which a user sees a record; `:user` is the user's id.
enum Visibility {
    /// The condition for a task `t`: members of its project see it, and its creator if the project is unknown.
    static let task = scope(project: "t.project_id", creator: "t.creator_id")
    /// The condition for a comment `c`: it is visible with its task.
    static let comment = following(task: "c.task_id", creator: "c.creator_id")
    /// The condition for a label on a task `g`: it is visible with its task.
    static let taskTag = following(task: "g.task_id", creator: "g.creator_id")
    /// The condition for a project `p`.
    static let project = "p.id IN (\(projects))"
    /// The condition for a tag `l`.
    static let tag = "l.creator_id = :user"

    /// Returns the condition for a record that belongs to a project, or to its creator if there is no such project.
    static func scope(project: String, creator: String) -> String {
        """
        (\(project) IN (\(projects)) OR (\(creator) = :user AND \(project) IS NOT NULL \
        AND NOT EXISTS (SELECT * FROM projects o WHERE o.id = \(project))) \
        OR (\(creator) = :user AND \(project) IS NULL))
        """
    }

    /// Returns the condition for a record that belongs to a task, or to its creator if there is no such task.
    static func following(task: String, creator: String) -> String {
        """
        (EXISTS (SELECT * FROM tasks t WHERE t.id = \(task) AND \(Self.task)) \
        OR (\(creator) = :user AND NOT EXISTS (SELECT * FROM tasks o WHERE o.id = \(task))))
        """
    }

    private static let projects = "SELECT m.project_id FROM project_members m WHERE m.user_id = :user"

    /// Returns the table's alias and the condition of one kind of record.
    static func of(_ entity: Entity) -> (alias: String, condition: String) {
        switch entity.name {
        case Entity.projects.name: ("p", project)
        case Entity.tasks.name: ("t", task)
        case Entity.comments.name: ("c", comment)
        case Entity.tags.name: ("l", tag)
        case Entity.folders.name: ("f", "f.creator_id = :user")
        case Entity.notes.name: ("n", "n.creator_id = :user")
        default: ("g", taskTag)
        }
    }
}
