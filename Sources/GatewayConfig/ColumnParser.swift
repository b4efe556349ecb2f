// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// Reads `type["?"] [source *("|" source)] attribute*`.
struct ColumnParser {
    static let attributes = [
        "since", "readonly", "version", "ref", "strict", "as", "zone", "decimal", "true", "default", "json", "oneof",
        "max", "send",
    ]
    /// Words that are not paths unless they are quoted.
    static let reserved = Set(attributes + ["in", "else", "false"])

    private var reader: TokenReader
    private var draft: ColumnDraft
    private var seen: Set<String> = []
    private var zone: Located<String>?

    /// Reads the value of one key of `[columns NAME]`.
    static func parse(
        _ value: SourceText, name: Located<String>, _ zones: inout ZoneNames
    ) throws(Mistake) -> ColumnDraft {
        var parser = try ColumnParser(value, name: name)
        try parser.sources()
        while parser.reader.peek() != nil { try parser.attribute() }
        if let zone = parser.zone { parser.draft.column.zone = try zones.zone(zone) }
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
        guard let first = reader.peek(), !first.isWord(in: Set(Self.attributes)) || isTruth(first) else { return }
        var sources: [Column.Source] = []
        repeat { sources.append(try source()) } while reader.take(separator: "|")
        draft.column.sources = sources
    }

    /// Returns true if `true` is a value here, and not the attribute, behind which the backend's word for it stands.
    private func isTruth(_ token: Token) -> Bool {
        var rest = reader
        guard token.isWord("true"), rest.next() != nil, let word = rest.peek() else { return token.isWord("true") }
        switch try? TokenReader.literal(word, takesWords: false) {
        case .string, .number: return false
        case .boolean, nil: return true
        }
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
        case "strict": draft.column.isStrict = true
        case "as": try format(token)
        case "zone":
            try require(.timestamp, for: token)
            guard let zone = reader.next(), zone.kind != .separator else {
                throw reader.expected("a time zone after 'zone'", hint: "such as Europe/Berlin, UTC or +02:00")
            }
            self.zone = Located(try zone.text.unquoted(), at: zone.span)
        case "decimal":
            try require(.number, for: token)
            draft.column.isDecimal = true
        case "true": try words(token)
        case "default":
            guard let value = reader.peek(), let literal = try TokenReader.literal(value, takesWords: false) else {
                throw reader.expected("a value after 'default'", hint: "a text stands in double quotes")
            }
            try check(literal, at: value)
            _ = reader.next()
            draft.column.fallback = literal
        case "json":
            try require(.string, for: token)
            draft.column.nestsJSON = true
        case "oneof": try oneOf(token)
        case "max": try maximumLength(token)
        default: draft.column.sendPath = try reader.path("a path after 'send'", stoppingAt: Self.reserved).value
        }
    }

    /// Refuses an attribute of another type of column.
    private func require(_ type: ColumnType, for keyword: Token) throws(Mistake) {
        guard draft.column.type == type else {
            throw Mistake(
                "'\(keyword.text.shown)' is for columns of type \(type.rawValue), this one is "
                    + draft.column.type.rawValue, at: keyword.span)
        }
    }

    private mutating func format(_ keyword: Token) throws(Mistake) {
        if draft.column.type == .string, reader.take("number") {
            draft.column.isSentAsNumber = true
            return
        }
        let names = Column.TimestampFormat.allCases.map(\.rawValue)
        guard let token = reader.peek(), let format = Column.TimestampFormat(rawValue: token.text.string) else {
            let hint = NearestName.hint(for: reader.peek()?.text.string ?? "", among: names)
            throw reader.expected("one of \(names.joined(separator: ", ")) after 'as'", hint: hint)
        }
        try require(.timestamp, for: keyword)
        _ = reader.next()
        draft.column.timestampFormat = format
    }

    /// Reads `"Y" false "N"` behind `true`.
    private mutating func words(_ keyword: Token) throws(Mistake) {
        try require(.boolean, for: keyword)
        let yes = try word("'true'")
        guard reader.take("false") else { throw reader.expected("'false' and the backend's word for it") }
        let no = try word("'false'")
        guard yes != no else { throw Mistake("'true' and 'false' have the same word", at: keyword.span) }
        draft.column.words = .init(yes: yes, no: no)
    }

    private mutating func word(_ what: String) throws(Mistake) -> Column.Literal {
        guard let token = reader.peek(), let literal = try TokenReader.literal(token, takesWords: false) else {
            throw reader.expected(
                "the backend's word for \(what)", hint: "a text in double quotes such as \"Y\", or a number")
        }
        _ = reader.next()
        return literal
    }

    private mutating func oneOf(_ keyword: Token) throws(Mistake) {
        try require(.string, for: keyword)
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
        try require(.string, for: keyword)
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
        let isConverting = draft.column.isDecimal || draft.column.words != nil || draft.column.nestsJSON
        if draft.column.isStrict, isConverting {
            throw Mistake(
                "column '\(draft.column.name)' is strict and takes values in another spelling", at: draft.name.span,
                hint: "remove 'strict': it takes only values of the column's own type")
        }
        if draft.column.fallback != nil, draft.column.sources.contains(where: \.isFixed) {
            throw Mistake(
                "column '\(draft.column.name)' has a fixed source and 'default'", at: draft.name.span,
                hint: "remove one of the two: a fixed source is never missing")
        }
        if draft.column.isReadonly, draft.column.sendPath != nil {
            throw Mistake(
                "column '\(draft.column.name)' is readonly and has 'send'", at: draft.name.span,
                hint: "remove one of the two")
        }
    }
}

extension Column.Source {
    /// True if the source has a value in every line.
    fileprivate var isFixed: Bool {
        switch self {
        case .path: false
        case .lineType, .literal: true
        }
    }
}
