// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The tables, and the triggers that maintain update ids and deletions.
///
/// `demo_uuid7()`, `demo_now()` and `demo_flag(name)` are functions that ``DemoStore`` adds to each connection. The
/// single row of `cascading` states the depth of a delete in a cascade, since tasks and comments that are deleted with
/// their parents have no audit row of their own; labels on tasks have one at depth 1.
enum Schema {
    static let sql = tables + indexes + audits + updates + deletes + moves + cascades + numbered

    private static let tables = """
        CREATE TABLE IF NOT EXISTS users (
          id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL, password TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS sessions (
          id TEXT PRIMARY KEY, token TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL REFERENCES users (id),
          is_pending_reset INTEGER NOT NULL DEFAULT 0, used_at INTEGER NOT NULL);
        CREATE TABLE IF NOT EXISTS checkpoints (
          session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, type TEXT NOT NULL, ack TEXT NOT NULL,
          PRIMARY KEY (session_id, type));
        CREATE TABLE IF NOT EXISTS answers (
          user_id TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL, status INTEGER NOT NULL, body TEXT NOT NULL,
          made_at INTEGER NOT NULL, PRIMARY KEY (user_id, key));
        CREATE TABLE IF NOT EXISTS projects (
          id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', is_archived INTEGER NOT NULL DEFAULT 0, color TEXT,
          settings TEXT, owner_id TEXT NOT NULL, created_at NUMERIC NOT NULL DEFAULT (demo_now()),
          update_id TEXT NOT NULL DEFAULT (demo_uuid7()));
        CREATE TABLE IF NOT EXISTS project_members (
          project_id TEXT NOT NULL, user_id TEXT NOT NULL, role TEXT NOT NULL DEFAULT 'editor',
          create_id TEXT NOT NULL DEFAULT (demo_uuid7()), PRIMARY KEY (project_id, user_id));
        CREATE TABLE IF NOT EXISTS tasks (
          id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', position NUMERIC NOT NULL DEFAULT 0,
          is_done INTEGER NOT NULL DEFAULT 0, project_id TEXT, note TEXT, due_at NUMERIC,
          created_at NUMERIC NOT NULL DEFAULT (demo_now()), updated_at NUMERIC NOT NULL DEFAULT (demo_now()),
          creator_id TEXT NOT NULL, update_id TEXT NOT NULL DEFAULT (demo_uuid7()));
        CREATE TABLE IF NOT EXISTS task_shares (
          task_id TEXT NOT NULL, user_id TEXT NOT NULL, create_id TEXT NOT NULL DEFAULT (demo_uuid7()),
          PRIMARY KEY (task_id, user_id));
        CREATE TABLE IF NOT EXISTS comments (
          id TEXT PRIMARY KEY, body TEXT NOT NULL DEFAULT '', task_id TEXT, creator_id TEXT NOT NULL,
          created_at NUMERIC NOT NULL DEFAULT (demo_now()), update_id TEXT NOT NULL DEFAULT (demo_uuid7()));
        CREATE TABLE IF NOT EXISTS tags (
          id TEXT PRIMARY KEY, label TEXT NOT NULL DEFAULT '', creator_id TEXT NOT NULL,
          update_id TEXT NOT NULL DEFAULT (demo_uuid7()));
        CREATE TABLE IF NOT EXISTS task_tags (
          task_id TEXT NOT NULL, tag_id TEXT NOT NULL, creator_id TEXT NOT NULL,
          update_id TEXT NOT NULL DEFAULT (demo_uuid7()), PRIMARY KEY (task_id, tag_id));
        CREATE TABLE IF NOT EXISTS cascading (depth INTEGER NOT NULL);
        INSERT INTO cascading SELECT 0 WHERE NOT EXISTS (SELECT * FROM cascading);

        """

