// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension KeyTable {
    /// Returns every key with type, default, limits and meaning, as `rind keys` prints it.
    package static func listing() -> String {
        var lines: [String] = []
        for section in sections {
            lines += ["[\(section.name)]  \(section.summary)", ""]
            for key in keys(of: section.name) { lines += listing(key) }
        }
        lines += ["[table NAME]  One table of the app's schema: the lines that fill it, the calls that write it.", ""]
        for key in table { lines += listing(key) }
        lines += ["[columns NAME]  The columns of that table, one a line: column = type [source] [attributes].", ""]
        lines += columnLanguage.flatMap { wrap($0, indent: "  ") }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func listing(_ key: Key) -> [String] {
        var lines = ["  \(key.name) = \(key.type)"]
        lines += wrap(facts(key), indent: "      ")
        lines += wrap(key.summary, indent: "      ")
        if !key.about.isEmpty { lines += wrap(key.about, indent: "      ") }
        return lines + [""]
    }

    private static func facts(_ key: Key) -> String {
        var facts: [String] = []
        switch key.defaultText {
        case nil: facts.append("required")
        case "": facts.append("default: none")
        case let text?: facts.append("default: \(text)")
        }
        if let limits = key.limits { facts.append("limits: \(limits)") }
        if key.isSecret { facts.append("secret") }
        if let variable = key.variable { facts.append(variable) }
        if key.needsRestart { facts.append("needs a restart") }
        return facts.joined(separator: " · ")
    }

    /// The description of the value of `column =`.
    static let columnLanguage = [
        """
        Types: string, number, boolean, timestamp (milliseconds for the app, ISO 8601 or a number for the backend), \
        json (text for the app, a value for the backend). With '?' behind it the column is optional: null instead of \
        "", 0 or false.
        """,
        """
        Sources: a path such as createdAt or owner.id; path in AlbumV2 for some line types only; @type for the \
        line's type; "text", a number, true or false for a fixed value. Alternatives are joined with '|', and the \
        first that is present wins. Without a source the column has the member of its own name.
        """,
        """
        Attributes: since N (the first schema version that has it), readonly (never sent), version (the backend's \
        version of the record), ref TABLE (an id of that table), as iso|millis|seconds|http (how a timestamp is sent, \
        and what a number counts), as number (a text that is sent as a number), zone NAME (of times without one), \
        decimal (a number that the backend has as a text), true WORD false WORD (the backend's words), default VALUE, \
        json (objects and arrays as a text), strict (no other spelling is read), oneof WORD … else WORD (what the \
        backend takes, and what is sent instead of anything else), max N (characters of a text), send PATH (where it \
        goes in what is sent).
        """,
    ]

    /// Breaks text at spaces so that lines have at most 110 characters.
    static func wrap(_ text: String, indent: String) -> [String] {
        var lines: [String] = []
        var line = indent
        for word in text.split(separator: " ") {
            if line.count + word.count + 1 > 110, line != indent {
                lines.append(line)
                line = indent
            }
            line += line == indent ? String(word) : " " + word
        }
        if line != indent { lines.append(line) }
        return lines
    }
}
