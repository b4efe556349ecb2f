// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI

/// One word, string or separator of a value.
struct Token: Sendable {
    enum Kind: Hashable {
        /// A text without white space outside of quotes and braces.
        case word
        /// A quoted string alone.
        case string
        /// One of the reader's separators.
        case separator
    }

    var kind: Kind
    var text: SourceText

    var span: Span { text.span }

    /// Returns true for this word, written in the file itself and not in quotes.
    func isWord(_ word: String) -> Bool { kind == .word && !text.hasInsertedText && text.string == word }

    /// Returns true for any of these words.
    func isWord(in words: Set<String>) -> Bool {
        kind == .word && !text.hasInsertedText && words.contains(text.string)
    }

    /// Returns true for this separator.
    func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        kind == .separator && text.characters.first?.scalar == scalar
    }
}

/// Splits a value into tokens, one after the other.
struct TokenReader {
    private let text: SourceText
    private let separators: Set<Unicode.Scalar>
    private var index: Int

    init(_ text: SourceText, separators: Set<Unicode.Scalar> = []) {
        self.text = text
        self.separators = separators
        index = text.characters.startIndex
    }

    /// Returns the next token without taking it.
    func peek() -> Token? {
        var copy = self
        return copy.next()
    }

    /// Takes the next token; nil at the end.
    mutating func next() -> Token? {
        let characters = text.characters
        while index < characters.endIndex, characters[index].isSpace { index += 1 }
        guard index < characters.endIndex else { return nil }
        let start = index
        if isSeparator(characters[start]) {
            index += 1
            return Token(kind: .separator, text: text[start..<index])
        }
        var nesting = Nesting()
        var firstClose: Int?
        while index < characters.endIndex {
            if nesting.isOutside, characters[index].isSpace || isSeparator(characters[index]) { break }
            let wasQuoted = nesting.isQuoted
            nesting.step(characters[index])
            index += 1
            if wasQuoted, !nesting.isQuoted, firstClose == nil { firstClose = index }
        }
        let isString = characters[start].isSyntax("\"") && firstClose == index
        return Token(kind: isString ? .string : .word, text: text[start..<index])
    }

    /// Takes the next token if it is this word.
    mutating func take(_ word: String) -> Bool {
        guard let token = peek(), token.isWord(word) else { return false }
        _ = next()
        return true
    }

    /// Takes the next token if it is this separator.
    mutating func take(separator: Unicode.Scalar) -> Bool {
        guard let token = peek(), token.isSeparator(separator) else { return false }
        _ = next()
        return true
    }

    /// Takes the rest of the value, trimmed.
    mutating func rest() -> SourceText {
        defer { index = text.characters.endIndex }
        return text[index..<text.characters.endIndex].trimmed
    }

    /// Creates the mistake of a missing or different token at this point.
    func expected(_ what: String, hint: String? = nil) -> Mistake {
        guard let token = peek() else {
            return Mistake("expected \(what), found the end of the value", at: text.endSpan, hint: hint)
        }
        return Mistake("expected \(what), found '\(token.text.shown)'", at: token.span, hint: hint)
    }

    /// Checks that the value has ended.
    func finish(expecting what: String) throws(Mistake) {
        if peek() != nil { throw expected(what) }
    }

    private func isSeparator(_ character: SourceText.Character) -> Bool {
        !character.isInserted && separators.contains(character.scalar)
    }
}
