// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A fault in a configuration, with its position, the source line and, if there is one, a hint.
package struct Diagnostic: Hashable, Sendable {
    /// The severity of a diagnostic.
    package enum Severity: String, Sendable {
        /// The configuration cannot be used.
        case error
        /// The configuration can be used, but probably does not do what was meant.
        case warning
    }

    /// A position in a source, with its line as it may be shown.
    package struct Position: Hashable, Sendable {
        /// The source's name: a file's path, or `environment:NAME`.
        package var file: String
        /// The line, from 1.
        package var line: Int
        /// The first character, from 1.
        package var column: Int
        /// The number of characters.
        package var length: Int
        /// The source line, with secrets already masked; nil if there is no line to show.
        package var excerpt: String?

        /// Creates a position with the line that is shown for it.
        package init(file: String, line: Int, column: Int, length: Int = 1, excerpt: String? = nil) {
            self.file = file
            self.line = line
            self.column = column
            self.length = length
            self.excerpt = excerpt
        }
    }

    /// A second position, and its relation to the first.
    package struct Note: Hashable, Sendable {
        /// The second position.
        package var position: Position
        /// The relation, such as "first set here".
        package var message: String

        /// Creates a note.
        package init(position: Position, message: String) {
            self.position = position
            self.message = message
        }
    }

    /// The severity.
    package var severity: Severity
    /// The position of the fault.
    package var position: Position
    /// The description of the fault: lower case, no full stop, user text in quotes, never a secret.
    package var message: String
    /// A way to mend the fault.
    package var hint: String?
    /// The other side of a contradiction.
    package var note: Note?

    /// Creates a diagnostic.
    package init(severity: Severity, position: Position, message: String, hint: String? = nil, note: Note? = nil) {
        self.severity = severity
        self.position = position
        self.message = message
        self.hint = hint
        self.note = note
    }

    /// The diagnostic as text, over several lines without a final newline.
    ///
    /// ```
    /// config/rind.ini:14:1: error: unknown key 'pool_sise' in [state]
    ///  14 | pool_sise = 8
    ///     | ^~~~~~~~~
    ///     = hint: did you mean 'pool_size'?
    /// ```
    package var rendered: String {
        var lines = Self.render(position, title: "\(severity.rawValue): \(message)")
        if let note { lines += Self.render(note.position, title: "note: \(note.message)") }
        if let hint {
            let margin = String(repeating: " ", count: String(position.line).count)
            lines.append(" \(margin) = hint: \(hint)")
        }
        return lines.joined(separator: "\n")
    }

    private static func render(_ position: Position, title: String) -> [String] {
        let head = "\(position.file):\(position.line):\(position.column): \(title)"
        guard let excerpt = position.excerpt else { return [head] }
        let number = String(position.line)
        let margin = String(repeating: " ", count: number.count)
        let scalars = Array(excerpt.unicodeScalars)
        var indent = String.UnicodeScalarView()
        for index in 0..<max(0, position.column - 1) {
            // A tab stays a tab, so that the caret stands below its character at any tab width.
            indent.append(index < scalars.count && scalars[index] == "\t" ? "\t" : " ")
        }
        let underline = min(position.length, max(1, scalars.count - position.column + 1)) - 1
        let tail = String(repeating: "~", count: underline)
        return [head, " \(number) | \(excerpt)", " \(margin) | \(String(indent))^\(tail)"]
    }
}
