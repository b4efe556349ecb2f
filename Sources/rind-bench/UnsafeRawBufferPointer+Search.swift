// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension UnsafeRawBufferPointer {
    /// Returns the offset of the first occurrence of some bytes, at least one, from an offset on; nil if there is none.
    ///
    /// The generic search of collections takes so long for each byte that a client would measure itself.
    func firstOffset(of mark: [UInt8], from start: Int = 0) -> Int? {
        guard let base = baseAddress else { return nil }
        var offset = start
        while count - offset >= mark.count, let hit = memchr(base + offset, CInt(mark[0]), count - offset) {
            offset = UnsafeRawPointer(hit) - base
            if count - offset >= mark.count, memcmp(hit, mark, mark.count) == 0 { return offset }
            offset += 1
        }
        return nil
    }

    /// Returns true if the bytes are a text of ASCII characters in any case; `text` is in lower case.
    func equalsIgnoringCase(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return indices.allSatisfy { index in
            let byte = self[index]
            let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            return (isUpper ? byte | 0x20 : byte) == text.utf8Start[index]
        }
    }

    /// The number that the bytes spell in decimal digits, after any spaces; nil if they do not.
    var decimal: Int? {
        let digits = drop { $0 == UInt8(ascii: " ") }
        guard !digits.isEmpty, digits.count < 18 else { return nil }
        var number = 0
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return number
    }
}
