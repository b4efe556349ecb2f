// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import GatewayConfig
import Logging
import SyncModel
import Testing

@testable import Gateway

/// Which tokens count, and for whom.
@Suite struct TokenTests {
    private static let issuer = TokenIssuer()
    private static let now: Int64 = 1_700_000_000

    private static func identity(_ algorithms: [TokenAlgorithm] = [.rs256, .es256]) -> Configuration.Identity {
        var identity = Configuration.Identity(
            principal: .jwt(claim: "sub"), key: Secret(bytes: Array(repeating: 7, count: 32)))
        identity.jwtKeys = .file(path: "keys")
        identity.jwtIssuer = "https://id.example"
        identity.jwtAudience = ["sync", "other"]
        identity.jwtAlgorithms = algorithms
        return identity
    }

    private static func keys(
        _ file: [UInt8]? = nil, _ algorithms: [TokenAlgorithm] = [.rs256, .es256]
    ) async throws -> TokenKeys {
        try await TokenKeys(
            identity(algorithms), file: file ?? TokenIssuer.jwks(issuer.entry("one")), clock: PausedClock(),
            logger: Logger(label: "test"))
    }

    private static func claims(_ sub: String = #""ada""#, exp: String = "1700000100", more: String = "") -> String {
        #"{"sub":\#(sub),"iss":"https://id.example","aud":["x","sync"],"exp":\#(exp)\#(more)}"#
    }

