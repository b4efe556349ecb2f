// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// The first values of each column that it could not have, described without their content.
package struct UnreadableValues: Hashable, Sendable {
    /// One value.
    package struct Value: Hashable, Sendable {
        /// The type of the line.
        package let type: String
        /// The table's index in the schema.
        package let table: Int
        /// The column's index in its table.
        package let column: Int
        /// The id of the record as the client has it.
        package fileprivate(set) var id = ""
        /// The shape of the value.
        package let shape: String
    }

    /// The most values of one column, and of all.
    private static let (perColumn, total) = (3, 256)

    /// The values in the order in which they came.
    package private(set) var values: [Value] = []

    /// Adds the value that is `number` in its column, from 1, if it is among the first; its record's id follows.
    mutating func add(_ slice: JSONSlice?, type: String, table: Int, column: Int, number: Int) {
        guard let slice, number <= Self.perColumn, values.count < Self.total else { return }
        values.append(Value(type: type, table: table, column: column, shape: ValueShape(slice).description))
    }

    /// Gives the values of the last record the record's id.
    mutating func name(_ id: ArraySlice<UInt8>) {
        for index in values.indices.reversed() {
            guard values[index].id.isEmpty else { return }
            values[index].id = String(decoding: id, as: UTF8.self)
        }
    }
}
