// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// The parts of a request that identify the caller; never stored and never logged.
struct Credential: Sendable {
    /// A field with its name in lower case.
    typealias Field = (name: String, value: String)

    /// The fields that carry the credential, in a fixed order.
    let fields: [Field]
    /// The name, in lower case, of the field in which a proxy names the caller: it is no token.
    private let proxyField: String?
    /// Fields that carry no credential but may affect which data the backend shows, such as one that names a tenant.
    let context: [Field]

    /// Finds the credential of a request; nil if it has none.
    ///
    /// - Parameters:
    ///   - requestFields: The request's header fields.
    ///   - tokenHeaders: Further names that carry a credential, in lower case.
    ///   - proxyField: The name of the field in which a proxy names the caller, in lower case.
    ///   - contextHeaders: Names of other forwarded fields that are not declared harmless, in lower case.
    init?(
        _ requestFields: HTTPFields, tokenHeaders: [String], proxyField: String? = nil, contextHeaders: [String] = []
    ) {
        var found: [(name: String, value: String)] = []
        if let authorization = requestFields[.authorization].map(Self.normalized), !authorization.isEmpty {
            found.append(("authorization", authorization))
        }
        for name in tokenHeaders + [proxyField].compactMap({ $0 }) {
            guard let field = HTTPField.Name(name), let value = requestFields[field], !value.isEmpty else { continue }
            found.append((name, value))
        }
        let cookies = requestFields[values: .cookie].joined(separator: "; ")
        if !cookies.isEmpty { found.append(("cookie", cookies)) }
        guard !found.isEmpty else { return nil }
        fields = found
        self.proxyField = proxyField
        context = contextHeaders.compactMap { name in
            HTTPField.Name(name).flatMap { requestFields[$0] }.map { (name, $0) }
        }
    }

    /// Returns the value of one cookie; nil if there is none (RFC 6265, section 4.2.1).
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

    /// The parts that identify the backend's session: the tokens, or the cookies if there is no token, with the
    /// proxy's field and the context.
    ///
    /// Cookies change for reasons of their own, so they count only if there is nothing better.
    var sessionParts: [[UInt8]] {
        Self.parts((tokens.isEmpty ? fields : fields.filter { $0.name != "cookie" }) + context)
    }

    /// Returns the parts that identify the session if one cookie stands for it; nil if there is no such cookie.
    func sessionParts(ofCookie name: String) -> [[UInt8]]? {
        cookie(named: name).map { [Array(name.utf8), Array($0.utf8)] + Self.parts(context) }
    }

    /// All parts: acceptance is remembered for exactly these.
    var allParts: [[UInt8]] { Self.parts(fields + context) }

    /// The parts that identify a caller with an opaque bearer token: the token with its scheme, other tokens that come
    /// with it, and the context.
    ///
    /// Nil if there is no token.
    var bearerParts: [[UInt8]]? {
        tokens.first.map { [Array("bearer".utf8), Array($0.value.utf8)] + Self.parts(tokens.dropFirst() + context) }
    }

    /// Returns the parts that identify a caller whose name is in a cookie; nil if there is no such cookie.
    func principalParts(ofCookie name: String) -> [[UInt8]]? {
        sessionParts(ofCookie: name).map { [Array("cookie".utf8)] + $0 }
    }

    /// Returns the parts that identify a caller, or a session, by a name from another source.
    func parts(of name: String, in source: String, _ kind: String) -> [[UInt8]] {
        [kind, source, name].map { Array($0.utf8) } + Self.parts(context)
    }

    /// The bearer token, or the first other token; nil if there is none.
    var bearerToken: Substring? {
        for (name, value) in tokens {
            let isBearer = value.hasPrefix("bearer ") || value.hasPrefix("Bearer ")
            if isBearer { return value.dropFirst(7) }
            if name != "authorization" { return value[...] }
        }
        return nil
    }

    private var tokens: [Field] { fields.filter { $0.name != "cookie" && $0.name != proxyField } }

    private static func parts(_ fields: some Sequence<Field>) -> [[UInt8]] {
        fields.flatMap { [Array($0.name.utf8), Array($0.value.utf8)] }
    }

    /// Returns the scheme in lower case, since schemes are case-insensitive (RFC 9110, section 11.1), and one space.
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
