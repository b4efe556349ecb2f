// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Reads the integers that are spelled with a fraction or an exponent, such as `17.0` and `1.7e1`.
enum IntegerSpelling {
    /// Returns the decimal digits of a valid number if it is an integer below 2^53; nil for any other.
    ///
    /// Whoever spells an integer so has computed with doubles, in which a larger one may have been another.
    static func digits(of spelling: some Collection<UInt8>) -> [UInt8]? {
        let mantissa = spelling.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        var digits: [UInt8] = []
        var (isFraction, power) = (false, 0)
        for byte in mantissa where byte != UInt8(ascii: "-") {
            guard byte != UInt8(ascii: ".") else {
                isFraction = true
                continue
            }
            if isFraction { power -= 1 }
            if byte != UInt8(ascii: "0") || !digits.isEmpty { digits.append(byte) }
        }
        guard !digits.isEmpty else { return [UInt8(ascii: "0")] }
        if mantissa.count < spelling.count {
            let exponent = String(decoding: spelling.dropFirst(mantissa.count + 1), as: UTF8.self)
            guard let exponent = Int32(exponent) else { return nil }
            power += Int(exponent)
        }
        while power < 0, digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            power += 1
        }
        guard (0...16).contains(power) else { return nil }
        digits += Array(repeating: UInt8(ascii: "0"), count: power)
        guard let value = Int64(String(decoding: digits, as: UTF8.self)), value < 1 << 53 else { return nil }
        return spelling.first == UInt8(ascii: "-") ? [UInt8(ascii: "-")] + digits : digits
    }
}

extension JSONValue {
    /// The text by which a value names a record, as ``JSONSlice/idText`` is.
    package var idText: String? {
        switch self {
        case .string(let text): text.isEmpty ? nil : text
        case .number(let number): number.integerDigits
        case .null, .bool, .array, .object: nil
        }
    }
}

extension JSONNumber {
    /// The decimal digits of an integer, however it is spelled; nil for any other number.
    var integerDigits: String? {
        if isInteger, spelling != "-0" { return spelling }
        return IntegerSpelling.digits(of: spelling.utf8).map { String(decoding: $0, as: UTF8.self) }
    }
}
