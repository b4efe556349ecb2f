// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
import SyncModel

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
        /// The number of values in another spelling than the column's own.
        package var converted = 0
        /// The kind of the first of them.
        package var convertedKind: JSONKind?
        /// The spelling of the first of them, cut to 40 bytes.
        package var convertedExample: String?
        /// The number of times that name no zone.
        package var local = 0
        /// The different spellings of a truth value that is not one in JSON, three at most.
        package var words: Set<String> = []
    }

    /// A value that an app gets in another spelling than it came in.
    package struct Conversion: Hashable, Sendable {
        /// The table's index.
        package let table: Int
        /// The column's index.
        package let column: Int
        /// The value as it came, cut to 80 bytes.
        package let value: String
        /// The value that apps get; nil for the column's default, because the value cannot be read.
        package let app: String?
    }

    /// The conversions since they were last emptied.
    package var conversions: [Conversion] = []

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

    mutating func note(_ outcome: ColumnValue, _ value: JSONSlice?, table: Int, column: Int, type: ColumnType) {
        var entry = facts(table: table, column: column)
        var app: String?
        switch outcome {
        case .null where value?.isNull == true: entry.nulls += 1
        case .absent: entry.absent += 1
        case .wrong:
            entry.wrong += 1
            if let value, entry.wrongKind == nil {
                entry.wrongKind = value.kind
                entry.wrongExample = String(decoding: value.bytes.prefix(40), as: UTF8.self)
            }
            if let value, value.kind == .string, value.withText({ ISOTimestamp.moment(of: $0) }) != nil {
                entry.wrongIsDate = true
            }
        case .null, .string, .text, .number, .double, .boolean, .milliseconds, .json:
            entry.values += 1
            if case .milliseconds(_, isAssumed: true) = outcome { entry.local += 1 }
            if let value, !Self.isPlain(value, type) {
                entry.converted += 1
                if entry.convertedKind == nil {
                    entry.convertedKind = value.kind
                    entry.convertedExample = String(decoding: value.bytes.prefix(40), as: UTF8.self)
                }
                app = outcome.json(of: type)
            }
        }
        if let value, type == .boolean, value.kind == .string || value.kind == .number, entry.words.count < 3 {
            entry.words.insert(value.spelling)
        }
        facts[table, default: [:]][column] = entry
        let isWrong = if case .wrong = outcome { true } else { false }
        guard let value, app != nil || isWrong else { return }
        conversions.append(
            Conversion(
                table: table, column: column, value: String(decoding: value.bytes.prefix(80), as: UTF8.self), app: app))
    }

    /// Returns whether a value is in the spelling that a column's type has of its own.
    private static func isPlain(_ value: JSONSlice, _ type: ColumnType) -> Bool {
        switch type {
        case .string: value.kind == .string
        case .number: value.kind == .number
        case .boolean: value.kind == .boolean
        case .timestamp:
            value.kind == .number
                || value.kind == .string && value.withText { ISOTimestamp.moment(of: $0)?.isZoned == true }
        case .json: true
        }
    }
}

extension ColumnValue {
    /// Returns the JSON that an app gets.
    fileprivate func json(of type: ColumnType) -> String {
        var output = JSONWriter()
        append(to: &output, type: type, isOptional: true)
        return String(decoding: output.bytes, as: UTF8.self)
    }
}
