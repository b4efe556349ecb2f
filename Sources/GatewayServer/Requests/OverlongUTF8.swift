// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Finds characters encoded in more bytes than needed, which is not UTF-8 (RFC 3629, 3) but is read by some servers.
enum OverlongUTF8 {
    /// Returns the bytes with each such character of ASCII as one byte.
    static func shortened(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(where: { $0 >= 0xC0 }) else { return bytes }
        var result: [UInt8] = []
        var rest = bytes[...]
        while let first = rest.first {
            if let length = length(first), rest.count >= length, let ascii = ascii(rest.prefix(length)) {
                result.append(ascii)
                rest = rest.dropFirst(length)
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    private static func length(_ first: UInt8) -> Int? {
        switch first {
        case 0xC0, 0xC1: 2
        case 0xE0: 3
        case 0xF0: 4
        case 0xF8: 5
        case 0xFC: 6
        default: nil
        }
    }

    /// Returns the character if it is one of ASCII.
    private static func ascii(_ bytes: ArraySlice<UInt8>) -> UInt8? {
        guard let first = bytes.first, bytes.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) else { return nil }
        // The first byte of a pair holds one bit of it; longer ones hold none.
        var value = bytes.count == 2 ? UInt32(first & 0x1F) : 0
        for byte in bytes.dropFirst() { value = value << 6 | UInt32(byte & 0x3F) }
        return value < 0x80 ? UInt8(value) : nil
    }
}
