// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A type's declaration, or one of its extensions, at the top level of a file.
struct TypeDeclaration {
    /// `struct`, `class`, `enum`, `actor`, `protocol` or `extension`.
    let kind: String
    /// The name, of a nested type's extension that of the outermost one.
    let name: String
    let line: Int
    /// From the first word to the closing brace, in lines.
    let length: Int
    /// The names that stand behind the colon.
    let inherited: Set<String>
    /// How many stored properties each value has.
    let storedProperties: Int

    private static let kinds: Set = ["struct", "class", "enum", "actor", "protocol", "extension"]

    static func all(in text: SwiftText) -> [TypeDeclaration] {
        var found: [TypeDeclaration] = []
        let tokens = text.tokens
        var index = 0
        while index + 1 < tokens.count {
            let before = index > 0 ? tokens[index - 1].text : ""
            if kinds.contains(tokens[index].text), before != ".", before != "import",
                let open = tokens[index...].firstIndex(where: { $0.text == "{" }), let end = text.closing(of: open)
            {
                found.append(
                    TypeDeclaration(
                        kind: tokens[index].text, name: tokens[index + 1].text, line: tokens[index].line,
                        length: tokens[end].line - tokens[index].line + 1,
                        inherited: Set(tokens[(index + 2)..<max(index + 2, open)].map(\.text)),
                        storedProperties: storedProperties(in: text, open, end)))
                index = end
            } else if "([{".contains(tokens[index].text), let end = text.closing(of: index) {
                index = end
            }
            index += 1
        }
        return found
    }

    /// Counts `let` and `var` right in a body that belong to a value and are not computed.
    private static func storedProperties(in text: SwiftText, _ open: Int, _ end: Int) -> Int {
        let computed = Set(SizeRule.functions(in: text).map(\.line))
        var count = 0
        var index = open + 1
        while index < end {
            let token = text.tokens[index]
            if "([{".contains(token.text), let close = text.closing(of: index) {
                index = close
            } else if ["let", "var"].contains(token.text) {
                let words = text.tokens[open..<index].filter { $0.line == token.line }.map(\.text)
                if !words.contains("static"), !words.contains("case"), !computed.contains(token.line) { count += 1 }
            }
            index += 1
        }
        return count
    }
}
