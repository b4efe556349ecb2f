// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// The tables of the simulated backend, parents first.
package enum SimulatedTable: Int, CaseIterable, Hashable, Sendable {
    /// Seen only by their members; schema version 2 gets them under another wire type.
    case projects
    /// Seen by the members of their project; backfilled when a project is granted.
    case tasks
    /// Grandchildren: seen by those who see their task, and gone with it without any line.
    case comments
    /// Folders lie in folders; what is in a deleted one is gone with it without any line.
    case folders
    /// Filled by two request types: a file moves from one to the other. Their parent is the owner, which is no record.
    case files
    /// Only clients of schema version 2 have it.
    case notes

    /// The table whose deleted records delete records of this one.
    var parent: SimulatedTable? {
        switch self {
        case .tasks: .projects
        case .comments: .tasks
        case .folders: .folders
        case .projects, .files, .notes: nil
        }
    }

    /// The table's name in the configuration.
    package var name: String { "\(self)" }
}

/// Names one record of the simulated backend or of a device.
package struct SimulatedKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The table.
    package var table: SimulatedTable
    /// The id.
    package var id: String

    /// Creates a name.
    package init(_ table: SimulatedTable, _ id: String) {
        self.table = table
        self.id = id
    }

    /// Orders by table, then by id.
    package static func < (a: Self, b: Self) -> Bool { (a.table.rawValue, a.id) < (b.table.rawValue, b.id) }

    /// The table and the id, for traces.
    package var description: String { "\(table)/\(id)" }
}

/// The contents of a record.
package struct SimulatedRecord: Hashable, Sendable, CustomStringConvertible {
    /// The value that users edit.
    package var value: Int
    /// The project of a task, the task of a comment, the owner of a file; empty elsewhere.
    package var parent = ""
    /// The column that schema version 2 has added to tasks; 0 is its default.
    package var mark = 0

    /// All values, for traces.
    package var description: String {
        (parent.isEmpty ? "\(value)" : "\(value)@\(parent)") + (mark == 0 ? "" : "+\(mark)")
    }
}

/// Names what the backend and the apps agree on.
enum SimulatedSchema {
    /// The name of the column that version 2 has added to tasks; version 2 has added a table as well.
    static let addedColumn = "mark"
    /// The app's migration to version 2.
    static let migration = Migration(
        from: 1, tables: [SimulatedTable.notes.name],
        columns: [.init(table: SimulatedTable.tasks.name, columns: [addedColumn])])

    static let complete = "SyncCompleteV1"
    static let resetToken = "SyncResetV1|reset"
    /// The upsert namespaces of the two feeds of files, and their deletions.
    static let fileFeeds = ["FileV1", "PartnerFileV1"]
    static let fileDeletes = ["FileDeleteV1", "PartnerFileDeleteV1"]
    /// Takes all files of one owner away that came by the partner.
    static let filePurge = "PartnerFilePurgeV1"

    /// Returns the namespace of a table's deletions.
    static func deletes(_ table: SimulatedTable, feed: Int = 0) -> String {
        switch table {
        case .projects: "ProjectDeleteV1"
        case .tasks: "TaskDeleteV1"
        case .comments: "CommentDeleteV1"
        case .folders: "FolderDeleteV1"
        case .files: fileDeletes[feed]
        case .notes: "NoteDeleteV1"
        }
    }

    /// Returns the request types that bring a table.
    static func requestTypes(_ table: SimulatedTable) -> [String] {
        switch table {
        case .projects: ["ProjectsV1", "ProjectsV2"]
        case .tasks: ["TasksV1"]
        case .comments: ["CommentsV1"]
        case .folders: ["FoldersV1"]
        case .files: ["FilesV1", "PartnerFilesV1"]
        case .notes: ["NotesV1"]
        }
    }

    /// Returns the namespaces of a table's upserts and backfills, if granting a project brings older rows of the table.
    static func backfill(_ table: SimulatedTable) -> (upsert: String, backfill: String) {
        table == .tasks ? ("TaskV1", "TaskBackfillV1") : ("CommentV1", "CommentBackfillV1")
    }
}

extension SimulatedRecord {
    /// Returns the part of the record that a client of this version has.
    func projected(to version: Int) -> Self {
        var record = self
        if version < 2 { record.mark = 0 }
        return record
    }
}
