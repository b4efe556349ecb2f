// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import JSONBytes
import SyncModel

/// The operator's demands on the claims of a token.
struct TokenRules {
    let issuer: String?
    let audiences: Set<String>
    /// The milliseconds by which the issuer's clock may differ.
    let leeway: Int64

    init(_ identity: Configuration.Identity) {
        issuer = identity.jwtIssuer
        audiences = Set(identity.jwtAudience)
        leeway = identity.jwtLeeway.milliseconds
    }

    /// Checks the claims of a token at a time (RFC 7519, 4.1).
    func check(_ claims: JSONValue, at now: Instant) throws(TokenRefusal) {
        let now = Double(now.milliseconds) / 1_000
        let leeway = Double(leeway) / 1_000
        guard let expiry = claims["exp"]?.double else { throw TokenRefusal(.expiry, "the token has no 'exp'") }
        guard now < expiry + leeway else { throw TokenRefusal(.expiry, "the token has expired") }
        if let begin = claims["nbf"] {
            guard let begin = begin.double else { throw TokenRefusal(.begin, "the token's 'nbf' is no number") }
            guard now >= begin - leeway else { throw TokenRefusal(.begin, "the token is not valid yet") }
        }
        if let issuer, claims["iss"]?.string != issuer {
            throw TokenRefusal(.issuer, "the token is of another issuer than jwt_issuer")
        }
        guard audiences.isEmpty || Self.audiences(of: claims).contains(where: audiences.contains) else {
            throw TokenRefusal(.audience, "the token is for none of jwt_audience")
        }
    }

    /// Returns the audiences, which are one text or a list.
    private static func audiences(of claims: JSONValue) -> [String] {
        guard let audience = claims["aud"] else { return [] }
        return audience.string.map { [$0] } ?? audience.array?.compactMap(\.string) ?? []
    }
}

/// The claims of a token whose signature and rules were checked.
struct VerifiedToken {
    let claims: JSONValue

    /// Returns the value of a claim as a name; nil if the token does not have it.
    ///
    /// - Throws: ``TokenRefusal`` if it is neither a short text nor an integer.
    func name(in claim: String) throws(TokenRefusal) -> String? {
        guard let value = claims[claim] else { return nil }
        guard let name = IdentityName.of(value) else {
            throw TokenRefusal(.claim, "the token's '\(claim)' is neither a text of 1 to 255 bytes nor an integer")
        }
        return name
    }
}
