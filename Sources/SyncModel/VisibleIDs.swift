// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// By which ids a device knows the records to which the backend has given ids of its own, as of one of its cursors.
///
/// Everybody calls such a record by the id that a client has made for it, but for devices that had got it before under
/// the backend's (finding 21).
package struct VisibleIDs: Hashable, Sendable {
    /// A record under the backend's id.
    package struct Kept: Hashable, Sendable {
        /// The client's table.
        package var table: String
        /// The backend's id.
        package var id: String
        /// A record.
        package init(table: String, id: String) {
            self.table = table
            self.id = id
        }
    }

    /// How many records a device may keep so; one that had more is compared with everything, and gets the others.
    package static let maximumKept = 1_000

    /// How many mappings of the principal were known when the cursor was made.
    package var sequence: Int64
    /// The records that the device goes on calling by the backend's ids.
    package var kept: Set<Kept>

    /// What a device knows; the default is that of a time before all mappings.
    package init(sequence: Int64 = 0, kept: Set<Kept> = []) {
        self.sequence = sequence
        self.kept = kept
    }
}
