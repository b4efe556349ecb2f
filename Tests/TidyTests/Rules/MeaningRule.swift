// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The operator's page says what a code means in the words of docs/ERRORS.md: a file of the sources is made of it.
enum MeaningRule {
    /// The file.
    static let path = "Sources/GatewayServer/Status/ErrorMeanings.swift"

    /// The text of the file.
    static func source(from document: SourceFile) -> String {
        let entries = document.numberedLines.flatMap { Self.entries(in: String($0.text)) }
        let lines = entries.flatMap { wrapped("\($0.code): \($0.meaning)") }.map { "        " + $0 }
        return """
            // Copyright 2026 the Rind authors
            // SPDX-License-Identifier: Apache-2.0

            /// Holds the meanings of codes; made of docs/ERRORS.md by `RIND_REGENERATE=1 swift test --filter ErrorCodeTests`.
            enum ErrorMeanings {
                /// The meanings by their codes.
                static let all: [String: String] = Dictionary(
                    text.split(separator: "\\n").compactMap { line in
                        line.firstRange(of: ": ").map { (String(line[..<$0.lowerBound]), String(line[$0.upperBound...])) }
                    }
                ) { first, _ in first }

                private static let text = ""\"
            \(lines.joined(separator: "\n"))
                    ""\"
            }

            """
    }

    /// The codes of a row of a table, with the cell before the last one.
    private static func entries(in line: String) -> [(code: String, meaning: String)] {
        guard line.hasPrefix("| `") else { return [] }
        let cells = line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
        guard cells.count >= 3 else { return [] }
        let codes = cells[0].split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        let meaning = plain(cells[cells.count - 2])
        return codes.map { ($0, meaning) }
    }

    /// Text without marks for code, links and emphasis.
    private static func plain(_ text: String) -> String {
        text.replacing(#/\[([^\]]*)\]\([^)]*\)/#) { String($0.1) }.replacing("`", with: "").replacing("*", with: "")
            .replacing("\\", with: "\\\\")
    }

    /// Lines of a string literal, of which all but the last go on.
    private static func wrapped(_ text: String) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let last = lines.count - 1
            if lines[last].count + word.count > 106, !lines[last].isEmpty {
                lines[last] += "\\"
                lines.append("")
            }
            lines[lines.count - 1] += word + " "
        }
        lines[lines.count - 1].removeLast()
        return lines
    }
}
