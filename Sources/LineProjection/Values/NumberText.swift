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
        guard (1...Self.maximumLength).contains(number.count), let grammar = Self.grammar(of: number) else {
            return nil
        }
        self.text = number
        isInteger = grammar.isInteger
        slice = grammar.isJSON ? try? JSONScanner.document(number) : nil
        if let slice {
            guard slice.isNumberOfDouble else { return nil }
        } else {
            let isExact = !isInteger || (Int64(String(decoding: number, as: UTF8.self))?.magnitude ?? .max) <= 1 << 53
            guard isExact, double.isFinite else { return nil }
        }
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

    /// Returns the properties of a text of the form `[+-] digits [. digits] [e [+-] digits]`, with a digit before or
    /// behind the point; nil for any other.
    private static func grammar(of text: UnsafeRawBufferPointer) -> (isInteger: Bool, isJSON: Bool)? {
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
        var isJSON = text[0] != UInt8(ascii: "+")
        let first = index
        let whole = skipDigits()
        if whole == 0 || whole > 1 && text[first] == UInt8(ascii: "0") { isJSON = false }
        var isInteger = true
        var fraction = 0
        if index < text.count, text[index] == UInt8(ascii: ".") {
            index &+= 1
            fraction = skipDigits()
            isInteger = false
            if fraction == 0 { isJSON = false }
        }
        guard whole + fraction > 0 else { return nil }
        if index < text.count, text[index] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            index &+= 1
            skipSign()
            guard skipDigits() > 0 else { return nil }
        }
        return index == text.count ? (isInteger, isJSON) : nil
    }
}
