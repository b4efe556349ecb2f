// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

extension TokenReader {
    /// Takes a path: names, indices and quoted names, joined with dots.
    mutating func path(_ what: String = "a path", stoppingAt reserved: Set<String> = []) throws(Mistake) -> Located<
        Path
    > {
        guard let token = peek(), token.kind != .separator, !token.isWord(in: reserved) else {
            throw expected(what)
        }
        _ = next()
        return Located(try Self.path(token.text), at: token.span)
    }

    /// Takes paths up to the end or a reserved word; at least one.
    mutating func paths(stoppingAt reserved: Set<String>) throws(Mistake) -> [Located<Path>] {
        var paths = [try path(stoppingAt: reserved)]
        while let token = peek(), token.kind != .separator, !token.isWord(in: reserved) { paths.append(try path()) }
        return paths
    }

    /// Takes a wire type.
    mutating func wireType(_ what: String = "a type of the stream") throws(Mistake) -> Located<String> {
        guard let token = peek(), token.kind != .separator else { throw expected(what) }
        let name = try token.text.unquoted()
        guard Self.isTypeName(name) else {
            throw Mistake("'\(token.text.shown)' is no type name", at: token.span)
        }
        _ = next()
        return Located(name, at: token.span)
    }

    /// Takes wire types up to the end, a separator or a reserved word; at least one.
    mutating func wireTypes(stoppingAt reserved: Set<String>) throws(Mistake) -> [Located<String>] {
        guard let first = peek(), !first.isWord(in: reserved) else { throw expected("a type of the stream") }
        var types = [try wireType()]
        while let token = peek(), token.kind != .separator, !token.isWord(in: reserved) {
            types.append(try wireType())
        }
        return types
    }

    /// Takes a name of a table or column.
    mutating func name(_ what: String) throws(Mistake) -> Located<String> {
        guard let token = peek(), token.kind != .separator, token.text.characters.allSatisfy({ $0.scalar.isWordPart })
        else { throw expected(what) }
        _ = next()
        return Located(token.text.string, at: token.span)
    }

    /// Takes a schema version, 1 or more.
    mutating func schemaVersion() throws(Mistake) -> Located<Int> {
        guard let token = peek(), let number = Int(token.text.string), (1...1_000_000_000).contains(number) else {
            throw expected("a schema version from 1 on")
        }
        _ = next()
        return Located(number, at: token.span)
    }

    /// Reads a text as a path.
    static func path(_ text: SourceText) throws(Mistake) -> Path {
        var steps: [Path.Step] = []
        for part in text.split(on: ".") {
            guard let first = part.characters.first else {
                throw Mistake("a step of the path '\(text.shown)' is empty", at: text.span)
            }
            if first.isSyntax("\"") {
                steps.append(.name(try part.unquoted()))
                continue
            }
            guard part.characters.allSatisfy({ $0.isInserted || $0.scalar.isPathPart }) else {
                throw Mistake(
                    "'\(part.shown)' is no step of a path", at: part.span, hint: "put unusual names in double quotes")
            }
            if part.characters.allSatisfy({ !$0.isInserted && ("0"..."9").contains($0.scalar) }) {
                guard part.characters.count <= 9, let index = Int(part.string) else {
                    throw Mistake("the index '\(part.shown)' is too large", at: part.span)
                }
                steps.append(.index(index))
            } else {
                steps.append(.name(part.string))
            }
        }
        guard steps.count <= 16 else { throw Mistake("the path has more than 16 steps", at: text.span) }
        guard !steps.isEmpty else { throw Mistake("expected a path", at: text.span) }
        return Path(steps)
    }

    /// Reads `true`, `false`, a number or a string; a bare word is a string only if `takesWords`.
    static func literal(_ token: Token, takesWords: Bool) throws(Mistake) -> Column.Literal? {
        if token.kind == .string { return .string(try token.text.unquoted()) }
        if token.isWord("true") { return .boolean(true) }
        if token.isWord("false") { return .boolean(false) }
        if let number = number(token.text) { return .number(number) }
        return takesWords ? .string(token.text.string) : nil
    }

    private static func number(_ text: SourceText) -> Double? {
        guard let first = text.characters.first, !text.hasInsertedText,
            first.scalar == "-" || ("0"..."9").contains(first.scalar),
            text.characters.allSatisfy({ ("0"..."9").contains($0.scalar) || "+-.eE".unicodeScalars.contains($0.scalar) }
            ),
            let number = Double(text.string), number.isFinite
        else { return nil }
        return number
    }

    static func isTypeName(_ name: String) -> Bool {
        !name.isEmpty && name.unicodeScalars.count <= 200
            && name.unicodeScalars.allSatisfy {
                $0.value > 32 && $0.value != 127 && !"|,{}\"".unicodeScalars.contains($0)
            }
    }
}

extension Unicode.Scalar {
    /// True if the character may be in the name of a table, a column or a variable.
    var isWordPart: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }

    /// True if the character may be in a step of a path without quotes.
    var isPathPart: Bool {
        isWordPart || self == "-" || self == "$" || self == "@" || self == ":" || value > 160
    }
}
