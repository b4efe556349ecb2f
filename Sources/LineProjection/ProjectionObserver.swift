// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes

/// What came of every column of a sample of lines, for `rind check --sample`.
///
/// Give one to ``LineProjector/observer``; it costs time, so streams of clients go without.
package struct ProjectionObserver: Sendable {
    /// What came of one column.
    package struct ColumnFacts: Hashable, Sendable {
        /// How often a value was there and fitted.
        package var values = 0
        /// How often it was null.
        package var nulls = 0
        /// How often no source was present.
        package var absent = 0
        /// How often a value was of the wrong type.
        package var wrong = 0
        /// The kind of the first value of the wrong type.
        package var wrongKind: JSONKind?
        /// How that value was spelled, cut to 40 bytes.
        package var wrongExample: String?
        /// Whether a value of the wrong type was a date: the column should be a `timestamp`.
        package var wrongIsDate = false
    }

    /// By table and column.
    private var facts: [Int: [Int: ColumnFacts]] = [:]

    /// An observer that has seen nothing.
    package init() {}

    /// What came of a column; nothing where no line of its table came.
    package func facts(table: Int, column: Int) -> ColumnFacts { facts[table]?[column] ?? ColumnFacts() }

    /// How many records of a table came, counted by what came of a column.
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
