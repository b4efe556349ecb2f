// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Names rows that are to be read.
package enum Lookup: Hashable, Sendable {
    /// The row under a key.
    case row(RowKey)
    /// The row under a key, and the head of the replica whose number it has; perhaps also the pages of the head.
    case replica(namedBy: RowKey)
    /// The rows of one owner and kind whose keys begin with a prefix, in the order of their keys, beginning with the
    /// one after a key.
    case rows(RowKind, of: Int64, prefix: [UInt8], after: [UInt8]?, limit: Int)
    /// The rows of one owner and kind with greater numbers, in the order of these.
    case numbered(RowKind, of: Int64, after: Int64, limit: Int, descending: Bool)
    /// The rows of a kind and all owners, by number or rank, beginning with the one after a row.
    case all(RowKind, by: Order, after: Mark?, limit: Int, descending: Bool)
    /// The rows of a kind and all owners with a number.
    case named(RowKind, Int64)
    /// The number of the rows of one owner and kind whose keys begin with a prefix, as the number of one row.
    case count(RowKind, of: Int64, prefix: [UInt8])
    /// The row of the greatest cursor.
    case newestCursor
    /// The heads of principals whose owners are in a range.
    case principals(ClosedRange<Int64>, limit: Int)

    /// The orders of the rows of a kind over all owners.
    package enum Order: Hashable, Sendable {
        case number
        case rank
    }

    /// The position of a row in an order.
    package struct Mark: Hashable, Comparable, Sendable {
        /// The number that the order is by.
        package var value: Int64
        /// The other of the row's two numbers, by which rows with equal values are ordered.
        package var tie: Int64

        /// Creates a mark.
        package init(_ value: Int64, tie: Int64) {
            self.value = value
            self.tie = tie
        }

        /// Orders marks by value and tie.
        package static func < (a: Self, b: Self) -> Bool { (a.value, a.tie) < (b.value, b.tie) }
    }
}

extension Lookup {
    /// Names the rows of a kind and all owners by number, those with greater numbers than the given one.
    package static func all(_ kind: RowKind, after number: Int64? = nil, limit: Int) -> Self {
        .all(kind, by: .number, after: number.map { Mark($0, tie: .max) }, limit: limit, descending: false)
    }

    /// Names all rows of one owner and kind whose keys begin with a prefix.
    package static func all(_ kind: RowKind, of owner: Int64, prefix: [UInt8] = []) -> Self {
        .rows(kind, of: owner, prefix: prefix, after: nil, limit: .max)
    }
}
