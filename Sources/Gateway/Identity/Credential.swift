// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// What a request carries to show who is calling; never stored and never logged.
struct Credential: Sendable {
    /// The fields that carry it, each with its name in lower case, in a fixed order.
    let fields: [(name: String, value: String)]

    /// Finds the credential of a request; nil where it has none.
    ///
    /// - Parameters:
    ///   - requestFields: The request's header fields.
    ///   - tokenHeaders: Further names that carry a credential, in lower case.
    init?(_ requestFields: HTTPFields, tokenHeaders: [String]) {
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

    /// What identifies the backend's session: the tokens, or the cookies where there is no token.
    ///
    /// Cookies change for reasons of their own, so they count only where nothing better is there.
    var sessionParts: [[UInt8]] {
        let tokens = fields.filter { $0.name != "cookie" }
        return (tokens.isEmpty ? fields : tokens).flatMap { [Array($0.name.utf8), Array($0.value.utf8)] }
    }

    /// All of it: whoever sends the very same has been accepted before.
    var allParts: [[UInt8]] { fields.flatMap { [Array($0.name.utf8), Array($0.value.utf8)] } }

    /// The token, a scheme included: what a caller with an opaque bearer token is known by.
    var token: String? { fields.first { $0.name != "cookie" }?.value }

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
