// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Writes points in time as backends want them: ISO 8601 with milliseconds, such as `2026-11-20T09:30:00.000Z`, and HTTP
/// dates.
package enum ISO8601 {
    /// The latest time that four digits of a year can say.
    private static let latest: Int64 = 253_402_300_799_999
    private static let earliest: Int64 = -62_135_596_800_000

    /// Returns the text of a time in milliseconds since 1970; times outside of the years 1 to 9999 are moved to the
    /// edge.
    ///
    /// With an offset from UTC, also in milliseconds, it is the local time and the offset, cut to minutes.
    package static func text(milliseconds: Int64, offset: Int64? = nil) -> String {
        let minutes = (offset ?? 0) / 60_000
        let (days, clock) = parts(of: milliseconds + minutes * 60_000)
        let (year, month, day) = civil(days: days)
        let zone =
            minutes == 0
            ? "Z"
            : (minutes < 0 ? "-" : "+") + pad(Int(minutes.magnitude) / 60, 2) + ":"
                + pad(Int(minutes.magnitude) % 60, 2)
        return pad(year, 4) + "-" + pad(month, 2) + "-" + pad(day, 2) + "T" + time(clock) + "." + pad(clock % 1_000, 3)
            + zone
    }

    /// Returns an HTTP date (RFC 9110, 5.6.7), such as `Fri, 20 Nov 2026 09:30:00 GMT`; milliseconds are cut off, and
    /// times outside of the years 1 to 9999 are moved to the edge.
    package static func httpDate(milliseconds: Int64) -> String {
        let (days, clock) = parts(of: milliseconds)
        let (year, month, day) = civil(days: days)
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(divide(days, by: 7).remainder)]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return "\(weekday), \(pad(day, 2)) \(months[month - 1]) \(pad(year, 4)) \(time(clock)) GMT"
    }

    private static func parts(of milliseconds: Int64) -> (days: Int64, clock: Int) {
        let (days, rest) = divide(min(max(milliseconds, earliest), latest), by: 86_400_000)
        return (days, Int(rest))
    }

    private static func time(_ clock: Int) -> String {
        pad(clock / 3_600_000, 2) + ":" + pad(clock / 60_000 % 60, 2) + ":" + pad(clock / 1_000 % 60, 2)
    }

    private static func divide(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let remainder = (value % divisor + divisor) % divisor
        return ((value - remainder) / divisor, remainder)
    }

    /// Returns the date of a day counted from 1970-01-01, by eras of 400 years that begin on a first of March.
    private static func civil(days: Int64) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = divide(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (Int(yearOfEra + era * 400 + (month <= 2 ? 1 : 0)), Int(month), Int(day))
    }

    private static func pad(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
