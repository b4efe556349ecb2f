// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes

/// One row of a client's database.
package struct ClientRecord: Hashable, Sendable {
    /// The client's belief about the server's knowledge of a row.
    package enum Status: String, CaseIterable, Sendable {
        case synced, created, updated, deleted
    }

    /// Its id.
    package var id: String
    /// Its state.
    package var status: Status
    /// The columns that were edited since the last push, in the order of the edits.
    package var changed: [String]
    /// A value for every column of the schema.
    package var values: [String: ClientValue]

    /// Creates a row.
    package init(id: String, status: Status, changed: [String] = [], values: [String: ClientValue]) {
        self.id = id
        self.status = status
        self.changed = changed
        self.values = values
    }

    /// Sets a column as an edit in the app does: a value that is there already is no change.
    mutating func edit(_ column: String, to value: ClientValue) {
        guard values[column] != value else { return }
        values[column] = value
        if !changed.contains(column) { changed.append(column) }
        if status != .created { status = .updated }
    }

    /// Returns the row as it is pushed: `id`, `_status`, `_changed`, then the columns in the order of the schema.
    package func json(columns: [ClientSchema.Column]) -> JSONValue {
        let members: [JSONValue.Member] = [
            .init("id", .string(id)), .init("_status", .string(status.rawValue)),
            .init("_changed", .string(changed.joined(separator: ","))),
        ]
        return .object(members + columns.map { .init($0.name, (values[$0.name] ?? .null).json) })
    }
}

/// The rows of one table in the order of their insertion.
package struct ClientRows: Hashable, Sendable {
    private var indices: [String: Int] = [:]
    private var rows: [ClientRecord?] = []

    /// Creates an empty table.
    package init() {}

    /// All rows, tombstones included.
    package var all: [ClientRecord] { rows.compactMap { $0 } }

    /// Returns the row of an id, also a tombstone; setting nil removes it, setting a new id appends it.
    package subscript(id: String) -> ClientRecord? {
        get { indices[id].flatMap { rows[$0] } }
        set {
            if let index = indices[id] {
                rows[index] = newValue
                if newValue == nil { indices[id] = nil }
            } else if let newValue {
                indices[id] = rows.count
                rows.append(newValue)
            }
        }
    }

    /// Changes every row.
    mutating func updateAll(_ body: (inout ClientRecord) -> Void) {
        for index in rows.indices where rows[index] != nil {
            if var row = rows[index] {
                body(&row)
                rows[index] = row
            }
        }
    }
}

/// The address of a row.
package struct ClientKey: Hashable, Sendable, CustomStringConvertible {
    /// The table.
    package var table: String
    /// The row's id.
    package var id: String
    /// The address as the library writes it in messages.
    package var description: String { "\(table)#\(id)" }

    /// Creates an address.
    package init(_ table: String, _ id: String) {
        self.table = table
        self.id = id
    }
}
