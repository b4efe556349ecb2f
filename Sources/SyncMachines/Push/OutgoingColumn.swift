// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncModel

/// The way of one column's values from a client to the backend: the spellings that are read, and the one that is sent.
struct OutgoingColumn: Sendable {
    let column: Column
    /// The value that is sent in place of one that cannot be read.
    let fallback: JSONValue
    private let spelling: ColumnSpelling

    init(_ column: Column) {
        self.column = column
        spelling = ColumnSpelling(column, of: .client)
        fallback = Self.fallback(column)
    }

    /// Returns what the backend gets for a value, and whether that is another value.
    func value(of slice: JSONSlice) -> (value: JSONValue, isRepaired: Bool) {
        let value = ColumnValue(slice, spelling)
        if column.reference != nil, let id = slice.integerOfOtherSpelling {
            return Self.text(String(decoding: id, as: UTF8.self), column)
        }
        switch value {
        case .null where column.isOptional: return (.null, false)
        case .null, .absent, .wrong: return (fallback, true)
        default: return Self.sent(value, of: column) ?? (fallback, true)
        }
    }

    /// Returns the form in which the backend gets a value, and whether that is another value; nil if it has none.
    private static func sent(_ value: ColumnValue, of column: Column) -> (JSONValue, Bool)? {
        switch value {
        case .string(let slice): text(slice.string ?? "", column)
        case .text(let bytes): text(String(decoding: bytes, as: UTF8.self), column)
        case .number(let slice): (number(JSONNumber(slice), column), false)
        case .double(let value): JSONNumber(value).map { (number($0, column), false) }
        case .boolean(let value): (boolean(value, column), false)
        case .milliseconds(let value, _): (timestamp(value, column), false)
        case .json(let slice): nested(slice, column).map { ($0, false) }
        case .null, .absent, .wrong: nil
        }
    }

    private static func text(_ text: String, _ column: Column) -> (JSONValue, Bool) {
        if let rule = column.oneOf, !rule.allowed.contains(text) { return (.string(rule.fallback), true) }
        if column.nestsJSON, text.hasPrefix("{") || text.hasPrefix("["), let value = JSONValue.parsed(text) {
            return (value, false)
        }
        // Only a number that comes back as this text.
        if column.isSentAsNumber, text != "-0", let number = JSONNumber(spelling: text), number.isInteger {
            return (.number(number), false)
        }
        // NUL is refused by many databases; genuine clients can hold it.
        let hasNUL = text.utf8.contains(0)
        let limit = column.maximumLength ?? .max
        // As few bytes cannot be more scalars.
        let isLong = text.utf8.count > limit && text.unicodeScalars.count > limit
        guard hasNUL || isLong else { return (.string(text), false) }
        let repaired = text.unicodeScalars.prefix(limit).map { $0.value == 0 ? "\u{FFFD}" : $0 }
        return (.string(String(String.UnicodeScalarView(repaired))), true)
    }

    private static func nested(_ slice: JSONSlice, _ column: Column) -> JSONValue? {
        guard column.type == .json, let text = slice.string else { return .parsed(slice) }
        return text.isEmpty ? .null : .parsed(text)
    }

    private static func number(_ number: JSONNumber, _ column: Column) -> JSONValue {
        column.isDecimal ? .string(number.spelling) : .number(number)
    }

    private static func boolean(_ value: Bool, _ column: Column) -> JSONValue {
        switch value ? column.words?.yes : column.words?.no {
        case .string(let word): .string(word)
        case .number(let number): JSONNumber(number).map { .number($0) } ?? .bool(value)
        case .boolean, nil: .bool(value)
        }
    }

    private static func timestamp(_ milliseconds: Int64, _ column: Column) -> JSONValue {
        switch column.timestampFormat {
        case .millis: .integer(milliseconds)
        case .seconds: .integer(milliseconds / 1_000 - (milliseconds % 1_000 < 0 ? 1 : 0))
        case .iso: .string(ISO8601.text(milliseconds: milliseconds, offset: column.zone?.offset(at: milliseconds)))
        case .http: .string(ISO8601.httpDate(milliseconds: milliseconds))
        case .date:
            .string(
                String(
                    ISO8601.text(milliseconds: milliseconds, offset: column.zone?.offset(at: milliseconds))
                        .prefix { $0 != "T" }))
        }
    }

    /// Returns the column's default in the form in which the backend has values.
    private static func fallback(_ column: Column) -> JSONValue {
        if let literal = column.fallback {
            var writer = JSONWriter()
            writer.append(literal)
            let value = writer.bytes.withUnsafeBytes { bytes in
                let value = ColumnValue(try? JSONScanner.document(bytes), ColumnSpelling(column, of: .backend))
                return sent(value, of: column)?.0
            }
            if let value { return value }
        }
        if column.isOptional { return .null }
        switch column.type {
        case .string: return .string(column.oneOf?.fallback ?? "")
        case .number: return number(JSONNumber(0 as Int64), column)
        case .boolean: return boolean(false, column)
        case .timestamp: return timestamp(0, column)
        case .json: return .null
        }
    }
}
