// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes

/// The outcome of every column of a sample of lines, for `rind check --sample`.
///
/// Assign an observer to ``LineProjector/observer``; it costs time, so streams of clients go without.
package struct ProjectionObserver: Sendable {
    /// The outcome of one column.
    package struct ColumnFacts: Hashable, Sendable {
        /// The number of values that were present and had the right type.
        package var values = 0
        /// The number of nulls.
        package var nulls = 0
        /// The number of records in which no source was present.
        package var absent = 0
        /// The number of values of the wrong type.
        package var wrong = 0
        /// The kind of the first value of the wrong type.
        package var wrongKind: JSONKind?
        /// The spelling of the first value of the wrong type, cut to 40 bytes.
        package var wrongExample: String?
        /// True if a value of the wrong type was a date: the column should be a `timestamp`.
        package var wrongIsDate = false
    }

    /// The outcomes by table and column.
    private var facts: [Int: [Int: ColumnFacts]] = [:]

    /// Creates an observer that has seen no lines.
    package init() {}

    /// Returns the outcome of a column; all counts are 0 if no line of its table came.
    package func facts(table: Int, column: Int) -> ColumnFacts { facts[table]?[column] ?? ColumnFacts() }

    /// Returns the number of records of a table that came, as counted for a column.
    package func records(table: Int, column: Int) -> Int {
        let facts = facts(table: table, column: column)
        return facts.values + facts.nulls + facts.absent + facts.wrong
    }

    mutating func note(_ outcome: ColumnValue, _ value: JSONSlice?, table: Int, column: Int) {
        var entry = facts(table: table, column: column)
        switch outcome {
        case .string, .text, .number, .boolean, .milliseconds, .json: entry.values += 1
        case .null: entry.nulls += 1
        case .absent: entry.absent += 1
        case .wrong:
            entry.wrong += 1
            if let value, entry.wrongKind == nil {
                entry.wrongKind = value.kind
                entry.wrongExample = String(decoding: value.bytes.prefix(40), as: UTF8.self)
            }
            if let value, value.kind == .string, ColumnValue.milliseconds(value) != nil { entry.wrongIsDate = true }
        }
        facts[table, default: [:]][column] = entry
    }
}
