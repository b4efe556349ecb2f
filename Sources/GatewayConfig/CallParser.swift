// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// A call with the positions of the parts that have to be checked against the rest of the file.
struct CallDraft: Sendable {
    var rule: Table.CallRule
    var span: Span
    var placeholders: [Located<String>] = []
    var returns: Span?
    var reference: Span?
    var ifMatch: Span?
    var hasBody = false

    /// The request, unless the rule is `none`.
    var call: Call? { if case .call(let call) = rule { call } else { nil } }
}

/// Reads `METHOD target outcome* ["body" JSON]`.
struct CallParser {
    static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
    static let outcomes = Call.Meaning.allCases.map(\.rawValue) + ["returns", "ref", "when", "if_match"]

    private var reader: TokenReader
    private var placeholders: [Located<String>] = []
    private let allowsOutcomes: Bool

    private init(_ value: SourceText, allowsOutcomes: Bool) {
        reader = TokenReader(value, separators: ["|"])
        self.allowsOutcomes = allowsOutcomes
    }

    /// Reads a call, or `none`.
    static func parse(_ value: SourceText, allowsOutcomes: Bool = true) throws(Mistake) -> CallDraft {
        var parser = CallParser(value, allowsOutcomes: allowsOutcomes)
        return try parser.parse(value)
    }

    private mutating func parse(_ value: SourceText) throws(Mistake) -> CallDraft {
        if reader.take("none") {
            try reader.finish(expecting: "nothing after 'none'")
            return CallDraft(rule: .none, span: value.span)
        }
        var call = Call(method: try method(), target: [])
        guard let token = reader.next() else { throw reader.expected("a path such as /albums/{id} after the method") }
        call.target = try Self.target(token.text, placeholders: &placeholders)
        var draft = CallDraft(rule: .none, span: value.span)
        while let token = reader.peek() {
            if token.isWord("body") {
                _ = reader.next()
                let text = reader.rest()
                guard !text.isEmpty else { throw reader.expected("JSON after 'body'") }
                var body = BodyParser(text)
                call.body = try body.parse()
                placeholders += body.placeholders
                draft.hasBody = true
                break
            }
            guard allowsOutcomes else {
                throw reader.expected("'body' or the end of the call", hint: Self.bodyHint(token))
            }
            try outcome(&call, &draft)
        }
        draft.rule = .call(call)
        draft.placeholders = placeholders
        return draft
    }

    private mutating func method() throws(Mistake) -> String {
        guard let token = reader.peek() else { throw reader.expected("a call such as 'POST /albums'") }
        let word = token.text.string
        guard Self.methods.contains(word), token.kind == .word else {
            let upper = word.uppercased()
            var hint = NearestName.hint(for: upper, among: Self.methods)
            if Self.methods.contains(upper) { hint = "write it in capital letters: \(upper)" }
            if word.hasPrefix("/") { hint = "put a method before the path" }
            throw reader.expected("one of \(Self.methods.joined(separator: ", "))", hint: hint)
        }
        _ = reader.next()
        return word
    }

    private mutating func outcome(_ call: inout Call, _ draft: inout CallDraft) throws(Mistake) {
        guard let token = reader.peek(), token.isWord(in: Set(Self.outcomes)) else {
            let names = Self.outcomes + ["body"]
            let word = reader.peek()?.text.string ?? ""
            let hint = reader.peek().flatMap(Self.bodyHint) ?? NearestName.hint(for: word, among: names)
            throw reader.expected("one of \(names.joined(separator: ", "))", hint: hint)
        }
        _ = reader.next()
        let word = token.text.string
        if word == "returns" {
            guard call.returns == nil else { throw Mistake("'returns' is there twice", at: token.span) }
            let path = try reader.path("a path after 'returns'", stoppingAt: Set(Self.outcomes + ["body"]))
            call.returns = path.value
            draft.returns = token.span
        } else if word == "ref" {
            guard call.reference == nil else { throw Mistake("'ref' is there twice", at: token.span) }
            let path = try reader.path("a path after 'ref'", stoppingAt: Set(Self.outcomes + ["body"]))
            call.reference = path.value
            draft.reference = token.span
        } else if word == "when" {
            guard call.when.isEmpty else {
                throw Mistake("'when' is there twice", at: token.span, hint: "join the alternatives with '|'")
            }
            repeat { call.when.append(try condition()) } while reader.take(separator: "|")
        } else if word == "if_match" {
            guard !call.sendsVersion else { throw Mistake("'if_match' is there twice", at: token.span) }
            call.sendsVersion = true
            draft.ifMatch = token.span
        } else if let meaning = Call.Meaning(rawValue: word) {
            try statuses(meaning, &call)
        }
    }

