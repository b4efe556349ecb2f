// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Files and functions stay small enough to be read at one go.
enum SizeRule {
    static let maximumFile = 500
    static let maximumFunction = 70

    static func violations(in file: SourceFile) -> [Violation] {
        var found: [Violation] = []
        let count = file.text.hasSuffix("\n") ? file.swift.lines.count - 1 : file.swift.lines.count
        if count > maximumFile {
            let message = "the file has \(count) lines, more than \(maximumFile): which two things are in it?"
            found.append(Violation(file: file, line: maximumFile + 1, message: message))
        }
        for function in functions(in: file.swift) where function.length > maximumFunction {
            let message = "'\(function.name)' has \(function.length) lines, more than \(maximumFunction)"
            found.append(Violation(file: file, line: function.line, message: message))
        }
        return found
    }

    /// Functions, initialisers, subscripts and computed properties that have a body, with their lines from the first
    /// word of the declaration to the closing brace.
    static func functions(in text: SwiftText) -> [(name: String, line: Int, length: Int)] {
        text.tokens.indices.compactMap { index in
            guard startsFunction(at: index, in: text), let body = body(after: index, in: text),
                let end = text.closing(of: body)
            else { return nil }
            let token = text.tokens[index]
            let named = ["func", "var"].contains(token.text) && index + 1 < text.tokens.count
            return (
                named ? text.tokens[index + 1].text : token.text, token.line, text.tokens[end].line - token.line + 1
            )
        }
    }

    private static func startsFunction(at index: Int, in text: SwiftText) -> Bool {
        let before = index > 0 ? text.tokens[index - 1].text : ""
        switch text.tokens[index].text {
        case "func", "deinit", "subscript", "init": return before != "."
        case "var": return before != "case" && before != "let"
        default: return false
        }
    }

    /// The index of the brace that opens the body; nil for a requirement of a protocol or a stored property.
    private static func body(after start: Int, in text: SwiftText) -> Int? {
        let continuing: Set = ["{", "where", "->", "-", "async", "throws", "rethrows", ":", "&", "(", "<", ",", "."]
        let isVariable = text.tokens[start].text == "var"
        var index = start + 1
        while index < text.tokens.count {
            let token = text.tokens[index]
            let previous = text.tokens[index - 1]
            if token.line > previous.line, !continuing.contains(token.text),
                !["where", ",", "&", ":", ">"].contains(previous.text)
            {
                return nil
            }
            switch token.text {
            case "{": return index
            case "(", "[":
                guard let end = text.closing(of: index) else { return nil }
                index = end
            case "}", ";": return nil
            case "=" where isVariable: return nil
            default: break
            }
            index += 1
        }
        return nil
    }
}
