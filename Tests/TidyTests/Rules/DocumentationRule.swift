// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Every declaration that other targets see has a doc comment, and so has every requirement of a protocol they see.
///
/// The formatter's own rule looks at `public` declarations only, of which there are none. What a declaration owes to a
/// protocol is documented there: a function that is a requirement of one of the target's own protocols needs no comment
/// of its own, nor do the state's ports in the stores that implement them, the value that a coder reads into, and the
/// literals, coding and element types of the standard library's.
enum DocumentationRule {
    /// The targets that implement the protocols of StateStore.
    static let stores: Set = ["Accounts", "MemoryState", "PostgresState", "SQLiteState"]

    /// The declarations without comment; `requirements` are the functions that the target has to have.
    static func violations(in file: SourceFile, requirements: Set<String> = []) -> [Violation] {
        let text = file.swift
        let places = text.tokens.indices.filter { index in
            let owes = isDeclaration(index, in: text) && !isWitness(index, of: requirements, in: text)
            return owes || isRequirement(index, in: text)
        }
        return places.filter { !isDocumented(line: text.tokens[$0].line, in: text) }.map { index in
            let line = text.tokens[index].line
            let message = "no doc comment above '\(text.trimmedLine(line).prefix(60))'"
            return Violation(file: file, line: line, message: message)
        }
    }

    /// Whether the word `package` here is an access level, and not of an import.
    private static func isDeclaration(_ index: Int, in text: SwiftText) -> Bool {
        guard text.tokens[index].text == "package", index + 1 < text.tokens.count else { return false }
        let before = index > 0 ? text.tokens[index - 1].text : ""
        let after = text.tokens[index + 1].text
        guard ![".", "let", "var", "("].contains(before) else { return false }
        return !["import", "extension", "(", ".", ":", "=", ",", ")"].contains(after)
    }

    /// The names of the functions that protocols in this text ask of the types of other files.
    static func requirements(in text: SwiftText) -> Set<String> {
        let places = text.tokens.indices.filter { text.tokens[$0].text == "func" && isRequirement($0, in: text) }
        return Set(places.map { text.tokens[$0 + 1].text })
    }

    private static func isWitness(_ index: Int, of requirements: Set<String>, in text: SwiftText) -> Bool {
        let start = text.tokens[index + 1].text == "mutating" ? index + 2 : index + 1
        let next = text.tokens[start...].prefix(3).map(\.text)
        guard next.count == 3 else { return false }
        return switch next[0] {
        case "func": requirements.contains(next[1])
        case "typealias": ["Element", "Failure", "Iterator", "AsyncIterator"].contains(next[1])
        case "init":
            next[2].hasSuffix("Literal") || next[2] == "from" && text.tokens[index + 4].text == "decoder"
                || next[2] == ")" && text.tokens.contains { $0.text == "Coded" }
        default: false
        }
    }

    private static func isRequirement(_ index: Int, in text: SwiftText) -> Bool {
        guard ["func", "var", "init", "subscript", "associatedtype"].contains(text.tokens[index].text) else {
            return false
        }
        return packageProtocols(in: text).contains { body in
            body.contains(index) && depth(of: index, from: body.lowerBound, in: text) == 1
        }
    }

    /// The bodies of protocols that other targets see, from the opening brace to the closing one.
    private static func packageProtocols(in text: SwiftText) -> [Range<Int>] {
        text.places(of: "protocol").compactMap { index in
            guard index > 0, text.tokens[index - 1].text == "package" else { return nil }
            guard let opening = text.tokens[index...].firstIndex(where: { $0.text == "{" }) else { return nil }
            return text.closing(of: opening).map { opening..<$0 }
        }
    }

    private static func depth(of index: Int, from start: Int, in text: SwiftText) -> Int {
        text.tokens[start..<index].reduce(0) { depth, token in
            switch token.text {
            case "(", "[", "{": depth + 1
            case ")", "]", "}": depth - 1
            default: depth
            }
        }
    }

    /// Whether a doc comment stands above the line; attributes may stand between.
    private static func isDocumented(line: Int, in text: SwiftText) -> Bool {
        var number = line - 1
        while text.trimmedLine(number).hasPrefix("@") || isPlainComment(text.trimmedLine(number)) { number -= 1 }
        return text.trimmedLine(number).hasPrefix("///")
    }

    private static func isPlainComment(_ line: String) -> Bool { line.hasPrefix("//") && !line.hasPrefix("///") }
}
