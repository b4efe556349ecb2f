// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// The form in which the client gets a value of the backend, by the rules of WatermelonDB's `sanitizedRaw`.
///
/// A value is read once and then written, hashed and, if it is a link, digested.
enum ColumnValue {
    case string(JSONSlice)
    /// A text that needs no escapes and is not the value itself: an id as the client has it.
    case text(UnsafeRawBufferPointer)
    /// A number that is finite as a double.
    case number(JSONSlice)
    case boolean(Bool)
    /// A point in time, in milliseconds since 1970.
    case milliseconds(Int64)
    /// A value other than null whose JSON text the client gets.
    case json(JSONSlice)
    /// `null`, which the column's default replaces.
    case null
    /// No value at all, which the column's default replaces.
    case absent
    /// A value of the wrong type, which the column's default replaces.
    case wrong

    /// Converts a value of the backend to a column's type; nil is no value at all.
    @inline(__always)
    init(_ slice: JSONSlice?, as type: ColumnType) {
        guard let slice else {
            self = .absent
            return
        }
        if case .null = slice.kind {
            self = .null
            return
        }
        switch type {
        case .string:
            // A comparison would go through a witness, since the type lies in another module.
            if case .string = slice.kind { self = .string(slice) } else { self = .wrong }
        case .number: self = slice.isFiniteNumber ? .number(slice) : .wrong
        case .boolean: self = Self.boolean(slice).map { .boolean($0) } ?? .wrong
        case .timestamp: self = Self.milliseconds(slice).map { .milliseconds($0) } ?? .wrong
        case .json: self = .json(slice)
        }
    }

    /// Writes a text and behind it the value, or the default of the column.
    @inline(__always)
    func append(
        after prefix: UnsafeRawBufferPointer, to output: inout JSONWriter, type: ColumnType, isOptional: Bool
    ) {
        switch self {
        case .string(let slice):
            if slice.hasSurrogateEscapes { break }
            return output.append(raw: prefix, then: slice.bytes)
        case .number(let slice):
            if slice.isNegativeZero { break }
            return output.append(raw: prefix, then: slice.bytes)
        case .text, .boolean, .milliseconds, .json, .null, .absent, .wrong: break
        }
        output.append(raw: prefix)
        append(to: &output, type: type, isOptional: isOptional)
    }

    /// Writes the value, or the default of the column.
    func append(to output: inout JSONWriter, type: ColumnType, isOptional: Bool) {
        switch self {
        case .string(let slice): output.append(stringSlice: slice)
        case .text(let text):
            output.append(byte: UInt8(ascii: "\""))
            output.append(raw: text)
            output.append(byte: UInt8(ascii: "\""))
        case .number(let slice): output.append(slice)
        case .boolean(let value): output.append(value)
        case .milliseconds(let value): output.append(value)
        case .json(let slice): output.append(jsonTextOf: slice)
        case .null, .absent, .wrong: Self.appendDefault(of: type, isOptional: isOptional, to: &output)
        }
    }

    /// Writes the value that the client would substitute for a value of the wrong type.
    private static func appendDefault(of type: ColumnType, isOptional: Bool, to output: inout JSONWriter) {
        if isOptional { return output.appendNull() }
        switch type {
        case .string, .json: output.append(raw: "\"\"")
        case .number, .timestamp: output.append(raw: "0")
        case .boolean: output.append(raw: "false")
        }
    }

    /// Returns the truth value of `true`, `false` and the numbers 1 and 0; nil for all else, such as 2 or `"true"`.
    private static func boolean(_ slice: JSONSlice) -> Bool? {
        guard slice.kind == .number else { return slice.bool }
        switch slice.double {
        case 1: return true
        case 0: return false
        default: return nil
        }
    }

    /// Returns milliseconds since 1970 from ISO 8601 or from a number of milliseconds, whose fraction is cut off.
    static func milliseconds(_ slice: JSONSlice) -> Int64? {
        switch slice.kind {
        case .string: return slice.withText { ISOTimestamp.milliseconds(of: $0) }
        case .number:
            guard let value = slice.double, value.magnitude <= Double(ISOTimestamp.range.upperBound) else { return nil }
            return Int64(value)
        default: return nil
        }
    }

    /// Returns the JSON that the client gets for a value from the configuration.
    static func constant(_ literal: Column.Literal, as column: Column) -> [UInt8] {
        var source = JSONWriter()
        switch literal {
        case .string(let text):
            source.append(string: text)
            // In a `json` column the configuration's text is itself the JSON text that the client will see.
            if column.type == .json { return source.bytes }
        case .number(let number): source.append(number)
        case .boolean(let value): source.append(value)
        }
        var output = JSONWriter()
        source.bytes.withUnsafeBytes { bytes in
            let slice = try? JSONScanner.document(bytes)
            ColumnValue(slice, as: column.type).append(to: &output, type: column.type, isOptional: column.isOptional)
        }
        return output.bytes
    }
}
