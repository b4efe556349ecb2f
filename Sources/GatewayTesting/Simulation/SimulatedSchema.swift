// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// The tables of the simulated backend, in the order of ``SimulatedSchema/schema``.
package enum SimulatedTable: Int, CaseIterable, Hashable, Sendable {
    /// Seen only by their members; schema version 2 gets them under another wire type.
    case projects
    /// Seen by the members of their project; backfilled when a project is granted.
    case tasks
    /// Filled by two request types: a file moves from one to the other.
    case files
    /// Only clients of schema version 2 have it.
    case notes
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
    /// The project of a task; empty elsewhere.
    package var parent = ""

    /// The value and the parent, for traces.
    package var description: String { parent.isEmpty ? "\(value)" : "\(value)@\(parent)" }
}

/// What the gateway is configured with.
enum SimulatedSchema {
    static let schema = Schema(version: 2, tables: [projects, tasks, files, notes])
    /// The namespaces of deletions, by table; files have one for each source.
    static let projectDelete = "ProjectDeleteV1"
    static let taskDelete = "TaskDeleteV1"
    static let backfill = "TaskBackfillV1"
    static let complete = "SyncCompleteV1"
    static let resetToken = "SyncResetV1|reset"

    /// The upsert namespaces of the two sources of files, and their deletions.
    static let fileSources = ["FileV1", "PartnerFileV1"]
    static let fileDeletes = ["FileDeleteV1", "PartnerFileDeleteV1"]

    private static let projects = table(
        "projects",
        feeds: [[.init(requestType: "ProjectsV1"), .init(requestType: "ProjectsV2", since: 2)]],
        upserts: ["ProjectV1", "ProjectV2"], deletes: [projectDelete])
    private static let tasks = table(
        "tasks", feeds: [[.init(requestType: "TasksV1")]], upserts: ["TaskV1", backfill], deletes: [taskDelete])
    private static let files = table(
        "files", feeds: [[.init(requestType: "FilesV1")], [.init(requestType: "PartnerFilesV1")]],
        upserts: fileSources, deletes: fileDeletes)
    private static let notes: Table = {
        var notes = table(
            "notes", feeds: [[.init(requestType: "NotesV1")]], upserts: ["NoteV1"], deletes: ["NoteDeleteV1"])
        notes.since = 2
        return notes
    }()

    private static func table(
        _ name: String, feeds: [[Table.Feed.Version]], upserts: [String], deletes: [String]
    ) -> Table {
        var table = Table(name: name)
        table.feeds = feeds.map(Table.Feed.init)
        table.upserts = upserts
        table.deletes = deletes.map { Table.DeleteRule(type: $0, target: .by([Path(name: "id")], all: false)) }
        return table
    }
}
