// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A reader of times in ISO 8601, as JavaScript's `toISOString` and similar functions write them.
enum ISODate {
    /// Returns the milliseconds since 1970, with finer digits cut off; nil if the text is no date with time and zone.
    ///
    /// Date and time are separated by `T` or a space. The zone is required, since nothing else determines the moment;
    /// its plus sign may be a space, since an unencoded one becomes a space in a query.
    static func milliseconds(_ text: some Collection<UInt8>) -> Int64? {
        var reader = Reader(rest: Array(text)[...])
        guard let year = reader.number(digits: 4), reader.take("-"),
            let month = reader.number(digits: 2), reader.take("-"),
            let day = reader.number(digits: 2), reader.take("Tt "),
            let hour = reader.number(digits: 2), reader.take(":"),
            let minute = reader.number(digits: 2)
        else { return nil }
        var second = 0
        var millisecond = 0
        if reader.take(":") {
            guard let value = reader.number(digits: 2) else { return nil }
            second = value
            if reader.take(".,") {
                guard let value = reader.fraction() else { return nil }
                millisecond = value
            }
        }
        guard let zone = reader.zone(), reader.rest.isEmpty, (1...12).contains(month),
            (1...daysInMonth(month, year: year)).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        let minutes = (days(year: year, month: month, day: day) * 24 + hour) * 60 + minute - zone
        return Int64((minutes * 60 + second) * 1_000 + millisecond)
    }

    /// Returns the days from 1970-01-01 to a date of the Gregorian calendar.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        // In years that begin in March, the leap day comes last. From 0000-03-01 to 1970-01-01 there are 719,468 days.
        let shifted = month > 2 ? year : year - 1
        let monthDays = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5
        let leapDays = shifted.floorDivided(by: 4) - shifted.floorDivided(by: 100) + shifted.floorDivided(by: 400)
        return shifted * 365 + leapDays + monthDays + day - 1 - 719_468
    }

    private static func daysInMonth(_ month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func take(_ any: StaticString) -> Bool {
            guard let byte = rest.first, any.description.utf8.contains(byte) else { return false }
            rest.removeFirst()
            return true
        }

        mutating func number(digits count: Int) -> Int? {
            let digits = rest.prefix(count)
            guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
            rest = rest.dropFirst(count)
            return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }

        /// Reads the digits behind the point and returns them as milliseconds.
        mutating func fraction() -> Int? {
            let digits = rest.prefix(while: Self.isDigit)
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(digits.count)
            let three = digits.prefix(3) + repeatElement(UInt8(ascii: "0"), count: max(0, 3 - digits.count))
            return three.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }

        /// Reads the zone and returns the minutes by which it is ahead of UTC.
        mutating func zone() -> Int? {
            if take("Zz") { return 0 }
            let sign = rest.first == UInt8(ascii: "-") ? -1 : 1
            guard take("+- "), let hours = number(digits: 2), hours < 24 else { return nil }
            if rest.isEmpty { return sign * hours * 60 }
            _ = take(":")
            guard let minutes = number(digits: 2), minutes < 60 else { return nil }
            return sign * (hours * 60 + minutes)
        }

        private static func isDigit(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
    }
}

extension Int {
    fileprivate func floorDivided(by divisor: Int) -> Int {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
