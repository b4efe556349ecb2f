// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// A point in time as a backend or a client has written it.
struct Moment {
    /// Milliseconds since 1970; those of the same time in UTC if the source names no zone.
    let milliseconds: Int64
    /// True if the source names a zone, or is a number.
    let isZoned: Bool
    /// True if the source is a date without a time.
    let isDate: Bool

    init(_ milliseconds: Int64, isZoned: Bool = true, isDate: Bool = false) {
        self.milliseconds = milliseconds
        self.isZoned = isZoned
        self.isDate = isDate
    }

    /// Reads a value in any form but MongoDB's; `unit` has the milliseconds of a number's unit.
    ///
    /// With `hasDates` digits may be a calendar's: see ``DateOfDigits``.
    init?(_ slice: JSONSlice, unit: Int64, hasDates: Bool = false) {
        let moment: Moment?
        switch slice.kind {
        case .number: moment = Self.number(slice.bytes, unit: unit, hasDates)
        case .string: moment = slice.withText { Self.text($0.trimmed, unit: unit, hasDates) }
        case .array: moment = Self.parts(slice)
        case .null, .boolean, .object: moment = nil
        }
        guard let moment, ISOTimestamp.range.contains(moment.milliseconds) else { return nil }
        self = moment
    }

    private static func number(_ text: UnsafeRawBufferPointer, unit: Int64, _ hasDates: Bool) -> Moment? {
        if hasDates, let date = DateOfDigits(text) { return date.moment }
        return count(text, unit: unit)
    }

    private static func text(_ text: UnsafeRawBufferPointer, unit: Int64, _ hasDates: Bool) -> Moment? {
        if let moment = ISOTimestamp.moment(of: text) { return moment }
        if NumberText(text) != nil { return number(text, unit: unit, hasDates) }
        return legacyNET(text) ?? NamedMonthTimestamp.moment(of: text)
    }

    /// Reads a number of units since 1970 whose digits below a millisecond are cut off.
    private static func count(_ text: UnsafeRawBufferPointer, unit: Int64) -> Moment? {
        var (whole, fraction, decimals): (Int64, Int64, Int) = (0, 0, -1)
        let isNegative = text.first == UInt8(ascii: "-")
        for byte in text.dropFirst(isNegative || text.first == UInt8(ascii: "+") ? 1 : 0) {
            let digit = byte &- UInt8(ascii: "0")
            if digit < 10, decimals < 0 {
                guard whole < 1_000_000_000_000_000 else { return nil }
                whole = whole * 10 + Int64(digit)
            } else if digit < 10 {
                if decimals < 3 { fraction = fraction * 10 + Int64(digit) }
                decimals = min(decimals + 1, 3)
            } else if byte == UInt8(ascii: ".") {
                decimals = 0
            } else {
                // With an exponent a double has to do, whose last digits are noise.
                guard let value = Double(String(decoding: text, as: UTF8.self)) else { return nil }
                let scaled = value * Double(unit)
                let nearest = scaled.rounded()
                let isWhole = (scaled - nearest).magnitude <= scaled.magnitude * 1e-14
                return Int64(exactly: isWhole ? nearest : scaled.rounded(.towardZero)).map { Moment($0) }
            }
        }
        guard whole <= ISOTimestamp.range.upperBound / unit else { return nil }
        for _ in max(decimals, 0)..<3 { fraction *= 10 }
        let milliseconds = unit == 1 ? whole : whole * unit + fraction
        return Moment(isNegative ? -milliseconds : milliseconds)
    }

    /// Reads `/Date(1735725600000)/`, as .NET's older serialisers write, also with an offset that does not count.
    private static func legacyNET(_ text: UnsafeRawBufferPointer) -> Moment? {
        let (prefix, suffix) = ("/Date(", ")/")
        guard text.count > prefix.utf8.count + suffix.utf8.count, text.starts(with: prefix.utf8),
            text.suffix(2).elementsEqual(suffix.utf8)
        else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: text[prefix.utf8.count..<text.count - suffix.utf8.count])
        let end = content.dropFirst().firstIndex { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") } ?? content.count
        let number = UnsafeRawBufferPointer(rebasing: content[..<end])
        guard content[end...].dropFirst().allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }),
            NumberText(number)?.isInteger == true
        else { return nil }
        return count(number, unit: 1)
    }

    /// Reads `[2026,11,26,10,0,30,500000000]`, as Java's Jackson writes local dates and times: the parts that are 0 may
    /// be missing at the end, and the last is of nanoseconds.
    private static func parts(_ array: JSONSlice) -> Moment? {
        var parts: [Int64] = []
        var isPlain = true
        array.forEachElement { element in
            guard parts.count < 8, let part = element.int64, (0...999_999_999).contains(part) else {
                isPlain = false
                return
            }
            parts.append(part)
        }
        guard isPlain, parts.count == 3 || (5...7).contains(parts.count),
            let day = ISOTimestamp.dayNumber(ofYear: parts[0], parts[1], parts[2])
        else { return nil }
        guard parts.count > 3 else { return Moment(day * 86_400_000, isZoned: false, isDate: true) }
        let second = parts.count > 5 ? parts[5] : 0
        let nanoseconds = parts.count > 6 ? parts[6] : 0
        guard parts[3] <= 23, parts[4] <= 59, second <= 59 else { return nil }
        let time = ((parts[3] * 60 + parts[4]) * 60 + second) * 1_000 + nanoseconds / 1_000_000
        return Moment(day * 86_400_000 + time, isZoned: false)
    }
}