    @Test(arguments: [(#""ada""#, "ada"), ("17", "17"), (#""17""#, "17"), ("-4", "-4"), (#""\u00e9 x""#, "é x")])
    func `a token that the key has signed names its subject`(_ sub: String, _ name: String) async throws {
        let token = try await Self.keys().verify(try Self.issuer.token(Self.claims(sub)))
        #expect(try token.name(in: "sub") == name)
        #expect(try token.name(in: "sid") == nil)
    }

    /// Claims, a header, and the check that refuses them.
    static let refused: [(claims: String, header: String, check: TokenRefusal.Check)] = [
        (claims(exp: "1699999939"), es256, .expiry), (claims(exp: "1699999940"), es256, .expiry),
        (claims(exp: #""1700000100""#), es256, .expiry), (claims(exp: "null"), es256, .expiry),
        (#"{"sub":"ada","iss":"https://id.example","aud":"sync"}"#, es256, .expiry),
        (claims(more: #","nbf":1700000061"#), es256, .begin), (claims(more: #","nbf":"soon""#), es256, .begin),
        (claims(more: #","iss":"https://evil.example""#), es256, .issuer),
        (claims(more: #","iss":17"#), es256, .issuer),
        (claims(more: #","aud":"another""#), es256, .audience), (claims(more: #","aud":null"#), es256, .audience),
        (claims(more: #","aud":{"sync":1}"#), es256, .audience),
        (claims(), #"{"alg":"none","kid":"one"}"#, .algorithm), (claims(), #"{"alg":"None"}"#, .algorithm),
        (claims(), #"{"alg":"HS256","kid":"one"}"#, .algorithm), (claims(), #"{"alg":"ES384"}"#, .algorithm),
        (claims(), #"{"alg":"RS256","kid":"one"}"#, .signature), (claims(), #"{"alg":"ES256","kid":"two"}"#, .key),
        (claims(), #"{"kid":"one"}"#, .form), (claims(), #"{"alg":"ES256","kid":7}"#, .form),
        (claims(), #"{"alg":"ES256","kid":"one","crit":["b64"],"b64":false}"#, .form), (claims(), "[]", .form),
        (claims(), "", .form), ("[]", es256, .form), (claims(more: ","), es256, .form),
    ]
    private static let es256 = #"{"alg":"ES256","kid":"one"}"#

    @Test(arguments: refused)
    func `a token is refused by the check that it fails`(
        _ claims: String, _ header: String, _ check: TokenRefusal.Check
    ) async throws {
        let token = try Self.issuer.token(claims, header: header)
        let keys = try await Self.keys()
        let refusal = await #expect(throws: TokenRefusal.self) { try await keys.verify(token) }
        #expect(refusal?.check == check, "\(String(describing: refusal))")
        #expect(refusal?.cause.contains("evil") == false)
    }

    @Test(arguments: [#""""#, "null", "1.5", "true", #"["ada"]"#, #""a\u0000b""#, #""a\ud800""#])
    func `a claim that is no name is refused`(_ sub: String) async throws {
        let token = try await Self.keys().verify(try Self.issuer.token(Self.claims(sub)))
        #expect(throws: TokenRefusal.self) { try token.name(in: "sub") }
    }

    @Test func `an HMAC with the public key is no signature`() async throws {
        for secret in [Self.issuer.pem, Self.issuer.entry("one")] {
            for algorithm in ["HS256", "ES256"] {
                let header = TokenIssuer.encoded(Array(#"{"alg":"\#(algorithm)","kid":"one"}"#.utf8))
                let signed = "\(header).\(TokenIssuer.encoded(Array(Self.claims().utf8)))"
                let code = HMAC<SHA256>.authenticationCode(
                    for: Data(signed.utf8), using: SymmetricKey(data: Data(secret.utf8)))
                let keys = try await Self.keys(Array(Self.issuer.pem.utf8))
                await #expect(throws: TokenRefusal.self) {
                    try await keys.verify("\(signed).\(TokenIssuer.encoded(Array(code)))")
                }
            }
        }
    }

    @Test func `every change of a byte makes a token worthless`() async throws {
        let keys = try await Self.keys()
        let token = Array(try Self.issuer.token(Self.claims()).utf8)
        var generator = SystemRandomNumberGenerator()
        for index in token.indices.dropLast() {
            var changed = token
            changed[index] = UInt8.random(in: 33...126, using: &generator)
            guard changed[index] != token[index] else { continue }
            // The last letter of a part has bits that mean nothing.
            if index + 1 < token.count, token[index + 1] == UInt8(ascii: ".") { continue }
            await #expect(throws: (any Error).self, "byte \(index)") {
                try await keys.verify(String(decoding: changed, as: UTF8.self))
            }
        }
        for text in ["", ".", "..", "...", "a.b.c", String(repeating: "a", count: 20_000), "é.é.é"] {
            await #expect(throws: TokenRefusal.self) { try await keys.verify(text) }
        }
    }

    @Test func `keys come from PEM, and from a JWKS with all that others put into it`() async throws {
        let token = try Self.issuer.token(Self.claims())
        _ = try await Self.keys(Array(Self.issuer.pem.utf8)).verify(token)
        let many = TokenIssuer.jwks(
            #"{"kty":"oct","kid":"one","k":"c2VjcmV0"}"#, #"{"kty":"RSA","use":"enc","alg":"RSA-OAEP","kid":"one"}"#,
            #"{"kty":"RSA","kid":"one","n":"AQAB","e":"AQAB"}"#, "7", #"{"kty":"EC","crv":"P-256","kid":"one","x":1}"#,
            Self.issuer.entry("one", #""use":"sig","alg":"ES256","x5t":"…","d":"AAAA","#))
        _ = try await Self.keys(many).verify(token)
        // A key for one algorithm serves no other.
        await #expect(throws: TokenKeySet.Flaw.self) {
            try await Self.keys(TokenIssuer.jwks(Self.issuer.entry("one", #""alg":"ES384","#)))
        }
        await #expect(throws: TokenKeySet.Flaw.self) {
            try await Self.keys(TokenIssuer.jwks(Self.issuer.entry("one", #""use":"enc","#)))
        }
        for text in [
            #"{"keys":[]}"#, "{}", "", "garbage", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
        ] {
            await #expect(throws: TokenKeySet.Flaw.self) { try await Self.keys(Array(text.utf8)) }
        }
        let secret = P256.Signing.PrivateKey().pemRepresentation
        let flaw = await #expect(throws: TokenKeySet.Flaw.self) { try await Self.keys(Array(secret.utf8)) }
        #expect(flaw?.description.contains("private key") == true)
    }

    @Test func `a key of another issuer is no key`() async throws {
        let keys = try await Self.keys()
        for header in [Self.es256, #"{"alg":"ES256"}"#] {
            let forged = try TokenIssuer().token(Self.claims(), header: header)
            let refusal = await #expect(throws: TokenRefusal.self) { try await keys.verify(forged) }
            #expect(refusal?.check == .signature)
        }
    }
}
