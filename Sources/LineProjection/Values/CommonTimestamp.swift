// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Reads the two spellings that almost all backends use, `2026-01-02T03:04:05.678Z` and `2026-01-02T03:04:05Z`, eight
/// bytes at a time.
///
/// A text of any other form is nil, and so are the rarer points in time, such as leap seconds: ``ISOTimestamp`` reads
/// them, and decides.
enum CommonTimestamp {
    static func milliseconds(of text: UnsafeRawBufferPointer) -> Int64? {
        let hasFraction = text.count == 24
        guard hasFraction || text.count == 20 else { return nil }
        // The second word begins at the day, the third at the colon before the seconds.
        let first = load(text, 0) ^ 0x2d30_302d_3030_3030
        let second = load(text, 8) ^ 0x3030_3a30_3054_3030
        let third =
            hasFraction
            ? load(text, 16) ^ 0x5a30_3030_2e30_303a
            : UInt64(UInt32(littleEndian: text.loadUnaligned(fromByteOffset: 16, as: UInt32.self)) ^ 0x5a30_303a)
        guard isDigits(first, except: 0xff00_00ff_0000_0000), isDigits(second, except: 0x0000_ff00_00ff_0000),
            isDigits(third, except: hasFraction ? 0xff00_0000_ff00_00ff : 0xffff_ffff_ff00_00ff)
        else { return nil }
        let year = two(first, 0) * 100 + two(first, 2)
        let month = two(first, 5)
        let day = two(second, 0)
        let hour = two(second, 3)
        let minute = two(second, 6)
        let seconds = two(third, 1)
        guard (1...12).contains(month), day >= 1,
            day <= 28 || day <= ISOTimestamp.dayCount(ofMonth: month, year: year), hour <= 23, minute <= 59,
            seconds <= 59
        else { return nil }
        let fraction = hasFraction ? two(third, 4) * 10 + Int64(third &>> 48 & 0xff) : 0
        let days = ISOTimestamp.dayNumber(year: year, month: month, day: day)
        return days * 86_400_000 + (hour * 60 + minute) * 60_000 + seconds * 1_000 + fraction
    }

    @inline(__always)
    private static func load(_ text: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Returns whether the bytes outside of `marks` are 0 to 9 and those in it, the punctuation, are 0.
    @inline(__always)
    private static func isDigits(_ word: UInt64, except marks: UInt64) -> Bool {
        // A byte above 9 gets its high bit; a carry out of it is harmless, since it has failed already.
        let digits = word & ~marks
        return word & marks == 0
            && (digits &+ 0x7676_7676_7676_7676 | digits) & 0x8080_8080_8080_8080 == 0
    }

    /// Returns the number of two digits, of which the first is the byte at `offset`.
    @inline(__always)
    private static func two(_ word: UInt64, _ offset: UInt64) -> Int64 {
        Int64(truncatingIfNeeded: word &>> (offset &* 8) & 0xff) &* 10
            &+ Int64(truncatingIfNeeded: word &>> (offset &* 8 &+ 8) & 0xff)
    }
}
