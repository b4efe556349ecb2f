// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A Swift source text cut into tokens, as far as the rules of this target need it.
///
/// Comments are left out and string literals stand as one token, so that neither can be mistaken for code. What stands
/// in a string's interpolation is taken as part of the string.
struct SwiftText {
    /// A word, a number, a string literal (as `""`), an identifier in backticks (as two of them) or one other
    /// character.
    struct Token: Equatable {
        let text: String
        /// Counted from 1.
        let line: Int
        /// Whether the token before ends where this one begins.
        let isAdjacent: Bool
    }

    /// All lines without their ends.
    let lines: [String]
    let tokens: [Token]
    /// Where each text stands among the tokens: most rules ask for a few of them in every file.
    private let places: [String: [Int]]

    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var lexer = Lexer(bytes: Array(text.utf8))
        tokens = lexer.run()
        places = Dictionary(grouping: tokens.indices) { [tokens] in tokens[$0].text }
    }

    /// The indices of the tokens with this text, in their order.
    func places(of text: String) -> [Int] { places[text] ?? [] }

    /// The line of this number without white space around it; empty where there is none.
    func trimmedLine(_ number: Int) -> String {
        guard lines.indices.contains(number - 1) else { return "" }
        return lines[number - 1].trimmingCharacters(in: .whitespaces)
    }

    /// Whether the token at `index` is the first one of its line.
    func isFirstOfLine(_ index: Int) -> Bool { index == 0 || tokens[index - 1].line < tokens[index].line }

    /// The index of the bracket that closes the one at `index`, or nil where none does.
    func closing(of index: Int) -> Int? {
        var depth = 0
        for position in index..<tokens.count {
            switch tokens[position].text {
            case "(", "[", "{": depth += 1
            case ")", "]", "}":
                depth -= 1
                if depth == 0 { return position }
            default: break
            }
        }
        return nil
    }
}

/// Reads the tokens off the bytes.
private struct Lexer {
    let bytes: [UInt8]
    var position = 0
    var line = 1
    var tokens: [SwiftText.Token] = []
    var lastEnd = -1

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func run() -> [SwiftText.Token] {
        while let byte = peek() {
            switch byte {
            case ascii("\n"):
                line += 1
                position += 1
            case ascii(" "), ascii("\t"), ascii("\r"): position += 1
            case ascii("/") where peek(1) == ascii("/"): skipLine()
            case ascii("/") where peek(1) == ascii("*"): skipBlockComment()
            case ascii("/") where opensRegex: skipRegex()
            case ascii("\""),
                ascii("#") where opensString:
                readString()
            case ascii("`"): readRawIdentifier()
            case _ where isWord(byte): readWord()
            default: add(from: position, to: position + 1, line: line)
            }
        }
        return tokens
    }

    private func ascii(_ character: Unicode.Scalar) -> UInt8 { UInt8(ascii: character) }

    private func peek(_ distance: Int = 0) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    private func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case ascii("a")...ascii("z"), ascii("A")...ascii("Z"), ascii("0")...ascii("9"), ascii("_"), 128...: true
        default: false
        }
    }

    private mutating func add(from start: Int, to end: Int, line: Int, as text: String? = nil) {
        let text = text ?? String(decoding: bytes[start..<end], as: UTF8.self)
        tokens.append(SwiftText.Token(text: text, line: line, isAdjacent: start == lastEnd))
        position = end
        lastEnd = end
    }

    private mutating func readWord() {
        var end = position
        while end < bytes.count, isWord(bytes[end]) { end += 1 }
        add(from: position, to: end, line: line)
    }

    private mutating func readRawIdentifier() {
        var end = position + 1
        while end < bytes.count, bytes[end] != ascii("`"), bytes[end] != ascii("\n") { end += 1 }
        add(from: position, to: min(end + 1, bytes.count), line: line, as: "``")
    }

    private mutating func skipLine() {
        while let byte = peek(), byte != ascii("\n") { position += 1 }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if peek() == ascii("/"), peek(1) == ascii("*") {
                depth += 1
                position += 2
            } else if peek() == ascii("*"), peek(1) == ascii("/") {
                depth -= 1
                position += 2
            } else {
                if peek() == ascii("\n") { line += 1 }
                position += 1
            }
        } while depth > 0 && position < bytes.count
    }
}

// Literals, which may span lines and hold others.
extension Lexer {
    /// A slash that cannot be a division: one after an opening bracket, an operator or a comma, and not before a space.
    private var opensRegex: Bool {
        guard let next = peek(1), next != ascii(" "), next != ascii("\n") else { return false }
        guard let before = tokens.last?.text else { return false }
        guard ["(", ",", "=", ":", "[", "{", "return", "try"].contains(before) else { return false }
        var index = position + 1
        while index < bytes.count, bytes[index] != ascii("\n") {
            if bytes[index] == ascii("/") { return true }
            index += bytes[index] == ascii("\\") ? 2 : 1
        }
        return false
    }

    private mutating func skipRegex() {
        let start = position
        var end = position + 1
        while end < bytes.count, bytes[end] != ascii("/") { end += bytes[end] == ascii("\\") ? 2 : 1 }
        add(from: start, to: min(end + 1, bytes.count), line: line, as: "\"\"")
    }

    /// Whether a run of `#` here is followed by a quote or, for a regular expression, a slash.
    private var opensString: Bool {
        var index = position
        while index < bytes.count, bytes[index] == ascii("#") { index += 1 }
        return index < bytes.count && (bytes[index] == ascii("\"") || bytes[index] == ascii("/"))
    }

    private mutating func readString() {
        let start = position
        let startLine = line
        let end = endOfString(at: position)
        for byte in bytes[start..<end] where byte == ascii("\n") { line += 1 }
        add(from: start, to: end, line: startLine, as: "\"\"")
    }

    /// The index behind the literal that begins at `start`.
    private func endOfString(at start: Int) -> Int {
        var index = start
        while index < bytes.count, bytes[index] == ascii("#") { index += 1 }
        let hashes = index - start
        guard index < bytes.count else { return bytes.count }
        let quote = bytes[index]
        let isMultiline = quote == ascii("\"") && matches([quote, quote, quote], at: index)
        let quotes = isMultiline ? 3 : 1
        let closing = Array(repeating: quote, count: quotes) + Array(repeating: ascii("#"), count: hashes)
        let escape = [ascii("\\")] + Array(repeating: ascii("#"), count: hashes)
        index += quotes
        while index < bytes.count {
            if matches(closing, at: index) { return index + closing.count }
            if matches(escape, at: index) {
                index += escape.count
                index = index < bytes.count && bytes[index] == ascii("(") ? endOfInterpolation(at: index) : index + 1
            } else {
                // A quote that is never closed must not swallow the rest of the file.
                if bytes[index] == ascii("\n"), !isMultiline, hashes == 0 { return index }
                index += 1
            }
        }
        return bytes.count
    }

    private func matches(_ wanted: [UInt8], at index: Int) -> Bool {
        index + wanted.count <= bytes.count && bytes[index..<index + wanted.count].elementsEqual(wanted)
    }

    /// The index behind the bracket that closes an interpolation; strings inside it may hold brackets.
    private func endOfInterpolation(at start: Int) -> Int {
        var depth = 0
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case ascii("("): depth += 1
            case ascii(")"):
                depth -= 1
                if depth == 0 { return index + 1 }
            case ascii("\""):
                index = endOfString(at: index)
                continue
            default: break
            }
            index += 1
        }
        return bytes.count
    }
}
