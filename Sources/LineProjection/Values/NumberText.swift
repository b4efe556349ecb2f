// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// A decimal number that stands in a text: `12.50`, `1e3`, ` 7 `, `+7`, `.5`, `007`.
///
/// Nothing else counts as a number: no `NaN`, no hexadecimal, no separators of thousands, no decimal comma. The number
/// borrows from the text.
struct NumberText {
    /// The longest text that is read as a number, in bytes.
    private static let maximumLength = 400

    /// The text without white space around it.
    let text: UnsafeRawBufferPointer
    /// The number as JSON spells it; nil if the text spells it otherwise.
    let slice: JSONSlice?
    /// True if the number is spelled without point and exponent.
    let isInteger: Bool

    /// Reads a text; nil if it is no number that a double can hold.
    init?(_ text: UnsafeRawBufferPointer) {
        let number = text.trimmed
        guard let first = number.first, number.count <= Self.maximumLength else { return nil }
        self.text = number
        let startsAsJSON = first == UInt8(ascii: "-") || first &- UInt8(ascii: "0") < 10
        if startsAsJSON, let slice = try? JSONScanner.document(number), slice.kind == .number {
            guard slice.isNumberOfDouble else { return nil }
            (self.slice, isInteger) = (slice, slice.isInteger)
            return
        }
        guard let isInteger = Self.isInteger(number) else { return nil }
        (slice, self.isInteger) = (nil, isInteger)
        guard isInteger ? Self.isIntegerOfDouble(number) : double.isFinite else { return nil }
    }

    /// The nearest double.
    var double: Double { slice?.double ?? Double(String(decoding: text, as: UTF8.self)) ?? .nan }

    /// True if the number has the same digits when it is read as a double and written again.
    var keepsDigits: Bool { isInteger || significantDigits <= 15 }

    /// The number of digits from the first to the last that is not 0, of those before an exponent.
    private var significantDigits: Int {
        var (count, zeros) = (0, 0)
        for byte in text {
            if byte | 0x20 == UInt8(ascii: "e") { break }
            guard byte &- UInt8(ascii: "0") < 10 else { continue }
            if byte == UInt8(ascii: "0") {
                if count > 0 { zeros += 1 }
            } else {
                count += zeros + 1
                zeros = 0
            }
        }
        return count
    }

    /// Returns whether a double keeps an integer that JSON would spell otherwise, such as `+7` and `-007`.
    private static func isIntegerOfDouble(_ text: UnsafeRawBufferPointer) -> Bool {
        let digits = text.drop { $0 &- UInt8(ascii: "1") >= 9 }
        guard !digits.isEmpty else { return true }
        return (try? JSONScanner.document(UnsafeRawBufferPointer(rebasing: digits)))?.isNumberOfDouble ?? false
    }

    /// Returns whether a text of the form `[+-] digits [. digits] [e [+-] digits]`, with a digit before or behind the
    /// point, has neither point nor exponent; nil for any other text.
    private static func isInteger(_ text: UnsafeRawBufferPointer) -> Bool? {
        var index = 0
        func skipDigits() -> Int {
            let start = index
            while index < text.count, text[index] &- UInt8(ascii: "0") < 10 { index &+= 1 }
            return index &- start
        }
        func skipSign() {
            if index < text.count, text[index] == UInt8(ascii: "+") || text[index] == UInt8(ascii: "-") { index &+= 1 }
        }
        skipSign()
        var digits = skipDigits()
        var isInteger = true
        if index < text.count, text[index] == UInt8(ascii: ".") {
            index &+= 1
            digits += skipDigits()
            isInteger = false
        }
        guard digits > 0 else { return nil }
        if index < text.count, text[index] | 0x20 == UInt8(ascii: "e") {
            index &+= 1
            skipSign()
            guard skipDigits() > 0 else { return nil }
            isInteger = false
        }
        return index == text.count ? isInteger : nil
    }
}
