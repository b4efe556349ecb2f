// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Writes points in time as ISO 8601 in UTC with milliseconds, such as `2026-11-20T09:30:00.000Z`.
package enum ISO8601 {
    /// The latest time that four digits of a year can say.
    private static let latest: Int64 = 253_402_300_799_999
    private static let earliest: Int64 = -62_135_596_800_000

    /// Returns the text of a time in milliseconds since 1970; times outside of the years 1 to 9999 are moved to the
    /// edge.
    package static func text(milliseconds: Int64) -> String {
        let time = min(max(milliseconds, earliest), latest)
        let (days, rest) = divide(time, by: 86_400_000)
        let (year, month, day) = civil(days: days)
        let clock = Int(rest)
        return pad(year, 4) + "-" + pad(month, 2) + "-" + pad(day, 2) + "T" + pad(clock / 3_600_000, 2) + ":"
            + pad(clock / 60_000 % 60, 2) + ":" + pad(clock / 1_000 % 60, 2) + "." + pad(clock % 1_000, 3) + "Z"
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