    private static let indexes = """
        CREATE INDEX IF NOT EXISTS projects_by_update ON projects (update_id);
        CREATE INDEX IF NOT EXISTS members_by_user ON project_members (user_id, create_id);
        CREATE INDEX IF NOT EXISTS tasks_by_update ON tasks (update_id);
        CREATE INDEX IF NOT EXISTS tasks_by_project ON tasks (project_id, update_id);
        CREATE INDEX IF NOT EXISTS comments_by_update ON comments (update_id);
        CREATE INDEX IF NOT EXISTS comments_by_task ON comments (task_id);
        CREATE INDEX IF NOT EXISTS tags_by_update ON tags (update_id);
        CREATE INDEX IF NOT EXISTS task_tags_by_update ON task_tags (update_id);
        CREATE INDEX IF NOT EXISTS task_tags_by_tag ON task_tags (tag_id);

        """

    /// The audit tables, with one row for each deletion.
    ///
    /// `user_id` names the one user whom the deletion concerns; if it is null, it concerns all users who may see the
    /// project, or the creator if the project is unknown.
    private static let audits = """
        CREATE TABLE IF NOT EXISTS project_audit (
          id TEXT PRIMARY KEY DEFAULT (demo_uuid7()), project_id TEXT NOT NULL, user_id TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS task_audit (
          id TEXT PRIMARY KEY DEFAULT (demo_uuid7()), task_id TEXT NOT NULL, project_id TEXT, creator_id TEXT,
          user_id TEXT);
        CREATE TABLE IF NOT EXISTS task_share_audit (
          id TEXT PRIMARY KEY DEFAULT (demo_uuid7()), task_id TEXT NOT NULL, user_id TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS comment_audit (
          id TEXT PRIMARY KEY DEFAULT (demo_uuid7()), comment_id TEXT NOT NULL, task_id TEXT, creator_id TEXT,
          user_id TEXT);
        CREATE TABLE IF NOT EXISTS tag_audit (
          id TEXT PRIMARY KEY DEFAULT (demo_uuid7()), tag_id TEXT NOT NULL, user_id TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS task_tag_audit (
          id TEXT PRIMARY KEY DEFAULT (demo_uuid7()), task_id TEXT NOT NULL, tag_id TEXT NOT NULL, project_id TEXT,
          creator_id TEXT, user_id TEXT);

        """

    /// The triggers that give a changed row a new update id, unless the writer set one itself.
    private static let updates =
        ["projects", "tasks", "comments", "tags", "task_tags"]
        .map {
            """
            CREATE TRIGGER IF NOT EXISTS \($0)_updated AFTER UPDATE ON \($0) WHEN NEW.update_id IS OLD.update_id BEGIN
              UPDATE \($0) SET update_id = demo_uuid7() WHERE rowid = NEW.rowid;
            END;

            """
        }.joined() + """
            CREATE TRIGGER IF NOT EXISTS project_members_joined AFTER INSERT ON project_members
            WHEN NEW.role <> 'owner' BEGIN
              UPDATE projects SET update_id = demo_uuid7() WHERE id = NEW.project_id;
            END;
            CREATE TRIGGER IF NOT EXISTS tasks_joined AFTER INSERT ON tasks WHEN demo_flag('touchesProjects') BEGIN
              UPDATE projects SET update_id = demo_uuid7() WHERE id = NEW.project_id;
            END;

            """

