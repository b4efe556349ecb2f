// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Holds markup, of which a value becomes a part only with everything escaped that could be markup.
struct HTMLText: ExpressibleByStringInterpolation {
    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity * 2) }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ html: HTMLText) { text += html.text }

        mutating func appendInterpolation(_ number: Int) { text += String(number) }

        mutating func appendInterpolation(_ value: String) { text += HTMLText.escaped(value) }
    }

    private(set) var text: String

    init(stringLiteral value: String) { text = value }

    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// Joins markup.
    init(_ parts: [HTMLText]) { text = parts.map(\.text).joined(separator: "\n") }

    /// Returns a text in which no character is markup, in elements and in quoted attributes, and none is invisible.
    static func escaped(_ value: String) -> String {
        var escaped = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case _
            where scalar.properties.generalCategory == .control
                || scalar.properties.generalCategory == .format:
                escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
