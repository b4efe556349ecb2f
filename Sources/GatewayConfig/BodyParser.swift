// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// Reads the JSON of a call's body with its placeholders.
///
/// Only text of the file itself is JSON: inserted text is allowed only inside a string, where it is literal.
struct BodyParser {
    static let maximumDepth = 32

    private let text: SourceText
    private var index: Int
    private(set) var placeholders: [Located<String>] = []

    init(_ text: SourceText) {
        self.text = text
        index = text.characters.startIndex
    }

    mutating func parse() throws(Mistake) -> JSONTemplate {
        let value = try value(depth: 0)
        skipSpace()
        guard index == text.characters.endIndex else {
            let rest = text[index..<text.characters.endIndex]
            throw Mistake(
                "expected nothing after the body, found '\(rest.shown)'", at: rest.span,
                hint: "the body comes last in a call")
        }
        return value
    }

    private mutating func value(depth: Int) throws(Mistake) -> JSONTemplate {
        guard depth <= Self.maximumDepth else { throw mistake("the body is nested deeper than \(Self.maximumDepth)") }
        skipSpace()
        guard let scalar = current else {
            if index < text.characters.endIndex {
                throw Mistake(
                    "inserted text can only stand inside a string here", at: text[index..<(index + 1)].span,
                    hint: "put double quotes around it")
            }
            throw mistake("expected a JSON value")
        }
        switch scalar {
        case "{": return try object(depth: depth)
        case "[": return try array(depth: depth)
        case "\"": return try string()
        default: return try word()
        }
    }

    private mutating func object(depth: Int) throws(Mistake) -> JSONTemplate {
        let start = index
        index += 1
        skipSpace()
        if current == "*" {
            index += 1
            skipSpace()
            guard current == "}" else { throw mistake("expected '}' after '{*'") }
            index += 1
            placeholders.append(Located("*", at: text[start..<index].span))
            return .allColumns
        }
        var members: [JSONTemplate.Member] = []
        if take("}") { return .object([]) }
        repeat {
            skipSpace()
            let nameStart = index
            guard current == "\"" else { throw mistake("expected a member's name in double quotes") }
            let name = try plainString()
            if members.contains(where: { $0.name == name }) {
                throw Mistake("member '\(name)' is there twice", at: text[nameStart..<index].span)
            }
            guard take(":") else { throw mistake("expected ':' after the member's name") }
            members.append(.init(name: name, value: try value(depth: depth + 1)))
        } while take(",")
        guard take("}") else { throw mistake("expected ',' or '}'") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(Mistake) -> JSONTemplate {
        index += 1
        if take("]") { return .array([]) }
        var elements: [JSONTemplate] = []
        repeat { elements.append(try value(depth: depth + 1)) } while take(",")
        guard take("]") else { throw mistake("expected ',' or ']'") }
        return .array(elements)
    }

    /// Reads a string with placeholders; one placeholder alone is a typed value.
    private mutating func string() throws(Mistake) -> JSONTemplate {
        index += 1
        var fragments: [TextFragment] = []
        var literal = ""
        while index < text.characters.endIndex {
            let character = text.characters[index]
            if character.isSyntax("\"") {
                index += 1
                if case .placeholder(let name)? = fragments.first, fragments.count == 1, literal.isEmpty {
                    return .value(name)
                }
                if !literal.isEmpty { fragments.append(.text(literal)) }
                return .string(fragments)
            }
            if character.isSyntax("{") {
                let (name, end) = try CallParser.placeholder(in: text, at: index)
                if !literal.isEmpty { fragments.append(.text(literal)) }
                literal = ""
                fragments.append(.placeholder(name.value))
                placeholders.append(name)
                index = end
            } else {
                literal.unicodeScalars.append(try scalar(character))
            }
        }
        throw mistake("this string is never closed")
    }

    /// Reads a string without placeholders, for the names of members.
    private mutating func plainString() throws(Mistake) -> String {
        index += 1
        var result = ""
        while index < text.characters.endIndex {
            let character = text.characters[index]
            if character.isSyntax("\"") {
                index += 1
                return result
            }
            result.unicodeScalars.append(try scalar(character))
        }
        throw mistake("this string is never closed")
    }

    /// Reads one character of a string, with escapes resolved.
    private mutating func scalar(_ character: SourceText.Character) throws(Mistake) -> Unicode.Scalar {
        guard character.isSyntax("\\") else {
            index += 1
            return character.scalar
        }
        let start = index
        index += 2
        let escape = start + 1 < text.characters.endIndex ? text.characters[start + 1].scalar : nil
        switch escape {
        case "\"", "\\", "/": return escape ?? "/"
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u":
            let unit = try hexUnit(start)
            guard (0xD800..<0xDC00).contains(unit) else {
                guard let scalar = Unicode.Scalar(unit) else { throw badEscape(start) }
                return scalar
            }
            guard current == "\\", index + 1 < text.characters.endIndex, text.characters[index + 1].isSyntax("u")
            else { throw badEscape(start) }
            index += 2
            let low = try hexUnit(start)
            guard (0xDC00..<0xE000).contains(low),
                let scalar = Unicode.Scalar(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
            else { throw badEscape(start) }
            return scalar
        default: throw badEscape(start)
        }
    }

    private mutating func hexUnit(_ start: Int) throws(Mistake) -> UInt32 {
        guard index + 4 <= text.characters.endIndex else { throw badEscape(start) }
        let digits = text[index..<(index + 4)]
        guard digits.characters.allSatisfy({ !$0.isInserted && $0.scalar.properties.isASCIIHexDigit }),
            let unit = UInt32(digits.string, radix: 16)
        else { throw badEscape(start) }
        index += 4
        return unit
    }

    private func badEscape(_ start: Int) -> Mistake {
        let position = text[start..<min(start + 2, text.characters.endIndex)]
        return Mistake("'\(position.shown)' is no escape of a JSON string", at: position.span)
    }

    private mutating func word() throws(Mistake) -> JSONTemplate {
        let start = index
        while let scalar = current, scalar.isWordPart || "+-.".unicodeScalars.contains(scalar) { index += 1 }
        let word = text[start..<index]
        switch word.string {
        case "null": return .null
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        default:
            if Self.isNumber(word.string) { return .number(word.string) }
            index = start
            let rest = text[start..<min(max(start + word.characters.count, start + 1), text.characters.endIndex)]
            throw Mistake(
                "expected a JSON value, found '\(rest.shown)'", at: rest.span,
                hint: "texts and placeholders stand in double quotes, such as \"{id}\"")
        }
    }

    /// Returns true if the text is a number by RFC 8259 (6).
    static func isNumber(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        func digits() -> Int {
            let count = rest.prefix { (48...57).contains($0) }.count
            rest = rest.dropFirst(count)
            return count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let hasLeadingZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole == 1 || (whole > 1 && !hasLeadingZero) else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() > 0 else { return false }
        }
        if let e = rest.first, e | 32 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }

    /// The character at the present position, unless it was inserted.
    private var current: Unicode.Scalar? {
        guard index < text.characters.endIndex, !text.characters[index].isInserted else { return nil }
        return text.characters[index].scalar
    }

    private mutating func skipSpace() {
        while index < text.characters.endIndex, text.characters[index].isSpace { index += 1 }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        skipSpace()
        guard current == scalar else { return false }
        index += 1
        return true
    }

    private func mistake(_ what: String) -> Mistake {
        guard index < text.characters.endIndex else {
            return Mistake("\(what), found the end of the value", at: text.endSpan)
        }
        let position = text[index..<(index + 1)]
        return Mistake("\(what), found '\(position.shown)'", at: position.span)
    }
}
