// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The ids under which a device knows the records that have an id from the backend, as of one of its cursors.
///
/// All devices know such a record by the id that a client has made for it, except those that had already got it under
/// the backend's id (finding 21).
package struct VisibleIDs: Hashable, Sendable {
    /// A record of a client's table, by one of its two ids.
    package struct Entry: Hashable, Sendable {
        /// The client's table.
        package var table: String
        /// The backend's id or, where the text says so, the client's.
        package var id: String
        /// Creates a record.
        package init(table: String, id: String) {
            self.table = table
            self.id = id
        }
    }

    /// The most such records that a device may keep; a device with more gets a full comparison and receives them again,
    /// under the clients' ids.
    package static let maximumKept = 1_000

    /// The number of the principal's id mappings that existed when the cursor was made.
    package var sequence: Int64
    /// The records that the device still knows by the backend's ids.
    package var kept: Set<Entry>

    /// Creates the visible ids of a device; the default is the state before any mapping.
    package init(sequence: Int64 = 0, kept: Set<Entry> = []) {
        self.sequence = sequence
        self.kept = kept
    }
}
