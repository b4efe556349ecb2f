// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// Reads `type["?"] [source *("|" source)] attribute*`.
struct ColumnParser {
    static let attributes = ["since", "readonly", "version", "ref", "as", "oneof", "max", "send"]
    /// Words that are not paths unless they are quoted.
    static let reserved = Set(attributes + ["in", "else", "true", "false"])

    private var reader: TokenReader
    private var draft: ColumnDraft
    private var seen: Set<String> = []

    /// Reads the value of one key of `[columns NAME]`.
    static func parse(_ value: SourceText, name: Located<String>) throws(Mistake) -> ColumnDraft {
        var parser = try ColumnParser(value, name: name)
        try parser.sources()
        while parser.reader.peek() != nil { try parser.attribute() }
        try parser.check()
        return parser.draft
    }

    private init(_ value: SourceText, name: Located<String>) throws(Mistake) {
        reader = TokenReader(value, separators: ["|"])
        let types = ColumnType.allCases.map(\.rawValue)
        guard let token = reader.peek(), token.kind == .word else { throw reader.expected("a column type") }
        var word = token.text.string
        let isOptional = word.last == "?"
        if isOptional { word.removeLast() }
        guard let type = ColumnType(rawValue: word) else {
            let usual = [
                "int": "number", "integer": "number", "float": "number", "double": "number", "text": "string",
                "bool": "boolean", "date": "timestamp", "datetime": "timestamp", "object": "json",
            ]
            let guess = usual[word.lowercased()].map { "did you mean '\($0)'?" }
            throw reader.expected(
                "a column type (\(types.joined(separator: ", ")))",
                hint: guess ?? NearestName.hint(for: word, among: types))
        }
        _ = reader.next()
        var column = Column(name: name.value, type: type)
        column.isOptional = isOptional
        draft = ColumnDraft(column: column, name: name)
    }

    private mutating func sources() throws(Mistake) {
        guard let first = reader.peek(), !first.isWord(in: Set(Self.attributes)) else { return }
        var sources: [Column.Source] = []
        repeat { sources.append(try source()) } while reader.take(separator: "|")
        draft.column.sources = sources
    }

    private mutating func source() throws(Mistake) -> Column.Source {
        guard let token = reader.peek(), token.kind != .separator else { throw reader.expected("a source") }
        if reader.take("@type") { return .lineType }
        let isQuotedName = token.kind == .string && Self.reserved.contains((try? token.text.unquoted()) ?? "")
        if !isQuotedName, let literal = try TokenReader.literal(token, takesWords: false) {
            try check(literal, at: token)
            _ = reader.next()
            return .literal(literal)
        }
        let path = try reader.path("a source", stoppingAt: Self.reserved)
        var types: [Located<String>] = []
        if reader.take("in") { types = try reader.wireTypes(stoppingAt: Self.reserved) }
        draft.types += types
        return .path(path.value, types: types.map(\.value))
    }

    private func check(_ literal: Column.Literal, at token: Token) throws(Mistake) {
        let fits =
            switch (literal, draft.column.type) {
            case (.string, .string), (.string, .json), (.string, .timestamp): true
            case (.number, .number), (.number, .timestamp), (.boolean, .boolean): true
            case (.number, .json), (.boolean, .json): true
            default: false
            }
        if !fits {
            throw Mistake(
                "'\(token.text.shown)' is no value for a column of type \(draft.column.type.rawValue)", at: token.span)
        }
    }

    private mutating func attribute() throws(Mistake) {
        guard let token = reader.peek(), token.isWord(in: Set(Self.attributes)) else {
            let word = reader.peek()?.text.string ?? ""
            let hint =
                NearestName.hint(for: word, among: Self.attributes)
                ?? "alternatives are joined with '|'; a name that is also a keyword stands in quotes"
            throw reader.expected("one of \(Self.attributes.joined(separator: ", "))", hint: hint)
        }
        let word = token.text.string
        guard seen.insert(word).inserted else { throw Mistake("'\(word)' is there twice", at: token.span) }
        _ = reader.next()
        switch word {
        case "since":
            let version = try reader.schemaVersion()
            draft.since = version
            draft.column.since = version.value
        case "readonly": draft.column.isReadonly = true
        case "version":
            draft.column.isVersion = true
            draft.version = token.span
        case "ref":
            let table = try reader.name("a table after 'ref'")
            guard draft.column.type == .string else {
                throw Mistake("'ref' needs a column of type string, as ids are", at: token.span)
            }
            draft.reference = table
            draft.column.reference = table.value
        case "as": try timestampFormat(token)
        case "oneof": try oneOf(token)
        case "max": try maximumLength(token)
        default: draft.column.sendPath = try reader.path("a path after 'send'", stoppingAt: Self.reserved).value
        }
    }

    private mutating func timestampFormat(_ keyword: Token) throws(Mistake) {
        let names = Column.TimestampFormat.allCases.map(\.rawValue)
        guard let token = reader.peek(), let format = Column.TimestampFormat(rawValue: token.text.string) else {
            let hint = NearestName.hint(for: reader.peek()?.text.string ?? "", among: names)
            throw reader.expected("one of \(names.joined(separator: ", ")) after 'as'", hint: hint)
        }
        guard draft.column.type == .timestamp else {
            throw Mistake(
                "'as' is for columns of type timestamp, this one is \(draft.column.type.rawValue)", at: keyword.span)
        }
        _ = reader.next()
        draft.column.timestampFormat = format
    }

    private mutating func oneOf(_ keyword: Token) throws(Mistake) {
        guard draft.column.type == .string else {
            throw Mistake(
                "'oneof' is for columns of type string, this one is \(draft.column.type.rawValue)", at: keyword.span)
        }
        var allowed: [String] = []
        while let token = reader.peek(), token.kind != .separator, !token.isWord("else") {
            allowed.append(try token.text.unquoted())
            _ = reader.next()
        }
        guard !allowed.isEmpty else { throw reader.expected("the allowed values after 'oneof'") }
        guard reader.take("else"), let token = reader.peek(), token.kind != .separator else {
            throw reader.expected("'else' and the value that stands in for every other")
        }
        let fallback = try token.text.unquoted()
        guard allowed.contains(fallback) else {
            throw Mistake(
                "'\(token.text.shown)' is none of the allowed values", at: token.span,
                hint: "the backend must take it, so name it after 'oneof' too")
        }
        _ = reader.next()
        draft.column.oneOf = .init(allowed: allowed, fallback: fallback)
    }

    private mutating func maximumLength(_ keyword: Token) throws(Mistake) {
        guard draft.column.type == .string else {
            throw Mistake(
                "'max' is for columns of type string, this one is \(draft.column.type.rawValue)", at: keyword.span)
        }
        guard let token = reader.peek(), let length = Int(token.text.string), (1...1_000_000_000).contains(length)
        else { throw reader.expected("a number of characters after 'max'") }
        _ = reader.next()
        draft.column.maximumLength = length
    }

    private func check() throws(Mistake) {
        if let length = draft.column.maximumLength, let rule = draft.column.oneOf,
            let long = rule.allowed.first(where: { $0.unicodeScalars.count > length })
        {
            throw Mistake(
                "'\(long)' is longer than 'max \(length)' allows", at: draft.name.span,
                hint: "'oneof' is enough where only these values are sent")
        }
        if draft.column.isReadonly, draft.column.sendPath != nil {
            throw Mistake(
                "column '\(draft.column.name)' is readonly and has 'send'", at: draft.name.span,
                hint: "remove one of the two")
        }
    }
}
