// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Every warning and error of the log has a stable `code`, so that nobody has to search for prose.
enum LogCodeRule {
    private static let targets: Set = ["Backend", "Gateway", "GatewayServer", "rind"]
    private static let levels: Set = ["warning", "error", "critical"]
    /// Levels that need no code where `log(level:` names them.
    private static let quiet: Set = ["trace", "debug", "info", "notice"]

    static func violations(in file: SourceFile) -> [Violation] {
        guard file.isSource, targets.contains(file.target) else { return [] }
        let tokens = file.swift.tokens
        return tokens.indices.dropLast(3).compactMap { index in
            guard tokens[index].text == "logger", tokens[index + 1].text == ".", isLoud(tokens[(index + 2)...]),
                let end = file.swift.closing(of: index + 3), !hasCode(file, index + 3, end)
            else { return nil }
            return Violation(
                file: file, line: tokens[index].line, message: "the line has no \"code\" that docs/ERRORS.md explains")
        }
    }

    /// Whether a call begins here that may write a warning or more.
    private static func isLoud(_ call: ArraySlice<SwiftText.Token>) -> Bool {
        let texts = call.prefix(7).map(\.text)
        guard texts.count > 1, texts[1] == "(" else { return false }
        if texts[0] == "log", texts.count == 7, texts[2] == "level" {
            return !(texts[4] == "." && quiet.contains(texts[5]) && texts[6] == ",")
        }
        return levels.contains(texts[0])
    }

    /// Whether a call names a code, or takes metadata from its function that has one.
    private static func hasCode(_ file: SourceFile, _ start: Int, _ end: Int) -> Bool {
        let tokens = file.swift.tokens
        let isElsewhere = (start..<end - 2).contains { index in
            tokens[index].text == "metadata" && tokens[index + 1].text == ":" && tokens[index + 2].text != "["
        }
        let function = tokens[..<start].lastIndex { ["func", "init"].contains($0.text) } ?? start
        let first = tokens[isElsewhere ? function : start].line
        return file.swift.lines[(first - 1)..<tokens[end].line].contains { $0.contains("\"code\"") }
    }
}
