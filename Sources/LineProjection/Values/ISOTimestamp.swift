// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Reads points in time as backends write them: ISO 8601 in its extended format, RFC 3339 included.
package enum ISOTimestamp {
    /// The farthest from 1970 that a JavaScript `Date` can be (ECMA-262, 21.4.1.1), in milliseconds.
    package static let range: ClosedRange<Int64> = -8_640_000_000_000_000...8_640_000_000_000_000

    /// Returns milliseconds since 1970, a time without a zone read as UTC; nil for a text that ``moment(of:)`` refuses.
    package static func milliseconds(of text: UnsafeRawBufferPointer) -> Int64? { moment(of: text)?.milliseconds }

    /// Returns a point in time; nil for a text that is none or lies outside of ``range``.
    ///
    /// Accepted are `2026-01-02`, and behind it `T` or a space and `03:04`, `03:04:05` or `03:04:05.678…` with any
    /// number of digits, of which three count, and the basic format `20260102T030405`. Then comes `Z`, `UTC` or `GMT`,
    /// an offset such as `+02:00`, `+0200`, `+02` or `+00:53:28`, each also after a space and before a zone's name
    /// (RFC 9557: `[Europe/Berlin]`), or nothing. Years may have six digits and a sign. A leap second counts as the
    /// second after it.
    static func moment(of text: UnsafeRawBufferPointer) -> Moment? {
        var reader = Reader(text: text)
        guard let local = reader.local(), let zone = local.isDate ? Reader.Zone.none : reader.zone(), reader.isAtEnd
        else { return nil }
        let moment =
            switch zone {
            case .none: local
            case .offset(let offset): Moment(local.milliseconds - offset)
            }
        return range.contains(moment.milliseconds) ? moment : nil
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

    /// Returns the number of a day; nil if the month has no such day.
    static func dayNumber(ofYear year: Int64, _ month: Int64, _ day: Int64) -> Int64? {
        guard (1...12).contains(month), day >= 1, day <= dayCount(ofMonth: month, year: year) else { return nil }
        return dayNumber(year: year, month: month, day: day)
    }

    static func dayCount(ofMonth month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// Reads the parts of a point in time, one after the other.
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

    /// Reads a date and mostly a time, without a zone.
    mutating func local() -> Moment? {
        if let milliseconds = CommonTimestamp.beginning(of: text) {
            position = CommonTimestamp.length
            guard skip(".") || skip(",") else { return Moment(milliseconds, isZoned: false) }
            return fraction().map { Moment(milliseconds + $0, isZoned: false) }
        }
        guard let date = date() else { return nil }
        let midnight = date.days * 86_400_000
        if isAtEnd { return date.isBasic ? nil : Moment(midnight, isZoned: false, isDate: true) }
        guard skip("T") || skip("t") || skip(" ") else { return nil }
        return time(date.isBasic).map { Moment(midnight + $0, isZoned: false) }
    }

    private mutating func date() -> (days: Int64, isBasic: Bool)? {
        let isNegative = skip("-")
        let hasSign = isNegative || skip("+")
        guard let unsigned = digits(hasSign ? 6 : 4), !(isNegative && unsigned == 0) else { return nil }
        let isBasic = !skip("-")
        guard let month = digits(2), isBasic || skip("-"), let day = digits(2) else { return nil }
        return ISOTimestamp.dayNumber(ofYear: isNegative ? -unsigned : unsigned, month, day).map { ($0, isBasic) }
    }

    /// Reads a time of day as milliseconds since midnight.
    private mutating func time(_ isBasic: Bool) -> Int64? {
        guard let hour = digits(2), isBasic || skip(":"), let minute = digits(2), hour <= 24, minute <= 59 else {
            return nil
        }
        var milliseconds = (hour * 60 + minute) * 60_000
        if isBasic ? isAtDigit : skip(":") {
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

    enum Zone {
        case none
        /// The offset of local time from UTC in milliseconds, positive to the east.
        case offset(Int64)
    }

    /// Reads an offset, and a zone's name behind it; a name alone counts only if it is that of UTC.
    mutating func zone() -> Zone? {
        if isAtEnd { return Zone.none }
        _ = skip(" ")
        var offset: Int64?
        if isAt("+") || isAt("-") {
            guard let numeric = numericOffset() else { return nil }
            if isAtEnd { return .offset(numeric) }
            offset = numeric
            if skip(" ") { skipLetters() }
        } else if skip(word: "Z") || skip(word: "UTC") || skip(word: "GMT") {
            offset = 0
        } else if !isAt("[") {
            return nil
        }
        if skip("[") {
            let name = position
            while position < text.count, text[position] != UInt8(ascii: "]") { position &+= 1 }
            let zone = UnsafeRawBufferPointer(rebasing: text[name..<position])
            guard skip("]"), offset != nil || Self.namesUTC(zone) else { return nil }
        }
        return .offset(offset ?? 0)
    }

    /// Reads `+02:00`, `+0200`, `+02`, or with seconds `+00:53:28`.
    private mutating func numericOffset() -> Int64? {
        let isNegative = skip("-")
        guard isNegative || skip("+"), let hours = digits(2), hours <= 23 else { return nil }
        var (minutes, seconds): (Int64, Int64) = (0, 0)
        if skip(":") || isAtDigit {
            guard let digits = digits(2), digits <= 59 else { return nil }
            minutes = digits
            if skip(":") {
                guard let digits = self.digits(2), digits <= 59 else { return nil }
                seconds = digits
            }
        }
        let offset = (hours * 3_600 + minutes * 60 + seconds) * 1_000
        return isNegative ? -offset : offset
    }

    private var isAtDigit: Bool { position < text.count && text[position] &- UInt8(ascii: "0") < 10 }

    private func isAt(_ character: Unicode.Scalar) -> Bool {
        position < text.count && text[position] == UInt8(ascii: character)
    }

    /// Skips a word in upper or lower case that no letter follows.
    private mutating func skip(word: StaticString) -> Bool {
        let end = position + word.utf8CodeUnitCount
        guard end <= text.count else { return false }
        for index in 0..<word.utf8CodeUnitCount where text[position + index] & ~0x20 != word.utf8Start[index] {
            return false
        }
        guard end == text.count || !(text[end] | 0x20 >= UInt8(ascii: "a") && text[end] | 0x20 <= UInt8(ascii: "z"))
        else { return false }
        position = end
        return true
    }

    private mutating func skipLetters() {
        while position < text.count, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(text[position]) { position &+= 1 }
    }

    private static func namesUTC(_ name: UnsafeRawBufferPointer) -> Bool {
        ["UTC", "Etc/UTC", "GMT", "Z"].contains(String(decoding: name, as: UTF8.self))
    }
}
