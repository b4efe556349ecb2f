// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A number as a document spells it.
package struct JSONNumber: Hashable, Sendable, CustomStringConvertible {
    /// The digits, sign, point and exponent as the document has them, valid by RFC 8259.
    package let spelling: String

    /// Creates a number from its spelling; nil if RFC 8259 does not allow the spelling.
    package init?(spelling: String) {
        var text = spelling
        let isNumber = text.withUTF8 { bytes in
            let scanned = try? JSONScanner.document(UnsafeRawBufferPointer(bytes))
            return scanned?.kind == .number && scanned?.bytes.count == bytes.count
        }
        guard isNumber else { return nil }
        self.spelling = text
    }

    /// Creates a number from a scanned one.
    ///
    /// - Precondition: The slice is a number.
    package init(_ slice: JSONSlice) {
        precondition(slice.kind == .number, "only numbers are taken as numbers")
        spelling = slice.spelling
    }

    /// Creates a number from an integer, in decimal digits.
    package init(_ value: Int64) { spelling = String(value) }

    /// Creates a number with the shortest spelling of a double; nil if the double is not finite.
    package init?(_ value: Double) {
        guard value.isFinite else { return nil }
        var writer = JSONWriter()
        writer.append(value)
        spelling = String(decoding: writer.bytes, as: UTF8.self)
    }

    /// True if the number is spelled without fraction and exponent.
    package var isInteger: Bool { spelling.utf8.allSatisfy { $0 == UInt8(ascii: "-") || $0 &- 0x30 < 10 } }

    /// The integer; nil if the number is spelled with a fraction or an exponent, or does not fit.
    package var int64: Int64? { Int64(spelling) }

    /// The nearest double; nil if that is not finite.
    package var double: Double? { Double(spelling).flatMap { $0.isFinite ? $0 : nil } }

    /// The number as it is spelled.
    package var description: String { spelling }
}
