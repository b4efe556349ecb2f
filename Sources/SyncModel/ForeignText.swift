// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Makes text that others have written safe to quote.
package enum ForeignText {
    /// The most bytes of such text in an error, an answer or a line of the log.
    package static let limit = 200

    /// Returns at most `limit` bytes of the text, with `…` if it was cut; the part cut off is not read.
    package static func cut(_ text: String, to limit: Int = limit) -> String {
        var bytes = Array(text.utf8.prefix(limit + 1))
        guard bytes.count > limit else { return text }
        // A scalar that the limit would cut in two is left out.
        if bytes.removeLast() & 0xC0 == 0x80 {
            while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
        }
        return String(decoding: bytes, as: UTF8.self) + "…"
    }

    /// Returns the form of a text without what it says: `9` for each digit, `a` or `A` for each letter, `?` for
    /// everything beyond ASCII; punctuation and spaces stay.
    package static func shape(of text: String) -> String {
        String(
            text.unicodeScalars.map { scalar -> Character in
                switch scalar {
                case "0"..."9": "9"
                case "a"..."z": "a"
                case "A"..."Z": "A"
                case " "..."~": Character(scalar)
                default: "?"
                }
            })
    }

    /// Returns true if a scalar could end a line, control a terminal, or reverse or hide the text around it: controls,
    /// line separators, direction marks (Unicode's UAX 9) and all other invisible characters.
    package static func isHostile(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7F { return scalar.value < 0x20 }
        if scalar.value <= 0x9F { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// Returns the text with hostile scalars escaped, as in `\u{202e}`.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - allowed: Hostile scalars to leave as they are.
    /// - Returns: The same text if nothing in it is hostile.
    package static func escaped(_ text: String, except allowed: Set<Unicode.Scalar> = []) -> String {
        guard text.unicodeScalars.contains(where: { isHostile($0) && !allowed.contains($0) }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isHostile(scalar), !allowed.contains(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns an equivalent JSON text in which the hostile scalars of strings are escaped.
    package static func escapedJSON(_ json: [UInt8]) -> [UInt8] {
        // Below 0x80 the writer has already escaped what needs it; white space between values stays.
        guard json.contains(where: { $0 >= 0x7F }) else { return json }
        var result: [UInt8] = []
        result.reserveCapacity(json.count + 64)
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            if scalar.value >= 0x7F, isHostile(scalar) {
                for unit in UTF16.encode(scalar)?.map(\.self) ?? [] {
                    let digits = String(unit, radix: 16)
                    result += Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
                }
            } else {
                result += UTF8.encode(scalar)?.map(\.self) ?? []
            }
        }
        return result
    }

    /// Returns the text with each secret replaced by `********`, and also the beginning of a secret, because the text
    /// that quotes it may have been cut.
    package static func masked(_ text: String, secrets: [String]) -> String {
        let secrets = secrets.map { Array($0.utf8) }.filter { $0.count >= 4 }.sorted { $0.count > $1.count }
        guard !secrets.isEmpty else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let length =
                secrets.lazy.map { secret -> Int in
                    let common = zip(bytes[index...], secret).prefix { $0 == $1 }.count
                    return common >= min(secret.count, 8) ? common : 0
                }.max() ?? 0
            if length > 0 {
                result += Array("********".utf8)
                index += length
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
