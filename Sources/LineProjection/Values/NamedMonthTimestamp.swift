// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Reads points in time that name the month: HTTP and mail dates (RFC 9110, 5.6.7; RFC 5322, 3.3), C's `asctime`, and
/// what `toString` makes of a date in JavaScript and Java.
///
/// The order of the parts is free, since no two of them look alike. A zone is `GMT`, `UTC`, an offset, or both; other
/// names of zones are ambiguous and refused.
enum NamedMonthTimestamp {
    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]
    private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    /// The longest text that is read, in bytes.
    private static let maximumLength = 80

    /// Returns the point in time; nil for any other text.
    static func moment(of text: UnsafeRawBufferPointer) -> Moment? {
        guard text.count <= maximumLength, text.contains(where: { $0 | 0x20 >= UInt8(ascii: "a") }) else { return nil }
        let all = String(decoding: text, as: UTF8.self).lowercased()
        // What stands in parentheses is a comment.
        let words = all.prefix { $0 != "(" }.split { $0 == " " || $0 == "," }.flatMap { word in
            word.contains("-") && word.contains(where: \.isLetter) && word.first?.isNumber == true
                ? word.split(separator: "-") : [word]
        }
        var parts = Parts()
        for word in words { guard parts.take(word) else { return nil } }
        return parts.moment
    }

    private struct Parts {
        private var year: Int64?
        private var month: Int64?
        private var day: Int64?
        private var time: (hour: Int64, rest: Int64)?
        private var offset: Int64?
        private var isAfternoon: Bool?

        /// Takes a word of the text; returns false if it means nothing, or something that was there already.
        mutating func take(_ word: Substring) -> Bool {
            guard let first = word.first else { return true }
            if first.isLetter { return take(letters: word) }
            if first == "+" || first == "-" { return takeOffset(word) }
            if word.contains(":") { return takeTime(word) }
            guard word.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }), let number = Int64(word) else { return false }
            switch word.utf8.count {
            case 4: return Self.set(&year, number)
            case 1, 2: return Self.set(&day, number)
            default: return false
            }
        }

        private mutating func take(letters word: Substring) -> Bool {
            if word == "am" || word == "pm" { return Self.set(&isAfternoon, word == "pm") }
            if word.hasPrefix("gmt") || word.hasPrefix("utc") {
                return word.utf8.count == 3 ? Self.set(&offset, 0) : takeOffset(word.dropFirst(3))
            }
            if word == "z" || word == "ut" { return Self.set(&offset, 0) }
            guard word.utf8.count >= 3 else { return false }
            if let index = months.firstIndex(where: { $0.hasPrefix(word) }) {
                return Self.set(&month, Int64(index + 1))
            }
            return weekdays.contains { $0.hasPrefix(word) }
        }

        private mutating func takeTime(_ word: Substring) -> Bool {
            let parts = word.split(separator: ":", omittingEmptySubsequences: false)
            guard (2...3).contains(parts.count), time == nil, let hour = Self.two(parts[0]), hour <= 23,
                let minute = Self.two(parts[1]), minute <= 59
            else { return false }
            let seconds = parts.count > 2 ? parts[2].split(separator: ".", omittingEmptySubsequences: false) : []
            guard seconds.count <= 2, let second = seconds.first.map(Self.two) ?? 0, second <= 60 else { return false }
            var rest = (minute * 60 + second) * 1_000
            if seconds.count == 2 {
                guard seconds[1].utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }),
                    let fraction = Int64((seconds[1] + "000").prefix(3))
                else { return false }
                rest += fraction
            }
            time = (hour, rest)
            return true
        }

        private mutating func takeOffset(_ word: Substring) -> Bool {
            let digits = word.dropFirst().filter { $0 != ":" }
            guard digits.utf8.count == 4, let hours = Self.two(digits.prefix(2)),
                let minutes = Self.two(digits.suffix(2)),
                hours <= 23, minutes <= 59, word.first == "+" || word.first == "-"
            else { return false }
            return Self.set(&offset, (hours * 60 + minutes) * (word.first == "-" ? -60_000 : 60_000))
        }

        private static func set<Value>(_ part: inout Value?, _ value: Value) -> Bool {
            guard part == nil else { return false }
            part = value
            return true
        }

        private static func two(_ text: some StringProtocol) -> Int64? {
            (1...2).contains(text.utf8.count) && text.utf8.allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
                ? Int64(text) : nil
        }

        var moment: Moment? {
            guard let year, let month, let day, let days = ISOTimestamp.dayNumber(ofYear: year, month, day) else {
                return nil
            }
            guard let time else {
                return offset == nil && isAfternoon == nil
                    ? Moment(days * 86_400_000, isZoned: false, isDate: true) : nil
            }
            var hour = time.hour
            if let isAfternoon {
                guard (1...12).contains(hour) else { return nil }
                hour = hour % 12 + (isAfternoon ? 12 : 0)
            }
            return Moment(days * 86_400_000 + hour * 3_600_000 + time.rest - (offset ?? 0), isZoned: offset != nil)
        }
    }
}
