// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Whoever switches a check of the compiler off says above the declaration why that is right.
enum ReasonRule {
    static func violations(in file: SourceFile) -> [Violation] {
        let switches = ["@unchecked", "nonisolated(unsafe)"]
        return switches.flatMap { spelling in
            let pattern = SwiftText(spelling).tokens.map(\.text)
            let tokens = file.swift.tokens
            return tokens.indices.dropLast(pattern.count - 1).filter { start in
                tokens[start].text == pattern[0] && tokens[start..<start + pattern.count].map(\.text) == pattern
                    && !hasReason(above: tokens[start].line, for: spelling, in: file.swift)
            }.map { start in
                let message = "'\(spelling)' needs a comment on the line before that says why it is safe"
                return Violation(file: file, line: tokens[start].line, message: message)
            }
        }
    }

    /// Whether the comments and attributes directly above hold a plain comment, or a doc comment that names the switch.
    private static func hasReason(above line: Int, for spelling: String, in text: SwiftText) -> Bool {
        var number = line - 1
        while true {
            let content = text.trimmedLine(number)
            if content.hasPrefix("///") {
                if content.contains(spelling) { return true }
            } else if content.hasPrefix("//") {
                return true
            } else if !content.hasPrefix("@") {
                return false
            }
            number -= 1
        }
    }
}
