// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Numbers as JavaScript writes and reads them (ECMA-262, Number::toString and parseInt).
package enum JavaScriptNumber {
    /// Returns the text of a number: digits up to 10^21, an exponent beyond that and below 10^-6.
    package static func text(_ number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        if number == 0 { return "0" }
        let (digits, exponent) = shortest(number.magnitude)
        // The point stands behind this many digits.
        let point = exponent + 1
        let text: String
        if point > 21 || point < -5 {
            let fraction = digits.count > 1 ? "." + digits.dropFirst() : ""
            text = digits.prefix(1) + fraction + (exponent < 0 ? "e-" : "e+") + String(exponent.magnitude)
        } else if point <= 0 {
            text = "0." + String(repeating: "0", count: -point) + digits
        } else if digits.count <= point {
            text = digits + String(repeating: "0", count: point - digits.count)
        } else {
            text = digits.prefix(point) + "." + digits.dropFirst(point)
        }
        return number < 0 ? "-" + text : text
    }

    /// Parses a text without sign as `parseInt(text, 10)` does; returns nil for NaN.
    package static func parseInt(_ text: String) -> Double? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        return digits.isEmpty ? nil : Double(digits)
    }

    /// Returns the fewest digits that read back as the number, and the exponent of the first one.
    private static func shortest(_ number: Double) -> (digits: String, exponent: Int) {
        let parts = number.description.split(separator: "e")
        let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        var digits = mantissa.joined()
        var exponent = mantissa[0].count - 1 + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        while digits.hasPrefix("0") {
            digits.removeFirst()
            exponent -= 1
        }
        while digits.hasSuffix("0") { digits.removeLast() }
        return (digits, exponent)
    }
}
