// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The reason why some bytes are not the JSON that was asked for, and the first offset that shows it.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error; the raw value is the stable code for logs, metrics and documentation.
    package enum Code: String, CaseIterable, Sendable {
        /// White space only, or no bytes at all.
        case empty = "json.empty"
        /// The document stops in the middle of a value.
        case unexpectedEnd = "json.unexpected_end"
        /// A byte that the grammar does not allow at its offset.
        case unexpectedByte = "json.unexpected_byte"
        /// More text than white space behind the value.
        case trailingText = "json.trailing_text"
        /// A string with bytes that are not UTF-8 by RFC 3629.
        case invalidUTF8 = "json.invalid_utf8"
        /// A control character that stands in a string without being escaped.
        case controlCharacter = "json.control_character"
        /// A backslash that does not begin one of the escapes of RFC 8259.
        case invalidEscape = "json.invalid_escape"
        /// A number that RFC 8259 does not know, such as `01`, `1.` or `+1`.
        case invalidNumber = "json.invalid_number"
        /// Arrays and objects nested deeper than the limit.
        case tooDeep = "json.too_deep"
        /// More bytes than the limit.
        case tooLarge = "json.too_large"
        /// More values and members than the limit.
        case tooManyElements = "json.too_many_elements"
    }

    /// The kind of error.
    package let code: Code
    /// The offset of the first byte that is wrong, from the first byte of the document; for ``Code/tooLarge`` the
    /// limit.
    package let offset: Int

    /// Creates an error at a byte.
    package init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// One sentence for users, without any of the document's bytes.
    package var description: String {
        switch code {
        case .empty: "expected a JSON value, found nothing"
        case .unexpectedEnd: "the JSON ends at byte \(offset) in the middle of a value"
        case .unexpectedByte: "the byte at \(offset) cannot stand there in JSON"
        case .trailingText: "more text follows the JSON value at byte \(offset)"
        case .invalidUTF8: "the string at byte \(offset) is not UTF-8"
        case .controlCharacter: "the control character at byte \(offset) is not escaped"
        case .invalidEscape: "the escape at byte \(offset) is none of JSON's"
        case .invalidNumber: "the number at byte \(offset) is not written as JSON wants it"
        case .tooDeep: "the JSON is nested too deeply at byte \(offset)"
        case .tooLarge: "the JSON has more bytes than the limit of \(offset)"
        case .tooManyElements: "the JSON has more elements than allowed, counted up to byte \(offset)"
        }
    }
}
