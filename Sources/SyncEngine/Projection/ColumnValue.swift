// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// Turns values of the backend into values of the client, by the rules of watermelon-protocol b.1.
enum ColumnValue {
    /// How a value came out.
    enum Outcome {
        /// It was written.
        case value
        /// It is `null`, and the default was written.
        case null
        /// There is none, and the default was written.
        case absent
        /// It is of the wrong type, and the default was written.
        case wrong
    }

    /// Writes the value of a column, or its default.
    @inline(__always)
    static func append(
        _ slice: JSONSlice?, type: ColumnType, isOptional: Bool, to output: inout JSONWriter
    ) -> Outcome {
        guard let slice else {
            appendDefault(of: type, isOptional: isOptional, to: &output)
            return .absent
        }
        if slice.isNull {
            appendDefault(of: type, isOptional: isOptional, to: &output)
            return .null
        }
        if appendValue(slice, type: type, to: &output) { return .value }
        appendDefault(of: type, isOptional: isOptional, to: &output)
        return .wrong
    }

    /// Writes what the client would take for a value of the wrong type.
    static func appendDefault(of type: ColumnType, isOptional: Bool, to output: inout JSONWriter) {
        if isOptional { return output.appendNull() }
        switch type {
        case .string, .json: output.append(raw: "\"\"")
        case .number, .timestamp: output.append(raw: "0")
        case .boolean: output.append(raw: "false")
        }
    }

    /// Writes a value that is not null, or nothing where it does not fit the type.
    @inline(__always)
    private static func appendValue(_ slice: JSONSlice, type: ColumnType, to output: inout JSONWriter) -> Bool {
        switch type {
        case .string:
            guard slice.kind == .string else { return false }
            output.append(stringSlice: slice)
        case .number:
            guard slice.isFiniteNumber else { return false }
            output.append(slice)
        case .boolean:
            guard let value = boolean(slice) else { return false }
            output.append(value)
        case .timestamp:
            guard let milliseconds = milliseconds(slice) else { return false }
            output.append(milliseconds)
        case .json: output.append(jsonTextOf: slice)
        }
        return true
    }

    /// `true`, `false`, and the numbers 1 and 0, but not 2 and not `"true"`.
    private static func boolean(_ slice: JSONSlice) -> Bool? {
        guard slice.kind == .number else { return slice.bool }
        switch slice.double {
        case 1: return true
        case 0: return false
        default: return nil
        }
    }

    /// Milliseconds since 1970 from ISO 8601 or from a number of them, whose fraction is cut off.
    static func milliseconds(_ slice: JSONSlice) -> Int64? {
        switch slice.kind {
        case .string: return slice.withText { ISOTimestamp.milliseconds(of: $0) }
        case .number:
            guard let value = slice.double, value.magnitude <= Double(ISOTimestamp.range.upperBound) else { return nil }
            return Int64(value)
        default: return nil
        }
    }

    /// The JSON of a value from the configuration.
    static func constant(_ literal: Column.Literal, as column: Column) -> [UInt8] {
        var source = JSONWriter()
        switch literal {
        case .string(let text):
            source.append(string: text)
            // In a `json` column the configuration writes the JSON text that the client will see.
            if column.type == .json { return source.bytes }
        case .number(let number): source.append(number)
        case .boolean(let value): source.append(value)
        }
        var output = JSONWriter()
        source.bytes.withUnsafeBytes { bytes in
            let slice = try? JSONScanner.document(bytes)
            _ = append(slice, type: column.type, isOptional: column.isOptional, to: &output)
        }
        return output.bytes
    }
}
