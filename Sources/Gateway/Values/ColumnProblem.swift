// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The values of one column that could not be taken as they came, as metrics and the log count them.
package struct ColumnProblem: Hashable, Sendable {
    /// The kinds of problems; the raw values are labels of the metric.
    package enum Kind: String, Sendable {
        /// Values of the backend that the column could not have: apps got its default.
        case unreadable
        /// Times of the backend without a zone, which were taken as UTC.
        case noZone = "no_zone"
        /// Values of a push that became the column's default, or were cut.
        case repaired
        /// Defaults that a push did not send, because the backend may have a value that could not be read.
        case withheld
    }

    /// The client's table.
    package let table: String
    /// The client's column.
    package let column: String
    /// The kind of problem.
    package let kind: Kind
    /// The number of values.
    package var count: Int

    /// Returns whether another one is of the same kind and column.
    func isSameColumn(as other: Self) -> Bool { table == other.table && column == other.column && kind == other.kind }
}
