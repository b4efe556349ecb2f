// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A piece of a source in which every character has its position.
///
/// Slices keep the positions, so that the parsers of the small languages inside values can point at exactly the text that
/// they mean. A character that came from `${VAR}` or `@file:` is marked as inserted: it is literal text, never syntax.
package struct SourceText: Hashable, Sendable {
    /// One character and its position.
    package struct Character: Hashable, Sendable {
        /// The character.
        package var scalar: Unicode.Scalar
        /// Its line, from 1.
        package var line: Int
        /// The column, from 1; for inserted text, that of the `$` or `@` at the start of its source.
        package var column: Int
        /// The number of columns that it takes: 1, or those of the whole `${VAR}` or `@file:PATH`.
        package var width = 1
        /// True if the character was inserted.
        package var isInserted = false

        /// Returns true if this is a character of the file itself and equals `scalar`.
        package func isSyntax(_ other: Unicode.Scalar) -> Bool { !isInserted && scalar == other }

        /// True if the character separates words: a space, a tab or a line's end that the file itself has.
        package var isSpace: Bool { !isInserted && (scalar == " " || scalar == "\t" || scalar == "\n") }
    }

    /// The source's number.
    package let source: Int
    /// The characters.
    package private(set) var characters: ArraySlice<Character>
    /// The line of the position after the last character.
    package let endLine: Int
    /// The column of the position after the last character.
    package let endColumn: Int

    /// Creates a text that ends after its last character, or at the given position if it is empty.
    package init(source: Int, characters: ArraySlice<Character>, emptyAt line: Int, _ column: Int) {
        self.source = source
        self.characters = characters
        endLine = characters.last?.line ?? line
        endColumn = characters.last.map { $0.column + $0.width } ?? column
    }

    /// Creates the text of a one-line source.
    package init(line: String, source: Int) {
        let characters = line.unicodeScalars.enumerated()
            .map { Character(scalar: $1, line: 1, column: $0 + 1) }
        self.init(source: source, characters: characters[...], emptyAt: 1, 1)
    }

    /// True if there are no characters.
    package var isEmpty: Bool { characters.isEmpty }

    /// The characters, quotes and braces included.
    package var string: String { String(String.UnicodeScalarView(characters.map(\.scalar))) }

    /// True if any of the text was inserted.
    package var hasInsertedText: Bool { characters.contains(where: \.isInserted) }

    /// The text for a message: inserted text, which may be secret, is left out, and long text is cut.
    package var shown: String {
        var shown = String.UnicodeScalarView()
        var wasInserted = false
        for character in characters.prefix(80) {
            if character.isInserted {
                if !wasInserted { shown.append("…") }
            } else {
                shown.append(character.scalar == "\n" ? " " : character.scalar)
            }
            wasInserted = character.isInserted
        }
        if characters.count > 80 { shown.append("…") }
        return String(shown)
    }

    /// The position of the text: from its first character to its last on the same line.
    package var span: Span {
        guard let first = characters.first else { return endSpan }
        let last = characters.last { $0.line == first.line } ?? first
        return Span(
            source: source, line: first.line, column: first.column, length: last.column + last.width - first.column)
    }

    /// The position after the last character, for reports of missing text.
    package var endSpan: Span { Span(source: source, line: endLine, column: endColumn) }

    /// Returns the part between two indices of ``characters``.
    package subscript(range: Range<Int>) -> SourceText {
        let before = range.lowerBound > characters.startIndex ? characters[range.lowerBound - 1] : nil
        let next = range.lowerBound < characters.endIndex ? characters[range.lowerBound] : nil
        return SourceText(
            source: source, characters: characters[range],
            emptyAt: next?.line ?? before?.line ?? endLine,
            next?.column ?? before.map { $0.column + $0.width } ?? endColumn)
    }

    /// The text without white space at both ends; inserted white space stays.
    package var trimmed: SourceText {
        var low = characters.startIndex
        var high = characters.endIndex
        while low < high, characters[low].isSpace { low += 1 }
        while high > low, characters[high - 1].isSpace { high -= 1 }
        return self[low..<high]
    }

    /// Returns the parts between separators, each trimmed; inserted separators and those in quotes and braces do not
    /// count.
    ///
    /// An empty text has no parts; an empty part between two separators is kept, so that it can be reported.
    package func split(on separator: Unicode.Scalar = ",") -> [SourceText] {
        guard !trimmed.isEmpty else { return [] }
        var parts: [SourceText] = []
        var start = characters.startIndex
        var nesting = Nesting()
        for index in characters.indices {
            nesting.step(characters[index])
            guard nesting.isOutside, characters[index].isSyntax(separator) else { continue }
            parts.append(self[start..<index].trimmed)
            start = index + 1
        }
        parts.append(self[start..<characters.endIndex].trimmed)
        return parts
    }
}

/// Tracks quotes and braces, inside which commas do not separate.
package struct Nesting: Sendable {
    /// The number of open braces.
    package private(set) var depth = 0
    /// True if a quote is open.
    package private(set) var isQuoted = false
    private var isEscaped = false

    /// Creates the state outside of all quotes and braces.
    package init() {}

    /// True if neither a quote nor a brace is open.
    package var isOutside: Bool { depth == 0 && !isQuoted }

    /// Processes the next character.
    package mutating func step(_ character: SourceText.Character) {
        guard !character.isInserted else { return }
        if isQuoted {
            if isEscaped {
                isEscaped = false
            } else if character.scalar == "\\" {
                isEscaped = true
            } else if character.scalar == "\"" {
                isQuoted = false
            }
            return
        }
        switch character.scalar {
        case "\"": isQuoted = true
        case "{": depth += 1
        case "}": depth = max(0, depth - 1)
        default: break
        }
    }
}
