// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

// Eight letters at a time: as bytes of a word, the first one lowest. Their values, 0…63, follow the order of ASCII:
// - 0…9 A…Z _ a…z.
extension PackedID {
    /// Returns the number of bytes that `count` letters take.
    @inline(__always)
    static func lettersBytes(_ count: Int) -> Int { (6 &* count &+ 7) &>> 3 }

    /// Writes letters with 6 bits each; returns false, after writing any bytes, if one of them is not among the 64.
    @inline(__always)
    static func writeLetters(_ id: UnsafeRawPointer, count: Int, to target: UnsafeMutableRawPointer) -> Bool {
        var offset = 0
        var end = target
        while offset &+ 8 <= count {
            guard let packed = packed(UInt64(littleEndian: (id + offset).loadUnaligned(as: UInt64.self))) else {
                return false
            }
            end.storeBytes(of: packed.littleEndian, as: UInt64.self)
            offset &+= 8
            end += 6
        }
        guard offset < count else { return true }
        // The value of a hyphen is 0.
        var rest: UInt64 = 0x2d2d_2d2d_2d2d_2d2d
        if count >= 8 {
            let last = UInt64(littleEndian: (id + (count &- 8)).loadUnaligned(as: UInt64.self))
            let bits = UInt64(truncatingIfNeeded: count &- offset) &* 8
            rest = rest &<< bits | last &>> (64 &- bits)
        } else {
            for index in stride(from: count &- 1, through: 0, by: -1) {
                rest = rest &<< 8 | UInt64(id.load(fromByteOffset: index, as: UInt8.self))
            }
        }
        guard let packed = packed(rest) else { return false }
        end.storeBytes(of: packed.littleEndian, as: UInt64.self)
        return true
    }

    /// Writes the letters that begin at an offset, and up to seven bytes more.
    @inline(__always)
    static func readLetters(
        _ bytes: UnsafeRawBufferPointer, at start: Int, count: Int, to text: UnsafeMutableRawPointer
    ) {
        var offset = start
        var done = 0
        while done < count {
            var word: UInt64 = 0
            if offset &+ 8 <= bytes.count {
                word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            } else {
                for index in stride(from: bytes.count &- 1, through: offset, by: -1) {
                    word = word &<< 8 | UInt64(bytes[index])
                }
            }
            (text + done).storeBytes(of: unpacked(word).littleEndian, as: UInt64.self)
            offset &+= 6
            done &+= 8
        }
    }

    /// Returns the 48 bits of eight letters; nil if one of them is not among the 64.
    @inline(__always)
    private static func packed(_ letters: UInt64) -> UInt64? {
        guard letters & 0x8080_8080_8080_8080 == 0 else { return nil }
        let offsets =
            0x2d2d_2d2d_2d2d_2d2d &+ atLeast(0x30, letters) &* 2 &+ atLeast(0x41, letters) &* 7
            &+ atLeast(0x5f, letters) &* 4 &+ atLeast(0x61, letters)
        // The high bit is set, so that no byte borrows from the next.
        var values = ((letters | 0x8080_8080_8080_8080) &- offsets) & 0x7f7f_7f7f_7f7f_7f7f
        guard values & 0x4040_4040_4040_4040 == 0, spelled(values) == letters else { return nil }
        values = values & 0x003f_003f_003f_003f | (values & 0x3f00_3f00_3f00_3f00) &>> 2
        values = values & 0x0000_0fff_0000_0fff | (values & 0x0fff_0000_0fff_0000) &>> 4
        return values & 0x0000_0000_00ff_ffff | (values & 0x00ff_ffff_0000_0000) &>> 8
    }

    /// Returns the eight letters of 48 bits.
    @inline(__always)
    private static func unpacked(_ word: UInt64) -> UInt64 {
        var values = word & 0x0000_0000_00ff_ffff | (word & 0x0000_ffff_ff00_0000) &<< 8
        values = values & 0x0000_0fff_0000_0fff | (values & 0x00ff_f000_00ff_f000) &<< 4
        values = values & 0x003f_003f_003f_003f | (values & 0x0fc0_0fc0_0fc0_0fc0) &<< 2
        return spelled(values)
    }

    @inline(__always)
    private static func spelled(_ values: UInt64) -> UInt64 {
        let digits = values &+ 0x2d2d_2d2d_2d2d_2d2d &+ atLeast(1, values) &* 2
        return digits &+ atLeast(11, values) &* 7 &+ atLeast(37, values) &* 4 &+ atLeast(38, values)
    }

    /// Returns a word with 1 in every byte that is at least `limit`; no byte of `word` may be over 127.
    @inline(__always)
    private static func atLeast(_ limit: UInt64, _ word: UInt64) -> UInt64 {
        (word &+ (0x80 &- limit) &* 0x0101_0101_0101_0101) &>> 7 & 0x0101_0101_0101_0101
    }
}
