// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Reads the two spellings that almost all backends use, `2026-01-02T03:04:05.678Z` and `2026-01-02T03:04:05Z`, and the
/// beginning that all spellings of ISO 8601 with seconds share, eight bytes at a time.
///
/// A text of any other form is nil, and so are the rarer points in time, such as leap seconds: ``ISOTimestamp`` reads
/// them, and decides.
enum CommonTimestamp {
    /// The number of bytes of `2026-01-02T03:04:05`.
    static let length = 19

    @inline(__always)
    static func milliseconds(of text: UnsafeRawBufferPointer) -> Int64? {
        let hasFraction = text.count == 24
        guard hasFraction || text.count == 20, text[text.count &- 1] == UInt8(ascii: "Z"),
            let milliseconds = beginning(of: text)
        else { return nil }
        guard hasFraction else { return milliseconds }
        let digits = text.loadUnaligned(fromByteOffset: length, as: UInt32.self).littleEndian ^ 0x3030_302e
        guard digits & 0xff == 0, isDigits(UInt64(digits), except: 0xff) else { return nil }
        return milliseconds + two(UInt64(digits), 1) * 10 + Int64(digits &>> 24)
    }

    /// Returns the milliseconds of the first ``length`` bytes, which name no zone, read as UTC.
    @inline(__always)
    static func beginning(of text: UnsafeRawBufferPointer) -> Int64? {
        guard text.count >= length, text[10] == UInt8(ascii: "T") || text[10] == UInt8(ascii: " ") else { return nil }
        let date = load(text, 0) ^ 0x2d30_302d_3030_3030
        let time = load(text, 11) ^ 0x3030_3a30_303a_3030
        let day = UInt64(text.loadUnaligned(fromByteOffset: 8, as: UInt16.self).littleEndian ^ 0x3030)
        guard isDigits(date, except: 0xff00_00ff_0000_0000), isDigits(time, except: 0x0000_ff00_00ff_0000),
            isDigits(day, except: 0)
        else { return nil }
        let (year, month, number) = (two(date, 0) * 100 + two(date, 2), two(date, 5), two(day, 0))
        let (hour, minute, second) = (two(time, 0), two(time, 3), two(time, 6))
        guard (1...12).contains(month), number >= 1,
            number <= 28 || number <= ISOTimestamp.dayCount(ofMonth: month, year: year), hour <= 23, minute <= 59,
            second <= 59
        else { return nil }
        let days = ISOTimestamp.dayNumber(year: year, month: month, day: number)
        return days * 86_400_000 + (hour * 60 + minute) * 60_000 + second * 1_000
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
