// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

// The parts that the sections are made of.
extension StatusPage {
    /// One cell of a table.
    struct Cell {
        /// The ways in which a cell is shown.
        enum Form: String {
            case text, code, number
        }

        /// The word before the value on a narrow screen, where tables have no heads.
        var label: String?
        var value: String
        var form: Form

        init(_ label: String?, _ value: String, as form: Form = .text) {
            self.label = label
            self.value = value
            self.form = form
        }

        fileprivate var html: HTMLText {
            guard let label else { return #"<td class="\#(form.rawValue)">\#(value)</td>"# }
            return #"<td class="\#(form.rawValue)" data-label="\#(label)">\#(value)</td>"#
        }
    }

    /// Returns a section with a table, or with a word if there is nothing.
    static func table(
        _ title: String, _ heads: [String], rows: [[Cell]], none: String, isWide: Bool = false
    ) -> HTMLText {
        let form = isWide && !rows.isEmpty ? "wide" : "narrow"
        guard !rows.isEmpty else {
            return #"<section class="\#(form)"><h2>\#(title)</h2><p class="quiet">\#(none)</p></section>"#
        }
        let forms = rows[0].map(\.form.rawValue)
        let head = HTMLText(zip(heads, forms).map { #"<th class="\#($1)">\#($0)</th>"# })
        let body = HTMLText(rows.map { "<tr>\(HTMLText($0.map(\.html)))</tr>" })
        return """
            <section class="\(form)"><h2>\(title)</h2><table class="rows">
            <thead><tr>\(head)</tr></thead>
            <tbody>\(body)</tbody>
            </table></section>
            """
    }

    /// Returns a list of names and values.
    static func list(_ rows: [(String, HTMLText)]) -> HTMLText {
        "<dl>\(HTMLText(rows.map { "<dt>\($0.0)</dt><dd>\($0.1)</dd>" }))</dl>"
    }

    /// Returns the meaning of a code.
    static func meaning(_ code: String) -> String { ErrorMeanings.all[code] ?? "see docs/ERRORS.md" }

    /// Returns a moment in UTC, to the second.
    static func utc(_ moment: Instant) -> String {
        let seconds = max(0, moment.milliseconds / 1_000)
        let (year, month, day) = date(daysSince1970: seconds / 86_400)
        let clock = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60].map { padded($0) }
        return "\(year)-\(padded(month))-\(padded(day)) \(clock.joined(separator: ":")) UTC"
    }

    /// Returns a time span by its greatest unit.
    static func span(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds / 1_000)
        switch seconds {
        case ..<120: return "\(seconds) s"
        case ..<7_200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3_600) h"
        default: return "\(seconds / 86_400) days"
        }
    }

    /// Returns a duration in seconds with a few digits.
    static func seconds(_ milliseconds: Int64) -> String {
        milliseconds < 10_000
            ? "\(milliseconds / 1_000).\(padded(milliseconds % 1_000 / 10)) s" : "\(milliseconds / 1_000) s"
    }

    private static func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Returns a date of the Gregorian calendar; years are reckoned from March, so that the leap day is the last.
    private static func date(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = daysSince1970 + 719_468
        let (era, dayOfEra) = days.quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

extension DeviceTrouble.Kind {
    /// Returns a sentence on so many times.
    func sentence(_ count: Int) -> String {
        let times = count == 1 ? "once" : "\(count) times"
        return switch self {
        case .sameCursor: "came \(times) with the same cursor"
        case .firstSync: "began anew \(times)"
        case .pull: count == 1 ? "a pull failed" : "\(count) pulls in a row failed"
        case .push: count == 1 ? "a push failed" : "\(count) pushes in a row failed"
        }
    }
}
