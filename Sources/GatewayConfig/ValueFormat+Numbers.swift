// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI

extension ValueFormat where Value == Int {
    /// Creates the format of a whole number.
    static func integer(_ range: ClosedRange<Int>, zero: String? = nil) -> Self {
        ValueFormat(
            name: "number", limits: "\(range.lowerBound) … \(range.upperBound)" + (zero.map { "; 0 is \($0)" } ?? ""),
            parse: { (value, _) throws(Mistake) -> Int in
                guard let number = Int(value.string), value.characters.first?.scalar != "+" else {
                    throw Mistake("expected a whole number, found '\(value.shown)'", at: value.span)
                }
                guard range.contains(number) else {
                    throw Mistake(
                        "expected a number from \(range.lowerBound) to \(range.upperBound), found \(value.shown)",
                        at: value.span)
                }
                return number
            },
            render: { String($0) })
    }

    /// Creates the format of a number of bytes such as `8MiB`.
    static func size(_ range: ClosedRange<Int>) -> Self {
        ValueFormat(
            name: "size", limits: "\(ByteSize.render(range.lowerBound)) … \(ByteSize.render(range.upperBound))",
            parse: { (value, _) throws(Mistake) -> Int in
                guard let bytes = ByteSize.parse(value.string) else {
                    throw Mistake(
                        "expected a size such as '8MiB', found '\(value.shown)'", at: value.span,
                        hint: value.hasInsertedText ? nil : ByteSize.hint(value.string))
                }
                guard range.contains(bytes) else {
                    throw Mistake(
                        "expected a size from \(ByteSize.render(range.lowerBound)) to "
                            + "\(ByteSize.render(range.upperBound)), found '\(value.shown)'", at: value.span)
                }
                return bytes
            },
            render: ByteSize.render)
    }
}

extension ValueFormat where Value == Int {
    /// A share such as `20%`, in whole percent.
    static var percentage: Self {
        ValueFormat(
            name: "percentage", limits: "0% … 100%",
            parse: { (value, _) throws(Mistake) -> Int in
                let digits = value.string.dropLast()
                guard value.string.hasSuffix("%"), (1...3).contains(digits.count),
                    digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                    let number = Int(digits)
                else {
                    let isNumber = Int(value.string).map { (0...100).contains($0) } ?? false
                    throw Mistake(
                        "expected a share such as '20%', found '\(value.shown)'", at: value.span,
                        hint: isNumber && !value.hasInsertedText ? "did you mean '\(value.string)%'?" : nil)
                }
                guard number <= 100 else {
                    throw Mistake("expected a share from 0% to 100%, found '\(value.shown)'", at: value.span)
                }
                return number
            },
            render: { "\($0)%" })
    }
}

extension ValueFormat where Value == Duration {
    /// Creates the format of a time such as `30s`.
    static func duration(_ range: ClosedRange<Duration>, zero: String? = nil) -> Self {
        let (low, high) = (TimeSpan.render(range.lowerBound), TimeSpan.render(range.upperBound))
        return ValueFormat(
            name: "duration", limits: "\(low) … \(high)" + (zero.map { "; 0s is \($0)" } ?? ""),
            parse: { (value, _) throws(Mistake) -> Duration in
                guard let duration = TimeSpan.parse(value.string) else {
                    throw Mistake(
                        "expected a duration such as '30s', found '\(value.shown)'", at: value.span,
                        hint: value.hasInsertedText ? nil : TimeSpan.hint(value.string))
                }
                guard range.contains(duration) || (zero != nil && duration == .zero) else {
                    throw Mistake("expected a duration from \(low) to \(high), found '\(value.shown)'", at: value.span)
                }
                return duration
            },
            render: TimeSpan.render)
    }
}

/// Reads a whole number that is followed by a unit.
private func amount<Unit>(_ text: String, units: [(name: String, size: Unit)]) -> (Int, Unit)? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard (1...15).contains(digits.count), let number = Int(digits),
        let unit = units.first(where: { $0.name == text[digits.endIndex...] })
    else { return nil }
    return (number, unit.size)
}

/// Reads and writes sizes in the form of the file.
enum ByteSize {
    private static let units: [(name: String, size: Int)] = [
        ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]

    static func parse(_ text: String) -> Int? {
        guard let (number, unit) = amount(text, units: units) else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: unit)
        return overflow ? nil : bytes
    }

    static func render(_ bytes: Int) -> String {
        guard bytes > 0 else { return "0B" }
        let unit = units.first { bytes.isMultiple(of: $0.size) } ?? ("B", 1)
        return "\(bytes / unit.size)\(unit.name)"
    }

    /// Returns the spelling that was probably meant.
    static func hint(_ text: String) -> String {
        let text = text.filter { !$0.isWhitespace }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text[digits.endIndex...].lowercased()
        let names = [
            "": "B", "b": "B", "k": "KiB", "kb": "KiB", "kib": "KiB", "m": "MiB", "mb": "MiB", "mib": "MiB",
            "g": "GiB", "gb": "GiB", "gib": "GiB",
        ]
        guard !digits.isEmpty, let name = names[unit] else { return "units are B, KiB, MiB and GiB" }
        return "did you mean '\(digits)\(name)'?"
    }
}

/// Reads and writes durations in the form of the file.
enum TimeSpan {
    private static let units: [(name: String, size: Duration)] = [
        ("d", .seconds(86_400)), ("h", .seconds(3_600)), ("m", .seconds(60)), ("s", .seconds(1)),
        ("ms", .milliseconds(1)),
    ]

    static func parse(_ text: String) -> Duration? {
        guard let (number, unit) = amount(text, units: units), number <= 1_000_000_000 else { return nil }
        return unit * number
    }

    static func render(_ duration: Duration) -> String {
        guard duration > .zero else { return "0s" }
        let (seconds, attoseconds) = duration.components
        let millis = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        for (name, size) in units {
            let unit = size.components.seconds * 1000 + size.components.attoseconds / 1_000_000_000_000_000
            // A single minute is written as "60s"; a single hour or day keeps its unit.
            let isPlain = name == "ms" || name == "s" || millis / unit > 1 || (millis == unit && name != "m")
            if unit > 0, millis.isMultiple(of: unit), isPlain { return "\(millis / unit)\(name)" }
        }
        return "\(millis)ms"
    }

    /// Returns the spelling that was probably meant.
    static func hint(_ text: String) -> String {
        let text = text.filter { !$0.isWhitespace }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text[digits.endIndex...].lowercased()
        let names = [
            "": "s", "s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m",
            "minute": "m", "minutes": "m", "m": "m", "h": "h", "hr": "h", "hour": "h", "hours": "h", "d": "d",
            "day": "d",
            "days": "d", "ms": "ms", "msec": "ms", "millis": "ms",
        ]
        guard !digits.isEmpty, let name = names[unit] else { return "units are ms, s, m, h and d" }
        return "did you mean '\(digits)\(name)'?"
    }
}
