// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Every warning and error of the log has a stable `code`, so that nobody has to search for prose.
enum LogCodeRule {
    private static let targets: Set = ["Gateway", "GatewayServer", "rind"]
    private static let levels: Set = ["warning", "error", "critical"]

    static func violations(in file: SourceFile) -> [Violation] {
        guard file.isSource, targets.contains(file.target) else { return [] }
        let tokens = file.swift.tokens
        return tokens.indices.dropLast(3).compactMap { index in
            guard tokens[index].text == "logger", tokens[index + 1].text == ".",
                levels.contains(tokens[index + 2].text), tokens[index + 3].text == "(",
                let end = file.swift.closing(of: index + 3), !hasCode(file, index + 3, end)
            else { return nil }
            return Violation(
                file: file, line: tokens[index].line, message: "the line has no \"code\" that docs/ERRORS.md explains")
        }
    }

    /// Whether a call names a code, or takes all its metadata from elsewhere in a file that sets one.
    private static func hasCode(_ file: SourceFile, _ start: Int, _ end: Int) -> Bool {
        let tokens = file.swift.tokens
        let lines = file.swift.lines[(tokens[start].line - 1)..<tokens[end].line]
        let isElsewhere = (start..<end - 2).contains { index in
            tokens[index].text == "metadata" && tokens[index + 1].text == ":" && tokens[index + 2].text != "["
        }
        let names = isElsewhere ? file.swift.lines[...] : lines
        return names.contains { $0.contains("\"code\"") }
    }
}
