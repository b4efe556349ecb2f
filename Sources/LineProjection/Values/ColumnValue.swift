// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
package import SyncModel

/// A value as the client's column has it, by the rules of WatermelonDB's `sanitizedRaw` and the column's spellings.
///
/// A value is read once and then written, hashed and, if it is a link, digested. It borrows from the line or the push
/// that it was read from.
package enum ColumnValue {
    case string(JSONSlice)
    /// A text that needs no escapes and is not a text in its source: an id as the client has it, a number's digits.
    case text(UnsafeRawBufferPointer)
    /// A number that a double holds.
    case number(JSONSlice)
    /// A number whose source does not spell it as JSON does.
    case double(Double)
    case boolean(Bool)
    /// A point in time, in milliseconds since 1970; `isAssumed` if its source names no zone and it was taken as UTC.
    case milliseconds(Int64, isAssumed: Bool)
    /// A value other than null whose JSON text the client gets.
    case json(JSONSlice)
    /// `null`, which the column's default replaces.
    case null
    /// No value at all, which the column's default replaces.
    case absent
    /// A value that the column cannot have without a loss, which the column's default replaces.
    case wrong

    /// Reads a value as a column's; nil is no value at all.
    ///
    /// What almost all values are is decided here; every other spelling is left to ``init(spelled:_:)``.
    @inline(__always)
    package init(_ slice: JSONSlice?, as type: ColumnType, _ spelling: ColumnSpelling) {
        guard let slice else {
            self = .absent
            return
        }
        switch (type, slice.kind) {
        case (_, .null): self = .null
        case (.string, .string) where !slice.isEmptyString: self = .string(slice)
        case (.number, .number) where slice.isShortNumber: self = .number(slice)
        case (.boolean, .boolean): self = .boolean(slice.bool == true)
        case (.json, _): self = .json(slice)
        case (.timestamp, .string):
            if !slice.hasEscapes, let milliseconds = CommonTimestamp.milliseconds(of: slice.content) {
                self = .milliseconds(milliseconds, isAssumed: false)
            } else {
                self = Self(spelled: slice, spelling)
            }
        default: self = Self(spelled: slice, spelling)
        }
    }

    /// Reads a value as a column's; nil is no value at all.
    package init(_ slice: JSONSlice?, _ spelling: ColumnSpelling) {
        self.init(slice, as: spelling.type, spelling)
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
        case .text, .double, .boolean, .milliseconds, .json, .null, .absent, .wrong: break
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
        case .double(let value): output.append(value)
        case .boolean(let value): output.append(value)
        case .milliseconds(let value, _): output.append(value)
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

    /// Returns whether the column's default replaces the value.
    package func isReplaced(isOptional: Bool) -> Bool {
        switch self {
        case .wrong, .absent: true
        case .null: !isOptional
        case .string, .text, .number, .double, .boolean, .milliseconds, .json: false
        }
    }

    /// The value in one spelling, by which values of one column are compared; null if there is none.
    package var meaning: JSONValue {
        switch self {
        case .string(let slice): .string(slice.string ?? "")
        case .text(let text): .string(String(decoding: text, as: UTF8.self))
        case .number(let slice): .number(slice.hashedDouble)
        case .double(let value): .number(value)
        case .boolean(let value): .bool(value)
        case .milliseconds(let value, _): .integer(value)
        case .json(let slice): .parsed(slice) ?? .null
        case .null, .absent, .wrong: .null
        }
    }

    /// Returns the JSON that the client gets for a value from the configuration.
    static func constant(_ literal: Column.Literal, as column: Column) -> [UInt8] {
        var source = JSONWriter()
        source.append(literal)
        // In a `json` column the configuration's text is itself the JSON text that the client will see.
        if case .string = literal, column.type == .json { return source.bytes }
        var output = JSONWriter()
        source.bytes.withUnsafeBytes { bytes in
            let slice = try? JSONScanner.document(bytes)
            ColumnValue(slice, ColumnSpelling(column, of: .backend))
                .append(to: &output, type: column.type, isOptional: column.isOptional)
        }
        return output.bytes
    }
}

extension JSONWriter {
    /// Appends a value of the configuration.
    package mutating func append(_ literal: Column.Literal) {
        switch literal {
        case .string(let text): append(string: text)
        case .number(let number): append(number)
        case .boolean(let value): append(value)
        }
    }
}
