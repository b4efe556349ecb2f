// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Collects the problems of a configuration: all of them in one run, in the order of the lines, without secrets.
///
/// Excerpts are made at the end, when it is known which lines hold secrets, so that a report on the first half of a
/// line cannot reveal a secret that is recognised only in the second.
package struct Problems: Sendable {
    /// The most problems that are reported; further ones are only counted.
    package static let limit = 200

    /// A second position for a problem that has two sides.
    package struct Second: Sendable {
        /// The second position.
        package var span: Span
        /// The relation of the second position to the first.
        package var message: String

        /// Creates the second side of a problem.
        package init(_ message: String, at span: Span) {
            self.span = span
            self.message = message
        }
    }

    private struct Problem {
        var severity: Diagnostic.Severity
        var span: Span
        var message: String
        var hint: String?
        var second: Second?
    }

    private struct Line: Hashable {
        var source: Int
        var line: Int
    }

    private var sources: [SourceFile] = []
    private var found: [Problem] = []
    private var suppressed = 0
    private var masks: [Line: Int] = [:]
    private var secrets: Set<String> = []

    /// Creates a collection without problems.
    package init() {}

    /// True if any of the problems is an error.
    package private(set) var hasErrors = false

    /// The number of problems, those beyond the limit included.
    package var count: Int { found.count + suppressed }

    /// True if the limit is reached, so that looking further is useless.
    package var isFull: Bool { found.count >= Self.limit }

    /// Adds a source and returns the number by which spans name it.
    package mutating func register(_ source: SourceFile) -> Int {
        sources.append(source)
        return sources.count - 1
    }

    /// Adds an error.
    package mutating func error(_ message: String, at span: Span, hint: String? = nil, second: Second? = nil) {
        hasErrors = true
        add(Problem(severity: .error, span: span, message: message, hint: hint, second: second))
    }

    /// Adds a warning, for text that is allowed but suspicious.
    package mutating func warning(_ message: String, at span: Span, hint: String? = nil, second: Second? = nil) {
        add(Problem(severity: .warning, span: span, message: message, hint: hint, second: second))
    }

    /// Hides everything from `column` on in every excerpt of this line.
    package mutating func mask(source: Int, line: Int, from column: Int) {
        let key = Line(source: source, line: line)
        masks[key] = min(masks[key] ?? Int.max, column)
    }

    /// Hides the text in every excerpt, over all its lines, and any quotation of it in messages.
    package mutating func mask(_ text: SourceText) {
        for character in text.characters {
            mask(source: text.source, line: character.line, from: character.column)
        }
        for line in text.string.split(separator: "\n") {
            let value = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).last ?? line
            for piece in [line, value] { noteSecret(piece) }
        }
    }

    /// Notes a piece of text as secret.
    ///
    /// Short ones would hide words that messages need, and the name of a file or a variable is not secret itself.
    private mutating func noteSecret(_ text: Substring) {
        var text = text
        while let first = text.first, first == " " || first == "\t" || first == "\"" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" || last == "\"" { text.removeLast() }
        guard text.utf8.count >= 16, !text.hasPrefix("@file:"), !text.hasPrefix("${") else { return }
        secrets.insert(String(text))
    }

    /// Returns all problems, sorted by source, line and column.
    package func diagnostics() -> [Diagnostic] {
        let sorted = found.enumerated().sorted { first, second in
            let (a, b) = (first.element.span, second.element.span)
            return (a.source, a.line, a.column, first.offset) < (b.source, b.line, b.column, second.offset)
        }
        var result = sorted.map { _, problem in
            Diagnostic(
                severity: problem.severity, position: position(problem.span),
                message: readable(problem.message), hint: problem.hint.map(readable),
                note: problem.second.map { .init(position: position($0.span), message: readable($0.message)) })
        }
        if suppressed > 0, let last = result.last {
            let position = Diagnostic.Position(
                file: last.position.file, line: last.position.line, column: last.position.column)
            result.append(
                Diagnostic(severity: .error, position: position, message: "\(suppressed) further problems not shown"))
        }
        return result
    }

    /// Masks all secrets in a sentence.
    private func readable(_ text: String) -> String {
        RandomText.masked(ForeignText.masked(Self.withoutCredentials(text), secrets: Array(secrets)))
    }

    private mutating func add(_ problem: Problem) {
        if isFull { suppressed += 1 } else { found.append(problem) }
    }

    private func position(_ span: Span) -> Diagnostic.Position {
        guard sources.indices.contains(span.source) else {
            return .init(file: "?", line: span.line, column: span.column, length: span.length)
        }
        let source = sources[span.source]
        var excerpt = source.line(span.line)
        var span = span
        if let column = masks[Line(source: span.source, line: span.line)], let text = excerpt {
            excerpt = String(String.UnicodeScalarView(text.unicodeScalars.prefix(column - 1))) + "********"
            if span.column + span.length > column { span.length = max(1, column + 8 - span.column) }
        }
        if let text = excerpt { (excerpt, span) = Self.cut(text, around: span) }
        return .init(
            file: source.name, line: span.line, column: span.column, length: span.length,
            excerpt: excerpt.map { RandomText.masked(Self.withoutCredentials($0)) })
    }

    /// Shortens a very long line after the span.
    ///
    /// Columns must stay correct, so nothing is cut before it; if the span begins beyond column 300, there is no
    /// excerpt.
    private static func cut(_ text: String, around span: Span) -> (String?, Span) {
        let scalars = text.unicodeScalars
        guard scalars.count > 400 else { return (text, span) }
        guard span.column <= 300 else { return (nil, span) }
        return (String(String.UnicodeScalarView(scalars.prefix(400))) + "…", span)
    }

    /// Replaces each character between `://` and `@` by a star: a URL may carry a password.
    private static func withoutCredentials(_ text: String) -> String {
        var scalars = Array(text.unicodeScalars)
        var index = 0
        while index + 2 < scalars.count {
            guard scalars[index] == ":", scalars[index + 1] == "/", scalars[index + 2] == "/" else {
                index += 1
                continue
            }
            let start = index + 3
            var end = start
            while end < scalars.count, !["/", " ", "'", "\"", "\t"].contains(scalars[end]) { end += 1 }
            if let at = scalars[start..<end].lastIndex(of: "@") {
                for position in start..<at { scalars[position] = "*" }
            }
            index = end
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
