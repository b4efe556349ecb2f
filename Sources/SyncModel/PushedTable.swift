// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What was pushed of one table.
package struct PushedTable: Hashable, Sendable {
    /// The client's name of the table.
    package var name: String
    /// Made on the device since the last push that was answered.
    package var created: [PushedRecord] = []
    /// Changed on the device.
    package var updated: [PushedRecord] = []
    /// The ids of what was deleted on the device, be it that the backend never saw it.
    package var deleted: [String] = []

    /// How many records and deletions there are.
    package var count: Int { created.count + updated.count + deleted.count }

    /// The changes of a table.
    package init(
        name: String, created: [PushedRecord] = [], updated: [PushedRecord] = [], deleted: [String] = []
    ) {
        self.name = name
        self.created = created
        self.updated = updated
        self.deleted = deleted
    }
}

/// One pushed record: its id, and where its object lies.
package struct PushedRecord: Hashable, Sendable {
    /// Any text at all; whether it is an acceptable id is decided later.
    package var id: String
    /// Where the object lies in the bytes of the push, braces included.
    package var range: Range<Int>

    /// A record.
    package init(id: String, range: Range<Int>) {
        self.id = id
        self.range = range
    }
}
