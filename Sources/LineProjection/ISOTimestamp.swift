// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Reads points in time as backends write them: ISO 8601 in its extended format, RFC 3339 included.
package enum ISOTimestamp {
    /// The farthest from 1970 that a JavaScript `Date` can be (ECMA-262, 21.4.1.1), in milliseconds.
    package static let range: ClosedRange<Int64> = -8_640_000_000_000_000...8_640_000_000_000_000

    /// Returns milliseconds since 1970; nil for a text that is not a point in time or lies outside of ``range``.
    ///
    /// Accepted are `2026-01-02`, and behind it `T` or a space and `03:04`, `03:04:05` or `03:04:05.678…` with any
    /// number of digits, of which three count; then `Z`, an offset such as `+02:00`, `+0200` or `+02`, or no suffix,
    /// which means UTC. Years may have six digits and a sign. A leap second counts as the second after it.
    package static func milliseconds(of text: UnsafeRawBufferPointer) -> Int64? {
        if let milliseconds = CommonTimestamp.milliseconds(of: text) { return milliseconds }
        var reader = Reader(text: text)
        guard let days = reader.date() else { return nil }
        var milliseconds = days * 86_400_000
        if reader.isAtEnd { return range.contains(milliseconds) ? milliseconds : nil }
        guard reader.skip("T") || reader.skip("t") || reader.skip(" "), let time = reader.time(),
            let offset = reader.offset(), reader.isAtEnd
        else { return nil }
        milliseconds += time - offset
        return range.contains(milliseconds) ? milliseconds : nil
    }

    /// Returns the number of a day in the Gregorian calendar, from 1970-01-01, which is 0.
    ///
    /// Years are counted from March, so that the leap day is a year's last; 400 years have 146,097 days.
    @inline(__always)
    static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    static func dayCount(ofMonth month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

private struct Reader {
    let text: UnsafeRawBufferPointer
    var position = 0

    var isAtEnd: Bool { position == text.count }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < text.count, text[position] == UInt8(ascii: character) else { return false }
        position &+= 1
        return true
    }

    /// Reads a number of exactly `count` digits.
    mutating func digits(_ count: Int) -> Int64? {
        guard text.count &- position >= count else { return nil }
        var value: Int64 = 0
        for _ in 0..<count {
            let digit = text[position] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value &* 10 &+ Int64(digit)
            position &+= 1
        }
        return value
    }

    mutating func date() -> Int64? {
        let isNegative = skip("-")
        let hasSign = isNegative || skip("+")
        guard let unsigned = digits(hasSign ? 6 : 4), !(isNegative && unsigned == 0) else { return nil }
        let year = isNegative ? -unsigned : unsigned
        guard skip("-"), let month = digits(2), (1...12).contains(month), skip("-"), let day = digits(2), day >= 1,
            day <= ISOTimestamp.dayCount(ofMonth: month, year: year)
        else { return nil }
        return ISOTimestamp.dayNumber(year: year, month: month, day: day)
    }

    /// Reads a time of day as milliseconds since midnight.
    mutating func time() -> Int64? {
        guard let hour = digits(2), skip(":"), let minute = digits(2), hour <= 24, minute <= 59 else { return nil }
        var milliseconds = (hour * 60 + minute) * 60_000
        if skip(":") {
            guard let second = digits(2), second <= 60 else { return nil }
            milliseconds += second * 1000
            if skip(".") || skip(",") {
                guard let fraction = fraction() else { return nil }
                // The fraction of a leap second would reach into the second that the leap second counts as already.
                if second < 60 { milliseconds += fraction }
            }
        }
        return hour < 24 || milliseconds == 86_400_000 ? milliseconds : nil
    }

    /// Reads a fraction of a second of any precision, as milliseconds, cut off.
    private mutating func fraction() -> Int64? {
        var value: Int64 = 0
        var count = 0
        while position < text.count {
            let digit = text[position] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            if count < 3 { value = value &* 10 &+ Int64(digit) }
            count &+= 1
            position &+= 1
        }
        guard count > 0 else { return nil }
        return count == 1 ? value * 100 : count == 2 ? value * 10 : value
    }

    /// Reads the offset of local time from UTC in milliseconds, positive to the east; 0 if there is none.
    mutating func offset() -> Int64? {
        if isAtEnd || skip("Z") || skip("z") { return 0 }
        let isNegative = skip("-")
        guard isNegative || skip("+"), let hours = digits(2), hours <= 23 else { return nil }
        var minutes: Int64 = 0
        if !isAtEnd {
            _ = skip(":")
            guard let digits = digits(2), digits <= 59 else { return nil }
            minutes = digits
        }
        let offset = (hours * 60 + minutes) * 60_000
        return isNegative ? -offset : offset
    }
}
