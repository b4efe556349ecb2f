// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// What a request carries to show who is calling; never stored and never logged.
struct Credential: Sendable {
    /// A field with its name in lower case.
    typealias Field = (name: String, value: String)

    /// The fields that carry it, in a fixed order.
    let fields: [Field]
    /// Fields that carry no credential but may decide what the backend shows of whom, such as one that names a tenant.
    let context: [Field]

    /// Finds the credential of a request; nil where it has none.
    ///
    /// - Parameters:
    ///   - requestFields: The request's header fields.
    ///   - tokenHeaders: Further names that carry a credential, in lower case.
    ///   - contextHeaders: Names of what else is forwarded and not declared harmless, in lower case.
    init?(_ requestFields: HTTPFields, tokenHeaders: [String], contextHeaders: [String] = []) {
        var found: [(name: String, value: String)] = []
        if let authorization = requestFields[.authorization].map(Self.normalized), !authorization.isEmpty {
            found.append(("authorization", authorization))
        }
        for name in tokenHeaders {
            guard let field = HTTPField.Name(name), let value = requestFields[field], !value.isEmpty else { continue }
            found.append((name, value))
        }
        let cookies = requestFields[values: .cookie].joined(separator: "; ")
        if !cookies.isEmpty { found.append(("cookie", cookies)) }
        guard !found.isEmpty else { return nil }
        fields = found
        context = contextHeaders.compactMap { name in
            HTTPField.Name(name).flatMap { requestFields[$0] }.map { (name, $0) }
        }
    }

    /// The value of one cookie; nil where there is none (RFC 6265, section 4.2.1).
    func cookie(named name: String) -> String? {
        guard let cookies = fields.first(where: { $0.name == "cookie" })?.value else { return nil }
        for pair in cookies.split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].trimmed == name else { continue }
            var value = parts[1].trimmed
            if value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") {
                value = String(value.dropFirst().dropLast())
            }
            return value.isEmpty ? nil : value
        }
        return nil
    }

    /// What identifies the backend's session: the tokens, or the cookies where there is no token, with the context.
    ///
    /// Cookies change for reasons of their own, so they count only where nothing better is there.
    var sessionParts: [[UInt8]] { Self.parts((tokens.isEmpty ? fields : tokens) + context) }

    /// The same where one cookie stands for the session; nil where it is not there.
    func sessionParts(ofCookie name: String) -> [[UInt8]]? {
        cookie(named: name).map { [Array(name.utf8), Array($0.utf8)] + Self.parts(context) }
    }

    /// All of it: whoever sends the very same has been accepted before.
    var allParts: [[UInt8]] { Self.parts(fields + context) }

    /// What a caller with an opaque bearer token is known by: the token, a scheme included, what other tokens come with
    /// it, and the context.
    ///
    /// Nil where there is no token.
    var bearerParts: [[UInt8]]? {
        tokens.first.map { [Array("bearer".utf8), Array($0.value.utf8)] + Self.parts(tokens.dropFirst() + context) }
    }

    /// What a caller is known by whose name is in a cookie; nil where it is not there.
    func principalParts(ofCookie name: String) -> [[UInt8]]? {
        sessionParts(ofCookie: name).map { [Array("cookie".utf8)] + $0 }
    }

    private var tokens: [Field] { fields.filter { $0.name != "cookie" } }

    private static func parts(_ fields: some Sequence<Field>) -> [[UInt8]] {
        fields.flatMap { [Array($0.name.utf8), Array($0.value.utf8)] }
    }

    /// The scheme in lower case, since schemes are case-insensitive (RFC 9110, section 11.1), and one space.
    private static func normalized(_ authorization: String) -> String {
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return authorization.trimmed }
        return parts[0].lowercased() + " " + parts[1].trimmed
    }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        var text = self[...]
        while let first = text.first, first == " " || first == "\t" { text = text.dropFirst() }
        while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
        return String(text)
    }
}
