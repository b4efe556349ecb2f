// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Doc comments begin as a sentence begins: with a verb for what a function does, with a noun for what a value is.
///
/// A first word such as *what* or *whether* makes half a sentence whose subject the reader has to find.
enum FirstWordRule {
    private static let headless: Set = [
        "As", "At", "By", "Everything", "For", "From", "How", "If", "In", "Like", "Nobody", "Nothing", "Of", "On",
        "Something", "That", "To", "What", "Whatever", "When", "Where", "Whether", "Which", "Who", "Whose", "Why",
        "With",
    ]
    /// Words that end as verbs of the third person do, and are none.
    private static let notVerbs: Set = ["Always", "As", "Has", "Is", "Its", "Less", "Plus", "This", "Thus", "Unless"]

    static func violations(in file: SourceFile) -> [Violation] {
        guard file.isSource else { return [] }
        let lines = file.numberedLines.map { $0.text.trimmingCharacters(in: .whitespaces) }
        return lines.indices.compactMap { index in
            guard lines[index].hasPrefix("///"), index == 0 || !lines[index - 1].hasPrefix("///") else { return nil }
            let word = lines[index].dropFirst(3).split { " .,:;".contains($0) }.first ?? ""
            guard let message = complaint(of: String(word), above: declaration(below: index, in: lines)) else {
                return nil
            }
            return Violation(file: file, line: index + 1, message: message)
        }
    }

    private static func complaint(of word: String, above declaration: String) -> String? {
        if headless.contains(word) { return "the doc comment begins with '\(word)': begin with a verb or a noun" }
        guard isFunction(declaration), !word.hasSuffix("s") || notVerbs.contains(word) else { return nil }
        return "the doc comment of a function begins with '\(word)': begin with what it does, as in 'Returns'"
    }

    /// The line of the declaration that the comment is about; attributes and plain comments may stand between.
    private static func declaration(below index: Int, in lines: [String]) -> String {
        lines[index...].first { !$0.hasPrefix("//") && !$0.hasPrefix("@") } ?? ""
    }

    private static func isFunction(_ declaration: String) -> Bool {
        let head = declaration.prefix { $0 != "{" && $0 != "=" && $0 != "(" && $0 != "<" && $0 != "?" }
        let words = head.split(separator: " ")
        guard let keyword = words.first(where: { ["case", "let", "var", "func", "init", "subscript"].contains($0) })
        else { return false }
        return ["func", "init", "subscript"].contains(keyword)
    }
}
