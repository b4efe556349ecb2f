// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A mistake in a value, thrown by the parser that found it and reported by the code that asked for the value.
package struct Mistake: Error, Sendable {
    /// The description of the mistake: lower case, no full stop, user text in quotes.
    package var message: String
    /// The position of the mistake.
    package var span: Span
    /// A way to mend the mistake.
    package var hint: String?

    /// Creates a mistake.
    package init(_ message: String, at span: Span, hint: String? = nil) {
        self.message = message
        self.span = span
        self.hint = hint
    }
}

extension Problems {
    /// Adds a mistake as an error.
    package mutating func report(_ mistake: Mistake) {
        error(mistake.message, at: mistake.span, hint: mistake.hint)
    }
}

extension SourceText {
    /// Returns the text with a quoted string resolved, such as `"a \"b\" \\ c"`; without quotes, the text itself.
    ///
    /// Quotes in the middle of a text that does not begin with one are ordinary characters.
    package func unquoted() throws(Mistake) -> String {
        guard let first = characters.first, first.isSyntax("\"") else { return string }
        var result = String.UnicodeScalarView()
        var index = characters.startIndex + 1
        while index < characters.endIndex {
            let character = characters[index]
            if character.isSyntax("\"") {
                guard index + 1 == characters.endIndex else {
                    let rest = self[(index + 1)..<characters.endIndex]
                    throw Mistake("expected nothing after the closing quote, found '\(rest.shown)'", at: rest.span)
                }
                return String(result)
            }
            if character.isSyntax("\\") {
                let next = index + 1 < characters.endIndex ? characters[index + 1] : nil
                guard let next, next.isSyntax("\"") || next.isSyntax("\\") else {
                    let end = min(index + 2, characters.endIndex)
                    throw Mistake(
                        "unknown escape '\(self[index..<end].shown)' in a string", at: self[index..<end].span,
                        hint: "only \\\" and \\\\ are known; write a backslash as \\\\")
                }
                result.append(next.scalar)
                index += 2
                continue
            }
            result.append(character.scalar)
            index += 1
        }
        throw Mistake("this quote is never closed", at: self[characters.startIndex..<characters.startIndex + 1].span)
    }
}