    private static let deletes = """
        CREATE TRIGGER IF NOT EXISTS project_members_deleted AFTER DELETE ON project_members BEGIN
          INSERT INTO project_audit (project_id, user_id) VALUES (OLD.project_id, OLD.user_id);
        END;
        CREATE TRIGGER IF NOT EXISTS tasks_deleted AFTER DELETE ON tasks
        WHEN (SELECT depth FROM cascading) = 0 BEGIN
          INSERT INTO task_audit (task_id, project_id, creator_id) VALUES (OLD.id, OLD.project_id, OLD.creator_id);
        END;
        CREATE TRIGGER IF NOT EXISTS task_shares_deleted AFTER DELETE ON task_shares BEGIN
          INSERT INTO task_share_audit (task_id, user_id) VALUES (OLD.task_id, OLD.user_id);
        END;
        CREATE TRIGGER IF NOT EXISTS comments_deleted AFTER DELETE ON comments
        WHEN (SELECT depth FROM cascading) = 0 BEGIN
          INSERT INTO comment_audit (comment_id, task_id, creator_id) VALUES (OLD.id, OLD.task_id, OLD.creator_id);
        END;
        CREATE TRIGGER IF NOT EXISTS tags_deleted AFTER DELETE ON tags BEGIN
          INSERT INTO tag_audit (tag_id, user_id) VALUES (OLD.id, OLD.creator_id);
        END;
        CREATE TRIGGER IF NOT EXISTS task_tags_deleted AFTER DELETE ON task_tags
        WHEN (SELECT depth FROM cascading) <= 1 BEGIN
          INSERT INTO task_tag_audit (task_id, tag_id, project_id, creator_id) VALUES (
            OLD.task_id, OLD.tag_id, (SELECT project_id FROM tasks WHERE id = OLD.task_id), OLD.creator_id);
        END;

        """

    /// The triggers for moves: records that come into a user's sight get new update ids; for records that leave it, an
    /// audit row is written for that user.
    private static let moves = """
        CREATE TRIGGER IF NOT EXISTS tasks_moved AFTER UPDATE OF project_id ON tasks
        WHEN NEW.project_id IS NOT OLD.project_id AND demo_flag('announcesMoves') BEGIN
          INSERT INTO task_audit (task_id, user_id)
            SELECT NEW.id, m.user_id FROM project_members m WHERE m.project_id = OLD.project_id
              AND NOT EXISTS (
                SELECT * FROM project_members n WHERE n.project_id = NEW.project_id AND n.user_id = m.user_id);
          UPDATE comments SET update_id = demo_uuid7() WHERE task_id = NEW.id;
          UPDATE task_tags SET update_id = demo_uuid7() WHERE task_id = NEW.id;
        END;
        CREATE TRIGGER IF NOT EXISTS comments_moved AFTER UPDATE OF task_id ON comments
        WHEN NEW.task_id IS NOT OLD.task_id AND demo_flag('announcesMoves') BEGIN
          INSERT INTO comment_audit (comment_id, user_id)
            SELECT NEW.id, m.user_id FROM project_members m JOIN tasks t ON t.project_id = m.project_id
            WHERE t.id = OLD.task_id AND NOT EXISTS (
              SELECT * FROM project_members n JOIN tasks s ON s.project_id = n.project_id
              WHERE s.id = NEW.task_id AND n.user_id = m.user_id);
        END;

        """

    /// The triggers that delete dependent records; they run before the delete, while the parent still exists.
    private static let cascades = """
        CREATE TRIGGER IF NOT EXISTS projects_cascade BEFORE DELETE ON projects BEGIN
          UPDATE cascading SET depth = depth + 1;
          DELETE FROM tasks WHERE project_id = OLD.id;
          DELETE FROM project_members WHERE project_id = OLD.id;
          UPDATE cascading SET depth = depth - 1;
        END;
        CREATE TRIGGER IF NOT EXISTS tasks_cascade BEFORE DELETE ON tasks BEGIN
          UPDATE cascading SET depth = depth + 1;
          DELETE FROM comments WHERE task_id = OLD.id;
          DELETE FROM task_tags WHERE task_id = OLD.id;
          DELETE FROM task_shares WHERE task_id = OLD.id;
          UPDATE cascading SET depth = depth - 1;
        END;
        CREATE TRIGGER IF NOT EXISTS tags_cascade BEFORE DELETE ON tags BEGIN
          UPDATE cascading SET depth = depth + 1;
          DELETE FROM task_tags WHERE tag_id = OLD.id;
          UPDATE cascading SET depth = depth - 1;
        END;

        """
}
