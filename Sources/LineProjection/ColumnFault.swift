// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The values of one column that could not be read as they stand, counted.
package struct ColumnFault: Hashable, Sendable {
    /// The table's index in the schema.
    package let table: Int
    /// The column's index in its table.
    package let column: Int
    /// The number of values that the column could not have: its default went out.
    package let unreadable: Int
    /// The number of times without a zone that were taken as UTC.
    package let assumed: Int
}
