// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

extension ValueFormat where Value == Call {
    /// Creates the format of a call to the backend's own protocol, in which these placeholders have a meaning; the
    /// loader checks that there are no others.
    static func call(placeholders: Set<String>, takesBody: Bool = true) -> Self {
        let names = placeholders.sorted().map { "{\($0)}" }.joined(separator: " ")
        return ValueFormat(
            name: takesBody ? "METHOD /path [body JSON]" : "METHOD /path",
            limits: names.isEmpty ? nil : "placeholders: \(names)", placeholders: placeholders,
            parse: { (value, _) throws(Mistake) -> Call in
                let draft = try CallParser.parse(value, allowsOutcomes: false)
                guard let call = draft.call else {
                    throw Mistake("expected a call such as 'POST /sync', found 'none'", at: value.span)
                }
                guard takesBody || call.body == nil else {
                    throw Mistake("this call takes no body of its own", at: value.span)
                }
                return call
            },
            render: { $0.text })
    }
}

extension ValueFormat where Value == Call? {
    /// Creates the format of a call, or `none`.
    static func callOrNone(placeholders: Set<String>) -> Self {
        let call = ValueFormat<Call>.call(placeholders: placeholders)
        return ValueFormat(
            name: call.name + " | none", limits: call.limits, takesNothing: true, placeholders: placeholders,
            parse: { (value, problems) throws(Mistake) -> Call? in
                value.isEmpty || value.string == "none" ? nil : try call.parse(value, &problems)
            },
            render: { $0.map(call.render) ?? "none" })
    }
}

extension ValueFormat where Value == StateLocation {
    /// The state's URL.
    static var stateLocation: Self {
        ValueFormat(
            name: "sqlite:PATH or postgresql://…",
            parse: { (value, _) throws(Mistake) -> StateLocation in
                let text = try value.unquoted()
                if StateLocation.isPostgres(text) {
                    // It may hold a password, so no message shows it.
                    guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://"), !text.utf8.contains(0)
                    else {
                        throw Mistake("expected 'postgresql://USER@HOST/DATABASE'", at: value.span)
                    }
                    return .postgres(url: Secret(bytes: Array(text.utf8)))
                }
                guard text.hasPrefix("sqlite:") else {
                    throw Mistake(
                        "expected 'sqlite:PATH' or 'postgresql://…', found '\(value.shown)'", at: value.span)
                }
                let path = String(text.dropFirst(7))
                guard !path.isEmpty, !path.hasPrefix(":"), !path.hasSuffix("/"), !path.contains("?") else {
                    throw Mistake("expected the path of a file after 'sqlite:'", at: value.span)
                }
                return .sqlite(path: path)
            },
            render: { if case .sqlite(let path, _) = $0 { "sqlite:\(path)" } else { "" } })
    }
}

extension ValueFormat where Value == String {
    /// A name that PostgreSQL takes without quotes.
    static var schemaName: Self {
        ValueFormat(
            name: "name", limits: "letters a to z, digits and '_', at most 63",
            parse: { (value, _) throws(Mistake) -> String in
                let text = try value.unquoted()
                guard SchemaName.isValid(text) else {
                    throw Mistake(
                        "expected letters a to z, digits and '_', found '\(value.shown)'", at: value.span)
                }
                return text
            },
            render: { $0 })
    }
}

extension ValueFormat where Value == VersionSource {
    /// The source of a client's schema version.
    static var versionSource: Self {
        ValueFormat(
            name: "header:NAME",
            parse: { (value, problems) throws(Mistake) -> VersionSource in
                guard value.string.hasPrefix("header:") else {
                    throw Mistake(
                        "expected 'header:NAME', found '\(value.shown)'", at: value.span,
                        hint: value.hasInsertedText || !value.characters.allSatisfy(\.scalar.isTokenPart)
                            ? nil : "did you mean 'header:\(value.string)'?")
                }
                let name = value[value.characters.startIndex + 7..<value.characters.endIndex].trimmed
                return .header(name: try ValueFormat<String>.fieldName.parse(name, &problems))
            },
            render: { if case .header(let name) = $0 { "header:\(name)" } else { "" } })
    }
}

extension ValueFormat where Value == Secret {
    /// Creates the format of a key of at least this many bytes.
    static func secret(atLeast minimum: Int) -> Self {
        ValueFormat(
            name: "secret", limits: "at least \(minimum) bytes",
            parse: { (value, _) throws(Mistake) -> Secret in
                let bytes = Array(try value.unquoted().utf8)
                guard bytes.count >= minimum else {
                    throw Mistake(
                        "the key has \(bytes.count) bytes, expected at least \(minimum)", at: value.span,
                        hint: "make one with 'openssl rand -hex 32'")
                }
                return Secret(bytes: bytes)
            },
            render: { _ in "" })
    }
}

extension ValueFormat where Value == [String] {
    /// Creates the format of member names, joined by one separator; an empty text has no names.
    static func names(_ name: String, separator: Unicode.Scalar) -> Self {
        ValueFormat(
            name: name, takesNothing: true,
            parse: { (value, _) throws(Mistake) -> [String] in
                guard !value.isEmpty else { return [] }
                var parts = value.split(on: separator)
                if separator == "/" {
                    guard parts.removeFirst().isEmpty else {
                        throw Mistake(
                            "expected \(name) that begins with '/', found '\(value.shown)'", at: value.span)
                    }
                }
                var names: [String] = []
                for part in parts {
                    var text = try part.unquoted()
                    guard !text.isEmpty else { throw Mistake("a name in '\(value.shown)' is empty", at: value.span) }
                    if separator == "/" { text = unescaped(text) }
                    names.append(text)
                }
                return names
            },
            render: { names in
                guard separator == "/" else { return names.joined(separator: String(separator)) }
                return names.map { "/" + escaped($0) }.joined()
            })
    }

    /// Resolves the escapes of a JSON pointer (RFC 6901, 3).
    private static func unescaped(_ text: String) -> String {
        var result = ""
        var isEscaped = false
        for character in text {
            if isEscaped {
                result += character == "0" ? "~" : character == "1" ? "/" : "~\(character)"
                isEscaped = false
            } else if character == "~" {
                isEscaped = true
            } else {
                result.append(character)
            }
        }
        return isEscaped ? result + "~" : result
    }

    private static func escaped(_ text: String) -> String {
        text.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }.joined()
    }
}