    private mutating func condition() throws(Mistake) -> Call.Condition {
        let path = try reader.path("a path")
        guard let token = reader.peek(), token.kind != .separator,
            let literal = try TokenReader.literal(token, takesWords: true)
        else { throw reader.expected("a value after the path '\(path.value)'") }
        _ = reader.next()
        return Call.Condition(path: path.value, value: literal)
    }

    private mutating func statuses(_ meaning: Call.Meaning, _ call: inout Call) throws(Mistake) {
        var count = 0
        while let token = reader.peek(), token.kind == .word, let status = Int(token.text.string) {
            guard (200...599).contains(status) else {
                throw Mistake("\(status) is no final HTTP status, expected 200 … 599", at: token.span)
            }
            if let earlier = call.statuses[status] {
                throw Mistake("status \(status) already means '\(earlier.rawValue)'", at: token.span)
            }
            call.statuses[status] = meaning
            count += 1
            _ = reader.next()
        }
        if count == 0 { throw reader.expected("an HTTP status such as 404 after '\(meaning.rawValue)'") }
    }

    private static func bodyHint(_ token: Token) -> String? {
        guard let first = token.text.characters.first?.scalar, first == "{" || first == "[" else { return nil }
        return "write 'body' before the JSON"
    }

    /// Reads a target: a path that begins with a slash, with `{placeholders}`, and possibly a query.
    static func target(
        _ text: SourceText, placeholders: inout [Located<String>]
    ) throws(Mistake) -> [TextFragment] {
        guard let first = text.characters.first, first.scalar == "/" else {
            throw Mistake(
                "expected a path that begins with '/', found '\(text.shown)'", at: text.span,
                hint: "targets are relative to [backend] url")
        }
        var fragments: [TextFragment] = []
        var literal = ""
        var index = text.characters.startIndex
        while index < text.characters.endIndex {
            let character = text.characters[index]
            if character.isSyntax("{") {
                let (name, end) = try placeholder(in: text, at: index)
                if !literal.isEmpty { fragments.append(.text(literal)) }
                literal = ""
                fragments.append(.placeholder(name.value))
                placeholders.append(name)
                index = end
                continue
            }
            guard character.scalar.isTargetPart else {
                let position = text[index..<(index + 1)]
                throw Mistake(
                    "'\(position.shown)' cannot stand in a path", at: position.span, hint: "write it percent-encoded")
            }
            literal.unicodeScalars.append(character.scalar)
            index += 1
        }
        if !literal.isEmpty { fragments.append(.text(literal)) }
        try checkSegments(fragments, text)
        return fragments
    }

    /// Reads the placeholder that begins at `index`; returns it with the index after its brace.
    static func placeholder(in text: SourceText, at index: Int) throws(Mistake) -> (Located<String>, Int) {
        guard let close = text.characters[index...].firstIndex(where: { $0.isSyntax("}") }) else {
            throw Mistake("this '{' is never closed", at: text[index..<(index + 1)].span)
        }
        let whole = text[index..<(close + 1)]
        let name = text[(index + 1)..<close]
        guard !name.isEmpty,
            name.characters.allSatisfy({ !$0.isInserted && ($0.scalar.isWordPart || $0.scalar == ".") })
        else {
            throw Mistake(
                "'\(whole.shown)' is no placeholder: expected a name in braces, such as {id}", at: whole.span)
        }
        return (Located(name.string, at: whole.span), close + 1)
    }

    private static func checkSegments(_ fragments: [TextFragment], _ text: SourceText) throws(Mistake) {
        let path = fragments.map { if case .text(let text) = $0 { text } else { "x" } }.joined()
        let segments = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        if segments.contains(where: { $0 == "." || $0 == ".." }) {
            throw Mistake("'.' and '..' cannot be segments of a path", at: text.span)
        }
        if segments.dropLast().contains(where: \.isEmpty) {
            throw Mistake("the path has an empty segment", at: text.span, hint: "write one slash instead of two")
        }
    }
}

extension Unicode.Scalar {
    /// True if RFC 3986 (3.3, 3.4) allows the character in a path or query.
    fileprivate var isTargetPart: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: "-._~!$&'()*+,;=:@%/?".unicodeScalars.contains(self)
        }
    }
}
