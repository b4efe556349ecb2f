// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// A `[table NAME]` with its `[columns NAME]` as they were read, with the positions for the reports of the checks.
struct TableDraft: Sendable {
    /// One request type in all its versions.
    struct Feed: Sendable {
        struct Version: Sendable {
            var type: Located<String>
            var since: Located<Int>?
        }
        var versions: [Version]
        /// The feed as the engine uses it.
        var model: Table.Feed {
            .init(versions: versions.map { .init(requestType: $0.type.value, since: $0.since?.value ?? 0) })
        }
    }

    /// One line type that deletes records.
    struct Delete: Sendable {
        var type: Located<String>
        var target: Table.DeleteRule.Target
        /// The column of `where`.
        var column: Located<String>?
        /// The position of the paths of `by`, or of the path of `where`.
        var pathSpan: Span
    }

    /// The paths of the id.
    struct ID: Sendable {
        var paths: [Located<Path>]
        var types: [Located<String>]
    }

    /// A column that names a parent.
    struct Parent: Sendable {
        var column: Located<String>
        var table: Located<String>
    }

    /// One call of a push by calls.
    struct NamedCall: Sendable {
        var key: String
        var draft: CallDraft
    }

    var name: Located<String>
    /// The header of `[table NAME]`; nil if there are only columns.
    var tableSpan: Span?
    /// The header of `[columns NAME]`; nil if there is only the table.
    var columnsSpan: Span?
    var since: Located<Int>?
    var feeds: [Feed] = []
    var upserts: [Located<String>] = []
    var deletes: [Delete] = []
    var ids: [ID] = []
    var parents: [Parent] = []
    var match: [Located<String>] = []
    /// The table's own mode; nil if the section's applies.
    var ledger: Located<LedgerMode>?
    /// The table's own rule; nil if `[push] conflicts` applies.
    var conflicts: Located<ConflictRule>?
    /// The type of the backend's ids, and their maker; nil if the defaults apply.
    var idType: Located<Table.IDType>?
    var idMaker: Located<IDMaker>?
    /// The table's own rule; nil if `[push] cascade` applies.
    var cascade: Located<CascadeRule>?
    var calls: [NamedCall] = []
    var columns: [ColumnDraft] = []
    /// The keys whose value was refused; checks that depend on them make no further reports.
    var broken: Set<String> = []
    /// The keys that are present.
    var present: Set<String> = []

    init(name: Located<String>) { self.name = name }

    func column(_ name: String) -> ColumnDraft? { columns.first { $0.column.name == name } }

    func call(_ key: String) -> CallDraft? { calls.first { $0.key == key }?.draft }

    /// The number of parts of the id.
    var idParts: Int { ids.first?.paths.count ?? 1 }

    /// The table as the engine uses it.
    var model: Table {
        var table = Table(name: name.value)
        table.since = since?.value ?? 0
        table.feeds = feeds.map(\.model)
        table.upserts = upserts.map(\.value)
        table.deletes = deletes.map { .init(type: $0.type.value, target: $0.target) }
        table.ids = ids.map { .init(paths: $0.paths.map(\.value), types: $0.types.map(\.value)) }
        if ids.isEmpty { table.ids = [.init(paths: [Path(name: "id")])] }
        table.parents = parents.map { .init(column: $0.column.value, table: $0.table.value) }
        table.match = match.map(\.value)
        table.columns = columns.map(\.column)
        table.idType = idType?.value ?? .text
        table.isIDFromBackend = idMaker?.value == .backend
        table.calls.create = call("create")?.rule
        table.calls.update = call("update")?.rule
        table.calls.remove = call("remove")?.rule
        table.calls.read = call("read")?.rule
        return table
    }
}

/// A column as it was read.
struct ColumnDraft: Sendable {
    var column: Column
    var name: Located<String>
    /// The wire types after `in`.
    var types: [Located<String>] = []
    var since: Located<Int>?
    var reference: Located<String>?
    var version: Span?
}
