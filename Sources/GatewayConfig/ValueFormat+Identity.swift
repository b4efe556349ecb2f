// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

extension ValueFormat where Value == PrincipalSource {
    /// The source of the principal.
    static var principal: Self {
        ValueFormat(
            name: "backend:METHOD /path PATH | jwt:CLAIM | header:NAME | cookie:NAME | bearer",
            parse: { (value, _) throws(Mistake) -> PrincipalSource in
                if value.string == "bearer" { return .bearer }
                let expected = "'backend:METHOD /path PATH', 'jwt:CLAIM', 'header:NAME', 'cookie:NAME' or 'bearer'"
                let (kind, rest) = try NamedSource.split(
                    value, kinds: ["backend", "jwt", "header", "cookie"], others: ["bearer"], expected: expected)
                switch kind {
                case "backend": return try whoAmI(rest)
                case "jwt": return .jwt(claim: try NamedSource.claim(rest))
                case "header": return .header(name: try NamedSource.field(rest))
                default: return .cookie(name: try NamedSource.cookie(rest))
                }
            },
            render: { source in
                switch source {
                case .backend(let method, let target, let path): "backend:\(method) \(target) \(path)"
                case .jwt(let claim): "jwt:\(claim)"
                case .header(let name): "header:\(name)"
                case .cookie(let name): "cookie:\(name)"
                case .bearer: "bearer"
                }
            })
    }

    private static func whoAmI(_ text: SourceText) throws(Mistake) -> PrincipalSource {
        var reader = TokenReader(text)
        guard let method = reader.peek(), ["GET", "POST"].contains(method.text.string) else {
            throw reader.expected("GET or POST after 'backend:'")
        }
        _ = reader.next()
        guard let target = reader.next() else { throw reader.expected("a path such as /users/me") }
        var placeholders: [Located<String>] = []
        _ = try CallParser.target(target.text, placeholders: &placeholders)
        if let placeholder = placeholders.first {
            throw Mistake("there are no placeholders here", at: placeholder.span)
        }
        let path = try reader.path("the path of the principal in the answer, such as id")
        try reader.finish(expecting: "nothing more")
        return .backend(method: method.text.string, target: target.text.string, path: path.value)
    }
}

extension ValueFormat where Value == SessionSource {
    /// The source of the session.
    static var session: Self {
        ValueFormat(
            name: "jwt:CLAIM | header:NAME | cookie:NAME",
            parse: { (value, _) throws(Mistake) -> SessionSource in
                let (kind, rest) = try NamedSource.split(
                    value, kinds: ["jwt", "header", "cookie"], expected: "'jwt:CLAIM', 'header:NAME' or 'cookie:NAME'")
                switch kind {
                case "jwt": return .jwt(claim: try NamedSource.claim(rest))
                case "header": return .header(name: try NamedSource.field(rest))
                default: return .cookie(name: try NamedSource.cookie(rest))
                }
            },
            render: { source in
                switch source {
                case .jwt(let claim): "jwt:\(claim)"
                case .header(let name): "header:\(name)"
                case .cookie(let name): "cookie:\(name)"
                }
            })
    }
}

extension ValueFormat where Value == TokenKeySource {
    /// The place of the keys that verify tokens.
    static var tokenKeys: Self {
        ValueFormat(
            name: "path or URL", limits: "https, or http to this machine",
            parse: { (value, problems) throws(Mistake) -> TokenKeySource in
                let text = try value.unquoted()
                guard text.lowercased().hasPrefix("http://") || text.lowercased().hasPrefix("https://") else {
                    return .file(path: try ValueFormat<String>.text("path").parse(value, &problems))
                }
                let url = try ValueFormat<BaseURL>.baseURL.parse(value, &problems)
                // Whoever can change an answer on its way could make tokens for everybody.
                guard url.isTLS || ["127.0.0.1", "::1", "localhost"].contains(url.host) else {
                    throw Mistake("keys from another machine must come by https", at: value.span)
                }
                return .url(url.description)
            },
            render: { $0.description })
    }
}

extension ValueFormat where Value == TokenAlgorithm {
    /// One algorithm of signatures.
    static var tokenAlgorithm: Self {
        let choice = ValueFormat.choice
        return ValueFormat(
            name: "algorithm", limits: TokenAlgorithm.allCases.map(\.rawValue).joined(separator: ", "),
            parse: { (value, problems) throws(Mistake) -> TokenAlgorithm in
                if value.string == "none" {
                    throw Mistake("'none' is no signature: anybody could be anybody", at: value.span)
                }
                if value.string.hasPrefix("HS") {
                    throw Mistake(
                        "'\(value.shown)' is not supported: who can verify such tokens can also make them",
                        at: value.span, hint: "let the issuer sign with a key pair, such as RS256 or ES256")
                }
                return try choice.parse(value, &problems)
            },
            render: { $0.rawValue })
    }
}

/// Sources that are written as a kind, a colon and a name.
private enum NamedSource {
    /// Returns the kind, and what follows the colon.
    static func split(
        _ value: SourceText, kinds: [String], others: [String] = [], expected: String
    ) throws(Mistake) -> (kind: String, rest: SourceText) {
        let kind = String(value.string.prefix { $0 != ":" })
        guard kinds.contains(kind), value.string.contains(":") else {
            throw Mistake(
                "expected \(expected), found '\(value.shown)'", at: value.span,
                hint: value.hasInsertedText ? nil : NearestName.hint(for: kind, among: kinds + others))
        }
        let start = value.characters.startIndex + kind.unicodeScalars.count + 1
        return (kind, value[start..<value.characters.endIndex].trimmed)
    }

    static func cookie(_ text: SourceText) throws(Mistake) -> String {
        guard !text.isEmpty, text.characters.allSatisfy(\.scalar.isTokenPart) else {
            throw Mistake("expected the name of a cookie after 'cookie:'", at: text.span)
        }
        return text.string
    }

    static func field(_ text: SourceText) throws(Mistake) -> String {
        guard (1...100).contains(text.string.utf8.count), text.characters.allSatisfy(\.scalar.isTokenPart) else {
            throw Mistake("expected the name of a header field after 'header:'", at: text.span)
        }
        return text.string.lowercased()
    }

    /// Returns the name of a claim, which may be a URL.
    static func claim(_ text: SourceText) throws(Mistake) -> String {
        guard (1...200).contains(text.string.utf8.count),
            text.characters.allSatisfy({ $0.scalar.value > 32 && $0.scalar.value < 127 && $0.scalar != "\"" })
        else { throw Mistake("expected the name of a claim such as 'sub' after 'jwt:'", at: text.span) }
        return text.string
    }
}
