// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The changes to one table in a push.
package struct PushedTable: Hashable, Sendable {
    /// The client's name for the table.
    package var name: String
    /// The records created on the device since its last answered push.
    package var created: [PushedRecord] = []
    /// The records changed on the device.
    package var updated: [PushedRecord] = []
    /// The ids of the records deleted on the device, including those that the backend never saw.
    package var deleted: [String] = []

    /// The number of records and deletions.
    package var count: Int { created.count + updated.count + deleted.count }

    /// Creates the changes of a table.
    package init(
        name: String, created: [PushedRecord] = [], updated: [PushedRecord] = [], deleted: [String] = []
    ) {
        self.name = name
        self.created = created
        self.updated = updated
        self.deleted = deleted
    }
}

/// A pushed record: its id and the range of its object.
package struct PushedRecord: Hashable, Sendable {
    /// Unchecked text; it is checked later for being an acceptable id.
    package var id: String
    /// The range of the object in the bytes of the push, braces included.
    package var range: Range<Int>

    /// Creates a record.
    package init(id: String, range: Range<Int>) {
        self.id = id
        self.range = range
    }
}
