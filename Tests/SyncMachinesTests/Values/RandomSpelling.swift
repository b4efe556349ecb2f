// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// Random values as backends might write them, right ones and wrong ones.
struct RandomSpelling {
    var random: SeededGenerator

    /// Returns the JSON of a value.
    mutating func next() -> String {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: number()
        case 1: "\"\(space())\(number())\(space())\""
        case 2: "\"\(pick(["+", "-", "", "0", "00"]))\(number())\""
        case 3: pick(["true", "false", "null", "[]", "{}", "[1]", #"{"a":1}"#, #""""#, #"" ""#])
        case 4: "\"\(space())\(word())\(space())\""
        case 5: "\"\(date())\""
        case 6: #"{"$date":"\#(date())"}"#
        case 7: #"{"$numberLong":"\#(Int64.random(in: .min ... .max, using: &random) >> shift())"}"#
        case 8: #"{"$numberDecimal":"\#(number())"}"#
        case 9: #"{"$oid":"\#(word())"}"#
        case 10: String(Int.random(in: 0...2, using: &random))
        default: "\"\(broken())\""
        }
    }

    private mutating func shift() -> Int { Int.random(in: 0..<63, using: &random) }

    private mutating func pick(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }

    private mutating func space() -> String { pick(["", "", "", " ", #"\t"#, #"\n "#]) }

    private mutating func number() -> String {
        let whole = Int64.random(in: .min ... .max, using: &random) >> Int64(shift())
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1: return "\(whole)"
        case 2: return "\(whole).\(Int.random(in: 0..<1_000_000, using: &random))"
        case 3: return "\(whole % 1_000)e\(Int.random(in: -20...20, using: &random))"
        default: return "0.\(Int.random(in: 0..<1_000, using: &random))E+\(Int.random(in: 0...330, using: &random))"
        }
    }

    private mutating func word() -> String {
        let word = pick([
            "true", "false", "t", "f", "yes", "no", "y", "n", "on", "off", "1", "0", "x", "truth", "NaN", "infinity",
            "507f1f77bcf86cd799439011", "é", "12,50", "1_000", "0x1f", ".", "-", "+", "e5", "5.", ".5", "1e", "--1",
        ])
        return Bool.random(using: &random) ? word.uppercased() : word
    }

    private mutating func date() -> String {
        let (year, month, day) = (
            Int.random(in: 1_600...9_999, using: &random), Int.random(in: 0...13, using: &random),
            Int.random(in: 0...31, using: &random)
        )
        let (hour, minute, second) = (
            Int.random(in: 0...23, using: &random), Int.random(in: 0...59, using: &random),
            Int.random(in: 0...59, using: &random)
        )
        let time = "\(two(hour)):\(two(minute)):\(two(second))"
        let digits = String(String(year + 10_000).dropFirst())
        let fraction = pick(["", "", ".5", ".123", ".123456", ".1234567"])
        let zone = pick(["Z", "Z", "", "+00:00", "+02:00", "-0530", "+0545"])
        return "\(digits)-\(two(month))-\(two(day))\(pick(["T", " "]))\(time)\(fraction)\(zone)"
    }

    private func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Returns a good text with a letter, digit or sign changed.
    private mutating func broken() -> String {
        var text = Array((Bool.random(using: &random) ? date() : number()).unicodeScalars)
        let index = Int.random(in: 0..<text.count, using: &random)
        text[index] = "0123456789-+.eTZ:xX ,".unicodeScalars.randomElement(using: &random) ?? "0"
        return String(String.UnicodeScalarView(text))
    }
}
