// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Text that others have written, as it may be quoted.
package enum ForeignText {
    /// The most bytes of it that stand in an error, an answer or a line of the log.
    package static let limit = 200

    /// The text up to so many bytes, with `…` where it was cut; what is cut off is not looked at.
    package static func cut(_ text: String, to limit: Int = limit) -> String {
        var bytes = Array(text.utf8.prefix(limit + 1))
        guard bytes.count > limit else { return text }
        // A scalar that the limit would cut in two is left out.
        if bytes.removeLast() & 0xC0 == 0x80 {
            while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
        }
        return String(decoding: bytes, as: UTF8.self) + "…"
    }

    /// Whether a scalar could end a line, steer a terminal, or turn or hide what is read: controls, separators of
    /// lines, marks of direction (Unicode's UAX 9), and whatever else is not seen.
    package static func isHostile(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7F { return scalar.value < 0x20 }
        if scalar.value <= 0x9F { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// The text with `\u{202e}` and the like instead of hostile scalars.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - allowed: Hostile scalars that may stand.
    /// - Returns: The same text where nothing in it is hostile.
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

    /// A JSON text whose strings escape their hostile scalars, and that means the same.
    package static func escapedJSON(_ json: [UInt8]) -> [UInt8] {
        // Below 0x80 the writer has escaped what must be; white space between values stays.
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

    /// The text with `********` for what of it is one of the secrets, or the beginning of one: what quotes them may be
    /// cut.
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
