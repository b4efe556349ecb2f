// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine
import SyncModel

/// The tables of the simulated backend, in the order of ``SimulatedSchema/schema(unledgered:)``.
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

    /// Whose records take its own along.
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

    /// A name.
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
    /// What people edit.
    package var value: Int
    /// The project of a task, the task of a comment, the owner of a file; empty elsewhere.
    package var parent = ""
    /// What schema version 2 has added to tasks; 0 is its default.
    package var mark = 0

    /// All values, for traces.
    package var description: String {
        (parent.isEmpty ? "\(value)" : "\(value)@\(parent)") + (mark == 0 ? "" : "+\(mark)")
    }
}

/// What the gateway is configured with.
enum SimulatedSchema {
    static let schema = Schema(version: 2, tables: [projects, tasks, comments, folders, files, notes])
    static let order = TableOrder(schema.tables)
    static let shapes = schema.tables.map { (name: $0.name, shape: LedgerShape(table: $0)) }
    static let key = SipHash.Key(1, 2)

    /// What version 2 has brought to tasks; it has brought a table as well.
    static let addedColumn = "mark"
    /// What the app itself knows of that.
    static let migration = Migration(
        from: 1, tables: [SimulatedTable.notes.name],
        columns: [.init(table: SimulatedTable.tasks.name, columns: [addedColumn])])

    static let complete = "SyncCompleteV1"
    static let resetToken = "SyncResetV1|reset"
    /// The upsert namespaces of the two sources of files, and their deletions.
    static let fileSources = ["FileV1", "PartnerFileV1"]
    static let fileDeletes = ["FileDeleteV1", "PartnerFileDeleteV1"]
    /// Takes all files of one owner away that came by the partner.
    static let filePurge = "PartnerFilePurgeV1"

    /// The namespace of a table's deletions.
    static func deletes(_ table: SimulatedTable, source: Int = 0) -> String {
        switch table {
        case .projects: "ProjectDeleteV1"
        case .tasks: "TaskDeleteV1"
        case .comments: "CommentDeleteV1"
        case .folders: "FolderDeleteV1"
        case .files: fileDeletes[source]
        case .notes: "NoteDeleteV1"
        }
    }

    /// The namespaces of a table's upserts and backfills, where granting a project brings older rows of it.
    static func backfill(_ table: SimulatedTable) -> (upsert: String, backfill: String) {
        table == .tasks ? ("TaskV1", "TaskBackfillV1") : ("CommentV1", "CommentBackfillV1")
    }

    private static let projects = table(
        .projects, feeds: [[.init(requestType: "ProjectsV1"), .init(requestType: "ProjectsV2", since: 2)]],
        upserts: ["ProjectV1", "ProjectV2"])
    private static let tasks: Table = {
        var tasks = table(
            .tasks, feeds: [[.init(requestType: "TasksV1")]], upserts: ["TaskV1", "TaskBackfillV1"], parent: "projects")
        var mark = Column(name: addedColumn, type: .number)
        mark.since = 2
        tasks.columns.append(mark)
        return tasks
    }()
    private static let comments = table(
        .comments, feeds: [[.init(requestType: "CommentsV1")]], upserts: ["CommentV1", "CommentBackfillV1"],
        parent: "tasks")
    private static let folders = table(
        .folders, feeds: [[.init(requestType: "FoldersV1")]], upserts: ["FolderV1"], parent: "folders")
    private static let files: Table = {
        var files = table(
            .files, feeds: [[.init(requestType: "FilesV1")], [.init(requestType: "PartnerFilesV1")]],
            upserts: fileSources)
        files.deletes = fileDeletes.map { Table.DeleteRule(type: $0, target: .by([Path(name: "id")], all: false)) }
        files.deletes.append(
            Table.DeleteRule(type: filePurge, target: .whereColumn("parent", equals: Path(name: "owner"))))
        return files
    }()
    private static let notes: Table = {
        var notes = table(.notes, feeds: [[.init(requestType: "NotesV1")]], upserts: ["NoteV1"])
        notes.since = 2
        return notes
    }()

    private static func table(
        _ name: SimulatedTable, feeds: [[Table.Feed.Version]], upserts: [String], parent: String? = nil
    ) -> Table {
        var table = Table(name: name.name)
        table.feeds = feeds.map(Table.Feed.init)
        table.upserts = upserts
        table.deletes = [Table.DeleteRule(type: deletes(name), target: .by([Path(name: "id")], all: false))]
        table.columns = [Column(name: "value", type: .number), Column(name: "parent", type: .string)]
        table.parents = parent.map { [Table.Parent(column: "parent", table: $0)] } ?? []
        return table
    }
}

extension SimulatedKey {
    /// What de-duplication and ledger know the record by.
    var hash: IDHash { IDHash(id: id, key: SimulatedSchema.key) }
}

extension SimulatedRecord {
    /// What a client of this version has of it.
    func projected(to version: Int) -> Self {
        var record = self
        if version < 2 { record.mark = 0 }
        return record
    }

    /// A hash of the typed values that a client of this version has; defaults are left out.
    func content(at version: Int) -> UInt64 {
        let mark = projected(to: version).mark
        let text = "\(value)|\(parent)" + (mark == 0 ? "" : "|\(mark)")
        return Array(text.utf8).withUnsafeBytes { SipHash.hash64($0, key: SimulatedSchema.key) }
    }

    /// The digests of the table's links.
    func links(in table: SimulatedTable) -> [UInt64] {
        guard SimulatedSchema.shapes[table.rawValue].shape.links > 0 else { return [] }
        return [parent.isEmpty ? 0 : IDHash(id: parent, key: SimulatedSchema.key).link]
    }
}
