// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB

// Records with ids that the database assigns: ids and references are JSON numbers.
extension StreamType {
    static let folders = StreamType(
        request: "FoldersV1", upsert: "FolderV1",
        deletes: Deletes(
            lineType: "FolderDeleteV1", sql: deletions("folder_audit", "a.user_id = :user"),
            members: [("folderId", "folder_id")]),
        backfill: nil, sql: changes(of: .folders)
    ) { row in
        [("id", whole(row["id"])), ("parentId", whole(row["parent_id"])), ("name", text(row["name"]))] + ending(row)
    }

    static let notes = StreamType(
        request: "NotesV1", upsert: "NoteV1",
        deletes: Deletes(
            lineType: "NoteDeleteV1", sql: deletions("note_audit", "a.user_id = :user"),
            members: [("noteId", "note_id")]),
        backfill: nil, sql: changes(of: .notes)
    ) { row in
        [
            ("id", whole(row["id"])), ("folderId", whole(row["folder_id"])), ("title", text(row["title"])),
            ("body", text(row["body"])),
        ] + ending(row)
    }

    private static func ending(_ row: Row) -> DemoMembers {
        [
            ("clientId", text(row["client_id"])), ("createdAt", date(row["created_at"])),
            ("version", text(row["update_id"])),
        ]
    }

    private static func whole(_ value: Int64?) -> DemoValue { value.map { .number(Double($0)) } ?? .null }
}

/// The lines that state which id the database has given to a record that came with a client's id.
enum IDMaps {
    static let lineType = "IdMapV1"
    /// The request types with whose lines they come.
    static let requests: Set = [StreamType.folders.request, StreamType.notes.request]
    static let sql = """
        SELECT i.*, i.id AS update_id FROM id_maps i WHERE i.id < :now AND i.id > :after AND i.user_id = :user \
        ORDER BY i.id LIMIT :limit
        """

    static func members(of row: Row) -> DemoMembers {
        [
            ("entity", .string(row["entity"])), ("tempId", .string(row["client_id"])),
            ("id", DemoValue(key: row["record_id"])),
        ]
    }
}
