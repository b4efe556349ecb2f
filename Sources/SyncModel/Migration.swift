// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What a client of a newer schema version lacks, as it may say itself in a pull.
package struct Migration: Hashable, Sendable {
    /// Columns that were added to one table.
    package struct AddedColumns: Hashable, Sendable {
        /// The table.
        package var table: String
        /// The columns that it gained.
        package var columns: [String]
        /// Added columns.
        package init(table: String, columns: [String]) {
            self.table = table
            self.columns = columns
        }
    }

    /// The schema version that the client was last in sync with.
    package var from: Int
    /// Tables that were added since.
    package var tables: [String]
    /// Columns that were added to older tables.
    package var columns: [AddedColumns]

    /// A migration.
    package init(from: Int, tables: [String] = [], columns: [AddedColumns] = []) {
        self.from = from
        self.tables = tables
        self.columns = columns
    }
}
