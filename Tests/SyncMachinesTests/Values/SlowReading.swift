// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import JSONBytes
import SyncModel

/// The table of spellings once more, slow and with Foundation, as the reference for random values.
///
/// It reads texts as a reader would check them: by patterns, decimal arithmetic and calendars of a library. It knows the
/// forms that ``RandomSpelling`` makes.
struct SlowReading {
    let column: Column

    /// Returns the value that an app gets; nil for the column's default.
    func value(of json: JSONValue) -> JSONValue? {
        if column.isOptional, json.isNull { return .null }
        if let wrapped = wrapped(json) { return wrapped }
        switch column.type {
        case .string: return string(json)
        case .number: return number(json)
        case .boolean: return boolean(json)
        case .timestamp: return timestamp(json)
        case .json: return json
        }
    }

    private func wrapped(_ json: JSONValue) -> JSONValue? {
        guard let member = json.members?.first, json.members?.count == 1, member.name.hasPrefix("$") else { return nil }
        switch (member.name, column.type) {
        case ("$date", .timestamp): return timestamp(member.value, unit: 1)
        case ("$oid", .string), (_, .string): return member.value.string.map { .string($0) }
        case ("$oid", _), ("$date", _): return nil
        case (_, .number): return number(member.value)
        case (_, .boolean): return boolean(member.value)
        case (_, .timestamp): return timestamp(member.value)
        case (_, .json): return nil
        }
    }

    private func string(_ json: JSONValue) -> JSONValue? {
        switch json {
        case .string: json
        case .number(let number): .string(number.spelling)
        case .bool(let value): .string(value ? "true" : "false")
        case .null, .array, .object: nil
        }
    }

    private func number(_ json: JSONValue) -> JSONValue? {
        if let value = json.bool { return .number(value ? 1 : 0) }
        let text = (json.string ?? json.number?.spelling)?.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let text, text.wholeMatch(of: /[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?/) != nil, let value = Double(text),
            value.isFinite
        else { return nil }
        let isInteger = text.allSatisfy { $0.isNumber || $0 == "+" || $0 == "-" }
        if isInteger, let exact = Decimal(string: text), abs(exact) > 9_007_199_254_740_992,
            Int64(exactly: value).map(Decimal.init) != exact, Decimal(string: "\(value)") != exact
        {
            return nil
        }
        return .number(value)
    }

    private func boolean(_ json: JSONValue) -> JSONValue? {
        if json.bool != nil { return json }
        if let word = json.string?.trimmingCharacters(in: .whitespacesAndNewlines).lowercased() {
            if ["true", "t", "yes", "y", "on"].contains(word) { return .bool(true) }
            if ["false", "f", "no", "n", "off"].contains(word) { return .bool(false) }
        }
        switch json.bool == nil && (json.string ?? "x") != "" ? number(json)?.double : nil {
        case 1: return .bool(true)
        case 0: return .bool(false)
        default: return nil
        }
    }

    private func timestamp(_ json: JSONValue, unit forced: Double? = nil) -> JSONValue? {
        if json.bool != nil { return nil }
        let unit = forced ?? (column.timestampFormat == .seconds ? 1_000 : 1)
        if let text = json.string?.trimmingCharacters(in: .whitespacesAndNewlines) {
            if let milliseconds = Self.moment(text) { return .integer(milliseconds) }
        }
        if forced == nil, unit == 1, let text = json.string ?? json.number?.spelling,
            let date = Self.digits(text.trimmingCharacters(in: .whitespacesAndNewlines))
        {
            return date.milliseconds.map { .integer($0) }
        }
        guard let value = number(json)?.double, let text = json.string ?? json.number?.spelling else { return nil }
        let exact = (Decimal(string: text.trimmingCharacters(in: .whitespaces)) ?? 0) * Decimal(unit)
        guard value.magnitude * unit <= 8.64e15 else { return nil }
        var (given, whole) = (exact, Decimal())
        NSDecimalRound(&whole, &given, 0, exact < 0 ? .up : .down)
        return .integer(Int64(truncating: whole as NSDecimalNumber))
    }

    /// Reads a date that has digits only; without milliseconds if it may as well be a count.
    private static func digits(_ text: String) -> (milliseconds: Int64?, Void)? {
        let form = /((?:19|[2-9]\d)\d\d)(?:(\d\d)(\d\d)(?:([01]\d|2[0-3])([0-5]\d)([0-5]\d)?)?)?/
        guard let match = text.wholeMatch(of: form)?.output else { return nil }
        let date = [match.1, match.2 ?? "1", match.3 ?? "1"].map { Int($0) ?? 0 }
        guard let days = days(year: date[0], month: date[1], day: date[2]) else { return nil }
        let clock = [match.4, match.5, match.6].reduce(0) { $0 * 60 + (Int64($1 ?? "0") ?? 0) }
        let isCertain = match.3 != nil && (match.6 != nil || match.4 == nil)
        return (isCertain ? (days * 86_400 + clock) * 1_000 : nil, ())
    }

    /// Reads ISO 8601, which is what random texts have of dates.
    private static func moment(_ text: String) -> Int64? {
        let form =
            #/
            (\d{4})-(\d\d)-(\d\d)[T\x20]([01]\d|2[0-4]):([0-5]\d)(?::([0-5]\d|60)([.,]\d+)?)?
            (?:\x20?([Zz]|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?))?
            /#
        guard let match = text.wholeMatch(of: form)?.output else { return nil }
        let parts = [match.1, match.2, match.3, match.4, match.5, match.6 ?? ""].map { Int64($0) ?? 0 }
        guard let days = days(year: Int(parts[0]), month: Int(parts[1]), day: Int(parts[2])) else { return nil }
        // The second after a leap second begins with it.
        let fraction = parts[5] == 60 ? 0 : match.7.flatMap { Int64(($0.dropFirst() + "000").prefix(3)) } ?? 0
        let clock = ((parts[3] * 60 + parts[4]) * 60 + parts[5]) * 1_000 + fraction
        guard parts[3] < 24 || clock == 86_400_000 else { return nil }
        var offset: Int64 = 0
        if let zone = match.8, zone.lowercased() != "z" {
            let digits = zone.filter(\.isNumber) + "00"
            offset = (Int64(digits.prefix(2)) ?? 0) * 60 + (Int64(digits.dropFirst(2).prefix(2)) ?? 0)
            if zone.hasPrefix("-") { offset = -offset }
        }
        return days * 86_400_000 + clock - offset * 60_000
    }

    /// Returns the number of days since 1970; nil if there is no such day.
    ///
    /// The library's calendar is Julian before 1582, ISO 8601 is not: so the day is looked up in a later year that is
    /// the same, some times 400 years of 146,097 days on.
    private static func days(year: Int, month: Int, day: Int) -> Int64? {
        let later = 2_000 + year % 400
        let date = DateComponents(calendar: calendar, timeZone: .gmt, year: later, month: month, day: day)
        guard date.isValidDate, let moment = calendar.date(from: date) else { return nil }
        return Int64(moment.timeIntervalSince1970) / 86_400 - Int64((later - year) / 400) * 146_097
    }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .gmt
        return calendar
    }()
}
