// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The tables and columns that a client of a newer schema version lacks, as it may state them in a pull.
package struct Migration: Hashable, Sendable {
    /// The columns added to one table.
    package struct AddedColumns: Hashable, Sendable {
        /// The table.
        package var table: String
        /// The columns that the table gained.
        package var columns: [String]
        /// Creates the added columns of a table.
        package init(table: String, columns: [String]) {
            self.table = table
            self.columns = columns
        }
    }

    /// The schema version at which the client last synced.
    package var from: Int
    /// The tables added since then.
    package var tables: [String]
    /// The columns added to older tables.
    package var columns: [AddedColumns]

    /// Creates a migration.
    package init(from: Int, tables: [String] = [], columns: [AddedColumns] = []) {
        self.from = from
        self.tables = tables
        self.columns = columns
    }
}
