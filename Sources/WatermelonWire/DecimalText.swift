// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A decimal number by its text, without conversion to a floating-point number, which could round it up.
struct DecimalText {
    /// True if the number is below zero; minus zero is not.
    let isNegative: Bool
    /// The number without sign and fraction, cut to `Int64.max`.
    let truncated: Int64
    /// True if there are only zeros behind the point.
    let isWhole: Bool

    /// The greatest length that is read; JavaScript writes no number longer than 25 characters.
    private static let maximumLength = 400

    /// Reads digits with an optional minus sign, fraction and exponent; nil if the text is anything else.
    ///
    /// The plus sign of an exponent may be a space, since an unencoded one becomes a space in a query.
    init?(_ text: some Collection<UInt8>) {
        guard text.count <= Self.maximumLength else { return nil }
        var rest = Array(text)[...]
        let minus = rest.first == UInt8(ascii: "-")
        if minus { rest.removeFirst() }
        var digits = Self.takeDigits(&rest)
        guard !digits.isEmpty else { return nil }
        var point = digits.count
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            let fraction = Self.takeDigits(&rest)
            guard !fraction.isEmpty else { return nil }
            digits += fraction
        }
        if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            let sign = rest.first ?? 0
            if "+- ".utf8.contains(sign) { rest.removeFirst() }
            let exponent = Self.takeDigits(&rest)
            guard !exponent.isEmpty else { return nil }
            let size = Int(Self.saturated(exponent, count: exponent.count, limit: 100_000))
            point += sign == UInt8(ascii: "-") ? -size : size
        }
        guard rest.isEmpty else { return nil }
        isNegative = minus && digits.contains { $0 != 0 }
        truncated = Self.saturated(digits, count: point, limit: .max)
        isWhole = digits.dropFirst(max(0, point)).allSatisfy { $0 == 0 }
    }

    private static func takeDigits(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        let zero = UInt8(ascii: "0")
        let digits = rest.prefix { (zero...zero + 9).contains($0) }
        rest = rest.dropFirst(digits.count)
        return digits.map { $0 - zero }
    }

    /// Returns the value of the first `count` digits, with zeros for missing ones, or `limit` if the value is greater.
    private static func saturated(_ digits: [UInt8], count: Int, limit: Int64) -> Int64 {
        var value: Int64 = 0
        for index in 0..<max(0, count) {
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(index < digits.count ? Int64(digits[index]) : 0)
            if overflow || carry || sum > limit { return limit }
            if index >= digits.count, sum == 0 { return 0 }
            value = sum
        }
        return value
    }
}
