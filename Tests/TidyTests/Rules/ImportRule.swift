// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Code imports what ``ImportTable`` allows its target.
enum ImportRule {
    static func violations(in file: SourceFile) -> [Violation] {
        guard let allowed = ImportTable.allowed(in: file.target) else {
            return [Violation(file: file, line: 1, message: "target '\(file.target)' has no row in the import table")]
        }
        return imports(in: file.swift).filter { !allowed.contains($0.module) }.map { module, line in
            let message =
                "\(file.target) may not import \(module); it may import \(allowed.sorted().joined(separator: ", "))"
            return Violation(file: file, line: line, message: message)
        }
    }

    /// The modules that a text imports, in every way of writing it: with an access level, with an attribute, of one
    /// declaration only, of a submodule.
    static func imports(in text: SwiftText) -> [(module: String, line: Int)] {
        let kinds: Set = ["struct", "class", "enum", "protocol", "typealias", "func", "var", "let", "actor"]
        return text.tokens.indices.compactMap { index in
            guard text.tokens[index].text == "import", index == 0 || text.tokens[index - 1].text != "." else {
                return nil
            }
            let next = text.tokens[(index + 1)...].first { !kinds.contains($0.text) }
            return next.map { ($0.text, $0.line) }
        }
    }
}
