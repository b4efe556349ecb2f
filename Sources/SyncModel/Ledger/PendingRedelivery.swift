// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A record that a 409 has named to a client: its next pull brings the record's present state or its deletion.
package struct PendingRedelivery: Hashable, Sendable {
    /// The number of 409s for one record after which the types of its table get a full comparison, and after each
    /// multiple of it again.
    package static let countToComparison = 3

    /// The client's table.
    package var table: String
    /// The id that the client uses.
    package var id: String
    /// The number of 409s that have named the record since it was last pushed successfully.
    package var count: Int

    /// Creates a pending redelivery; a store counts by itself.
    package init(table: String, id: String, count: Int = 1) {
        self.table = table
        self.id = id
        self.count = count
    }
}
