// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A record that a 409 has named to a client: its next pull brings the present state, or the deletion.
package struct PendingRedelivery: Hashable, Sendable {
    /// With every so many 409 for one record the types of its table are compared as a whole.
    package static let countToComparison = 3

    /// The client's table.
    package var table: String
    /// The id as the client has it.
    package var id: String
    /// How many 409 have named it since it was last pushed with success.
    package var count: Int

    /// A pending redelivery; a store counts by itself.
    package init(table: String, id: String, count: Int = 1) {
        self.table = table
        self.id = id
        self.count = count
    }
}
