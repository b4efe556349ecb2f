// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

// Tables whose ids the database assigns.
extension Schema {
    /// The tables, with foreign keys by which the contents of a deleted folder are deleted too.
    ///
    /// Each folder within it gets an audit row; its notes do only if the configuration says so. A note that is deleted
    /// with its folder is recognized by the folder, which is already gone.
    static let numbered = """
        CREATE TABLE IF NOT EXISTS folders (
          id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL DEFAULT '',
          parent_id INTEGER REFERENCES folders (id) ON DELETE CASCADE, client_id TEXT, creator_id TEXT NOT NULL,
          created_at NUMERIC NOT NULL DEFAULT (demo_now()), update_id TEXT NOT NULL DEFAULT (demo_uuid7()));
        CREATE TABLE IF NOT EXISTS notes (
          id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT '', body TEXT,
          folder_id INTEGER REFERENCES folders (id) ON DELETE CASCADE, client_id TEXT, creator_id TEXT NOT NULL,
          created_at NUMERIC NOT NULL DEFAULT (demo_now()), update_id TEXT NOT NULL DEFAULT (demo_uuid7()));
        CREATE TABLE IF NOT EXISTS folder_audit (
          id TEXT PRIMARY KEY DEFAULT (demo_uuid7()), folder_id INTEGER NOT NULL, user_id TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS note_audit (
          id TEXT PRIMARY KEY DEFAULT (demo_uuid7()), note_id INTEGER NOT NULL, user_id TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS id_maps (
          id TEXT PRIMARY KEY DEFAULT (demo_uuid7()), entity TEXT NOT NULL, client_id TEXT NOT NULL,
          record_id INTEGER NOT NULL, user_id TEXT NOT NULL);
        CREATE INDEX IF NOT EXISTS folders_by_update ON folders (update_id);
        CREATE INDEX IF NOT EXISTS folders_by_parent ON folders (parent_id);
        CREATE INDEX IF NOT EXISTS notes_by_update ON notes (update_id);
        CREATE INDEX IF NOT EXISTS notes_by_folder ON notes (folder_id);
        CREATE TRIGGER IF NOT EXISTS folders_deleted AFTER DELETE ON folders BEGIN
          INSERT INTO folder_audit (folder_id, user_id) VALUES (OLD.id, OLD.creator_id);
        END;
        CREATE TRIGGER IF NOT EXISTS notes_deleted AFTER DELETE ON notes
        WHEN demo_flag('announcesNotes') OR OLD.folder_id IS NULL
          OR EXISTS (SELECT * FROM folders WHERE id = OLD.folder_id) BEGIN
          INSERT INTO note_audit (note_id, user_id) VALUES (OLD.id, OLD.creator_id);
        END;

        """
        + ["folders", "notes"].map {
            """
            CREATE TRIGGER IF NOT EXISTS \($0)_updated AFTER UPDATE ON \($0) WHEN NEW.update_id IS OLD.update_id BEGIN
              UPDATE \($0) SET update_id = demo_uuid7() WHERE id = NEW.id;
            END;
            CREATE TRIGGER IF NOT EXISTS \($0)_mapped AFTER INSERT ON \($0) WHEN NEW.client_id IS NOT NULL BEGIN
              INSERT INTO id_maps (entity, client_id, record_id, user_id)
                VALUES ('\($0)', NEW.client_id, NEW.id, NEW.creator_id);
            END;

            """
        }.joined()
}
