// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Spells integers in decimal digits, two at a time.
enum DecimalDigits {
    private static let pairs: StaticString = """
        00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354\
        555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
        """

    /// Returns the number of digits, 1 for 0.
    static func count(of value: UInt64) -> Int {
        var count = 1
        var rest = value
        while rest >= 10_000 {
            rest /= 10_000
            count &+= 4
        }
        return count &+ (rest >= 10 ? 1 : 0) &+ (rest >= 100 ? 1 : 0) &+ (rest >= 1_000 ? 1 : 0)
    }

    /// Writes the digits to the bytes before an address.
    static func write(_ value: UInt64, endingAt end: UnsafeMutableRawPointer) {
        let pairs = UnsafeRawPointer(Self.pairs.utf8Start)
        var target = end
        var rest = value
        while rest >= 100 {
            target -= 2
            let pair = Int(truncatingIfNeeded: rest % 100) &* 2
            target.storeBytes(of: pairs.loadUnaligned(fromByteOffset: pair, as: UInt16.self), as: UInt16.self)
            rest /= 100
        }
        if rest >= 10 {
            let pair = Int(truncatingIfNeeded: rest) &* 2
            (target - 2).storeBytes(of: pairs.loadUnaligned(fromByteOffset: pair, as: UInt16.self), as: UInt16.self)
        } else {
            (target - 1).storeBytes(of: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest), as: UInt8.self)
        }
    }
}
