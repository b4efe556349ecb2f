// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Dates as this backend writes them: UTC with milliseconds, `2026-11-20T10:00:00.000Z`.
enum ISO8601 {
    private static let dayLength: Int64 = 86_400_000

    /// Returns the text of a moment; nil if it has no four-digit year or is no whole millisecond.
    static func text(of milliseconds: Double) -> String? {
        guard milliseconds == milliseconds.rounded(), abs(milliseconds) < 1e15 else { return nil }
        let total = Int64(milliseconds)
        let day = Int64((Double(total) / Double(dayLength)).rounded(.down))
        let (year, month, dayOfMonth) = civil(fromDay: day)
        guard (0...9999).contains(year) else { return nil }
        let rest = total - day * dayLength
        return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(dayOfMonth, 2) + "T"
            + padded(rest / 3_600_000, 2) + ":" + padded(rest / 60_000 % 60, 2) + ":" + padded(rest / 1000 % 60, 2)
            + "." + padded(rest % 1000, 3) + "Z"
    }

    /// Returns the milliseconds since 1970 of `YYYY-MM-DDTHH:MM:SS[.fff](Z|±HH:MM)`; nil for anything else.
    static func milliseconds(of text: String) -> Double? {
        var rest = Substring(text)
        guard let year = number(&rest, 4), skip("-", &rest), let month = number(&rest, 2), skip("-", &rest),
            let day = number(&rest, 2), skip("T", &rest), let hour = number(&rest, 2), skip(":", &rest),
            let minute = number(&rest, 2), skip(":", &rest), let second = number(&rest, 2),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61
        else { return nil }
        var fraction = 0.0
        if skip(".", &rest) {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard let value = Double("0." + digits), !digits.isEmpty else { return nil }
            fraction = (value * 1000).rounded()
            rest = rest.dropFirst(digits.count)
        }
        guard let offset = offset(&rest), rest.isEmpty else { return nil }
        let days = Self.day(year: year, month: month, day: day)
        return Double(days * dayLength + (hour * 3600 + minute * 60 + second - offset * 60) * 1000) + fraction
    }

    private static func offset(_ rest: inout Substring) -> Int64? {
        if skip("Z", &rest) { return 0 }
        let sign: Int64 = rest.first == "-" ? -1 : 1
        guard skip("+", &rest) || skip("-", &rest), let hours = number(&rest, 2), skip(":", &rest),
            let minutes = number(&rest, 2)
        else { return nil }
        return sign * (hours * 60 + minutes)
    }

    private static func skip(_ character: Character, _ rest: inout Substring) -> Bool {
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }

    private static func number(_ rest: inout Substring, _ count: Int) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        rest = rest.dropFirst(count)
        return Int64(digits)
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Returns the number of a day in the Gregorian calendar, with 1970-01-01 as 0; years are counted from March.
    private static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(fromDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}
