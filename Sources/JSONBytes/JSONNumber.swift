// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A number as a document spells it.
package struct JSONNumber: Hashable, Sendable, CustomStringConvertible {
    /// Digits, sign, point and exponent, valid by RFC 8259.
    package let spelling: String

    /// A number from its spelling; nil where that is not JSON's.
    package init?(spelling: String) {
        var text = spelling
        let isNumber = text.withUTF8 { bytes in
            let scanned = try? JSONScanner.document(UnsafeRawBufferPointer(bytes))
            return scanned?.kind == .number && scanned?.bytes.count == bytes.count
        }
        guard isNumber else { return nil }
        self.spelling = text
    }

    init(_ slice: JSONSlice) { spelling = slice.spelling }

    /// An integer.
    package init(_ value: Int64) { spelling = String(value) }

    /// The shortest spelling of a double; nil where it is not finite.
    package init?(_ value: Double) {
        guard value.isFinite else { return nil }
        var writer = JSONWriter()
        writer.append(value)
        spelling = String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The integer, where it is spelled without fraction and exponent and fits.
    package var int64: Int64? { Int64(spelling) }

    /// The nearest double; nil where that is not finite.
    package var double: Double? { Double(spelling).flatMap { $0.isFinite ? $0 : nil } }

    /// The spelling.
    package var description: String { spelling }
}
