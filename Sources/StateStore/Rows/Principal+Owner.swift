// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

extension Principal {
    /// The number under which the principal's rows are: the first 64 bits of its digits, so that principals that begin
    /// with the same digits are neighbours.
    ///
    /// Two of ten million principals share a number with a chance of 1 in 300,000; then one of them gets an error. A
    /// text that is no digits, as only tests have it, has a number made from its bytes.
    package var owner: Int64 { Self.owners(beginningWith: rawValue)?.lowerBound ?? Self.number(of: rawValue) }

    /// Returns the numbers of the principals whose digits begin with these; nil if they are no hexadecimal digits.
    package static func owners(beginningWith digits: String) -> ClosedRange<Int64>? {
        var (low, high): (UInt64, UInt64) = (0, 0)
        for (index, digit) in digits.utf8.prefix(16).enumerated() {
            guard let value = digit.hexValue else { return nil }
            low |= UInt64(value) << UInt64(60 - index * 4)
        }
        let free = max(0, 16 - digits.utf8.count) * 4
        high = free == 64 ? .max : low | (1 << UInt64(free) - 1)
        return Int64(bitPattern: low ^ 1 << 63)...Int64(bitPattern: high ^ 1 << 63)
    }

    /// Creates the principal that stands for one whose head is damaged, made from its number alone: what is left is erased
    /// under this one, and the syncs of the other still find the damage.
    package init(damaged owner: Int64) {
        let digits = String(UInt64(bitPattern: owner) ^ 1 << 63, radix: 16)
        self.init(rawValue: String(repeating: "0", count: 16 - digits.count) + digits)
    }

    private static func number(of text: String) -> Int64 { Int64(bitPattern: text.utf8.fnv) }
}

extension Int64 {
    /// Reads ``keyBytes``.
    package init(keyBytes bytes: [UInt8]) {
        var bits: UInt64 = 0
        for byte in bytes.prefix(8) { bits = bits << 8 | UInt64(byte) }
        self = Int64(bitPattern: bits ^ 1 << 63)
    }
}
