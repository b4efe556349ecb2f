// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

// Hexadecimal digits are handled eight at a time: as digits in the bytes of a word, the first one lowest.
extension PackedID {
    /// Writes 16 bytes for a canonical lower-case UUID of 36 characters; returns false if the id is none.
    @inline(__always)
    static func writeUUID(_ id: UnsafeRawPointer, to target: UnsafeMutableRawPointer) -> Bool {
        let hyphen = UInt8(ascii: "-")
        guard id.load(fromByteOffset: 8, as: UInt8.self) == hyphen,
            id.load(fromByteOffset: 13, as: UInt8.self) == hyphen,
            id.load(fromByteOffset: 18, as: UInt8.self) == hyphen, id.load(fromByteOffset: 23, as: UInt8.self) == hyphen
        else { return false }
        let first = word(id)
        let second = half(id + 9) | half(id + 14) &<< 32
        let third = half(id + 19) | half(id + 24) &<< 32
        let fourth = word(id + 28)
        let low = UInt64(value(first)) | UInt64(value(second)) &<< 32
        let high = UInt64(value(third)) | UInt64(value(fourth)) &<< 32
        // If the bytes give the same digits again, the digits were hexadecimal and in lower case.
        guard digits(UInt32(truncatingIfNeeded: low)) == first,
            digits(UInt32(truncatingIfNeeded: low &>> 32)) == second,
            digits(UInt32(truncatingIfNeeded: high)) == third, digits(UInt32(truncatingIfNeeded: high &>> 32)) == fourth
        else { return false }
        target.storeBytes(of: low.littleEndian, as: UInt64.self)
        (target + 8).storeBytes(of: high.littleEndian, as: UInt64.self)
        return true
    }

    /// Writes the 36 characters of the 16 bytes at an offset.
    @inline(__always)
    static func readUUID(_ bytes: UnsafeRawBufferPointer, at offset: Int, to text: UnsafeMutableRawPointer) {
        let low = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let high = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self))
        let second = digits(UInt32(truncatingIfNeeded: low &>> 32))
        let third = digits(UInt32(truncatingIfNeeded: high))
        let hyphen = UInt8(ascii: "-")
        text.storeBytes(of: digits(UInt32(truncatingIfNeeded: low)).littleEndian, as: UInt64.self)
        text.storeBytes(of: hyphen, toByteOffset: 8, as: UInt8.self)
        text.storeBytes(of: UInt32(truncatingIfNeeded: second).littleEndian, toByteOffset: 9, as: UInt32.self)
        text.storeBytes(of: hyphen, toByteOffset: 13, as: UInt8.self)
        text.storeBytes(of: UInt32(truncatingIfNeeded: second &>> 32).littleEndian, toByteOffset: 14, as: UInt32.self)
        text.storeBytes(of: hyphen, toByteOffset: 18, as: UInt8.self)
        text.storeBytes(of: UInt32(truncatingIfNeeded: third).littleEndian, toByteOffset: 19, as: UInt32.self)
        text.storeBytes(of: hyphen, toByteOffset: 23, as: UInt8.self)
        text.storeBytes(of: UInt32(truncatingIfNeeded: third &>> 32).littleEndian, toByteOffset: 24, as: UInt32.self)
        let fourth = digits(UInt32(truncatingIfNeeded: high &>> 32))
        text.storeBytes(of: fourth.littleEndian, toByteOffset: 28, as: UInt64.self)
    }

    /// Returns the four bytes of eight digits; any number if the characters are not digits.
    @inline(__always)
    private static func value(_ digits: UInt64) -> UInt32 {
        var value = (digits & 0x0f0f_0f0f_0f0f_0f0f) &+ (digits &>> 6 & 0x0101_0101_0101_0101) &* 9
        value &= 0x0f0f_0f0f_0f0f_0f0f
        value = (value &<< 4 | value &>> 8) & 0x00ff_00ff_00ff_00ff
        value = (value | value &>> 8) & 0x0000_ffff_0000_ffff
        return UInt32(truncatingIfNeeded: value | value &>> 16)
    }

    /// Returns the eight lower-case digits of four bytes.
    @inline(__always)
    private static func digits(_ value: UInt32) -> UInt64 {
        var word = UInt64(value)
        word = (word | word &<< 16) & 0x0000_ffff_0000_ffff
        word = (word | word &<< 8) & 0x00ff_00ff_00ff_00ff
        word = (word &>> 4 & 0x000f_000f_000f_000f) | (word & 0x000f_000f_000f_000f) &<< 8
        let letters = (word &+ 0x7676_7676_7676_7676) &>> 7 & 0x0101_0101_0101_0101
        return word &+ 0x3030_3030_3030_3030 &+ letters &* 39
    }

    @inline(__always)
    private static func word(_ pointer: UnsafeRawPointer) -> UInt64 {
        UInt64(littleEndian: pointer.loadUnaligned(as: UInt64.self))
    }

    @inline(__always)
    private static func half(_ pointer: UnsafeRawPointer) -> UInt64 {
        UInt64(UInt32(littleEndian: pointer.loadUnaligned(as: UInt32.self)))
    }
}
