// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension JSONSlice {
    /// The truth value; nil for other kinds.
    package var bool: Bool? {
        kind == .boolean ? start.load(as: UInt8.self) == UInt8(ascii: "t") : nil
    }

    /// The integer; nil unless the value is a number without fraction and exponent that fits; `-0` is 0.
    ///
    /// `1.0` and `1e3` give nil: a caller that accepts them as integers uses ``double``.
    package var int64: Int64? {
        guard isInteger else { return nil }
        let isNegative = start.load(as: UInt8.self) == UInt8(ascii: "-")
        var value: Int64 = 0
        for digit in bytes.dropFirst(isNegative ? 1 : 0) {
            // Counted downward, because there is one more negative number than positive ones.
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            let (next, borrow) = tens.subtractingReportingOverflow(Int64(digit &- UInt8(ascii: "0")))
            if overflow || borrow { return nil }
            value = next
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    /// The nearest double; nil for other kinds and for numbers that are not finite as doubles, such as `1e400`.
    ///
    /// `-0` gives -0.0 and `1e-400` gives 0.
    package var double: Double? {
        guard kind == .number else { return nil }
        if length <= 15, isInteger, let value = int64 {
            return value == 0 && start.load(as: UInt8.self) == UInt8(ascii: "-") ? -0.0 : Double(value)
        }
        let value = Double(spelling)
        return value?.isFinite == true ? value : nil
    }

    /// True if the value is a number of at most 15 characters without an exponent, which any double holds well enough.
    @inline(__always)
    package var isShortNumber: Bool { kind == .number && length <= 15 && !flags.contains(.exponent) }

    /// True if the value is a number that is finite as a double, and no integer whose digits a double loses.
    ///
    /// An integer beyond 2^53 keeps them if a double is exactly that, or if JavaScript would write one so.
    package var isNumberOfDouble: Bool {
        if isShortNumber { return true }
        guard isFiniteNumber else { return false }
        return !isInteger || keepsDigits
    }

    @inline(never)
    private var keepsDigits: Bool {
        if let value = int64, value.magnitude <= 1 << 53 || Int64(exactly: Double(value)) == value { return true }
        func significant(_ digits: some Collection<UInt8>) -> [UInt8] {
            var digits = Array(digits.prefix { $0 | 0x20 != UInt8(ascii: "e") }.filter { $0 &- UInt8(ascii: "0") < 10 })
            while digits.last == UInt8(ascii: "0") { digits.removeLast() }
            return digits
        }
        return double.map { significant($0.description.utf8) == significant(bytes) } ?? false
    }

    /// True if the value is a number that is finite as a double.
    ///
    /// A number without exponent overflows only with 309 digits or more, so almost no number is converted for the
    /// answer.
    package var isFiniteNumber: Bool {
        guard kind == .number else { return false }
        if !flags.contains(.exponent), length < 300 { return true }
        return double != nil
    }

    /// The decimal digits of an integer that is spelled otherwise, such as `17.0`, `1.7e1` or `-0`; nil for any other
    /// value.
    package var integerOfOtherSpelling: [UInt8]? {
        kind == .number && (!isInteger || isNegativeZero) ? IntegerSpelling.digits(of: bytes) : nil
    }

    /// The text by which a value names a record: a text that is not empty, or an integer in decimal digits, however it
    /// is spelled; nil for all others.
    package var idText: String? {
        switch kind {
        case .string: isEmptyString ? nil : string
        case .number: JSONNumber(self).integerDigits
        case .null, .boolean, .array, .object: nil
        }
    }

    /// True if the value is a number that equals 0 and whose spelling begins with a minus sign.
    package var isNegativeZero: Bool {
        guard kind == .number, start.load(as: UInt8.self) == UInt8(ascii: "-") else { return false }
        for byte in bytes.dropFirst() {
            switch byte {
            case UInt8(ascii: "0"), UInt8(ascii: "."): continue
            case UInt8(ascii: "e"), UInt8(ascii: "E"): return true
            default: return double == 0
            }
        }
        return true
    }
}
