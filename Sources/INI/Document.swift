// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A file as sections of keys and values, each with its position; it does not interpret them.
package struct Document: Sendable {
    /// One `key = value`.
    package struct Entry: Sendable {
        /// The key.
        package var key: Located<String>
        /// The value, trimmed, with all its lines; quotes, `${VAR}` and `@file:` are unresolved.
        package var value: SourceText
        /// True if the lexer has already reported a mistake in the value, so that no further report is needed.
        package var isBroken = false
    }

    /// One `[kind]` or `[kind name]` with its entries.
    package struct Section: Sendable {
        /// The first word.
        package var kind: Located<String>
        /// The second word, in sections that have one.
        package var name: Located<String>?
        /// The header's position, brackets included.
        package var span: Span
        /// The entries in their order; repeated ones have been reported, and only the first of them is here.
        package var entries: [Entry] = []

        /// Returns the entry of this key.
        package func entry(_ key: String) -> Entry? { entries.first { $0.key.value == key } }

        /// The section as messages name it, such as `[table albums]`.
        package var title: String { name.map { "[\(kind.value) \($0.value)]" } ?? "[\(kind.value)]" }
    }

    /// The sections in their order; a repeated one has been reported, and its entries are in the first of its name.
    package var sections: [Section] = []

    /// Returns the unnamed section of this kind.
    package func section(_ kind: String) -> Section? { sections.first { $0.kind.value == kind && $0.name == nil } }

    /// Reads a file.
    ///
    /// Everything that violates the grammar is reported to `problems`; the rest is read nevertheless, so that one run
    /// shows every mistake.
    package init(bytes: [UInt8], name: String, problems: inout Problems) {
        let (file, defects) = SourceFile.decode(bytes, name: name)
        let source = problems.register(file)
        for defect in defects {
            let span = Span(source: source, line: defect.line, column: defect.column)
            problems.error(defect.message, at: span, hint: defect.hint)
        }
        var lexer = Lexer(source: source, problems: problems)
        for (index, line) in file.lines.enumerated() where !lexer.problems.isFull {
            lexer.read(line, number: index + 1)
        }
        lexer.closeEntry()
        (sections, problems) = (lexer.sections, lexer.problems)
    }
}
