// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Crypto
import GatewayConfig
import JSONBytes
import JWTKit

/// The public keys of an issuer of tokens.
struct TokenKeySet: Sendable {
    /// The most keys that are taken.
    static let maximumKeys = 100
    /// The most keys that one token is tried with.
    private static let maximumTries = 16

    /// The reason why there are no keys.
    struct Flaw: Error, CustomStringConvertible {
        let description: String
    }

    private struct Key {
        /// The id by which tokens name it; nil if it stands for all of them.
        let id: String?
        let algorithms: [String: any JWTAlgorithm]
    }

    private let keys: [Key]

    /// The number of keys.
    var count: Int { keys.count }

    /// Returns true if one of the keys has signed a token.
    func verifies(_ token: SignedToken) -> Bool {
        let matching = keys.lazy.filter { token.keyID == nil || $0.id == nil || $0.id == token.keyID }
        return matching.compactMap { $0.algorithms[token.algorithm] }.prefix(Self.maximumTries).contains { key in
            // Some keys throw for a signature of another length.
            (try? key.verify(token.signature, signs: token.signed)) ?? false
        }
    }

    /// Returns true if a key has the id that a token names, so that no other key can have signed it.
    func hasKey(named keyID: String?) -> Bool { keyID != nil && keys.contains { $0.id == keyID } }

    /// Returns the reason why a token that no key verifies is refused.
    func refusal(of token: SignedToken) -> TokenRefusal {
        token.keyID == nil || keys.contains { $0.id == nil || $0.id == token.keyID }
            ? TokenRefusal(.signature, "no key of the issuer has signed the token")
            : TokenRefusal(.key, "the issuer has no such key")
    }

    /// Reads keys from a JWKS (RFC 7517), or from blocks of PEM; those that fit no allowed algorithm are left out.
    ///
    /// - Throws: ``Flaw`` if none is left.
    static func read(_ bytes: [UInt8], allowed: [TokenAlgorithm]) async throws(Flaw) -> TokenKeySet {
        let text = String(decoding: bytes, as: UTF8.self)
        let keys = text.contains("-----BEGIN ") ? try await pem(text, allowed) : try await jwks(bytes, allowed)
        guard !keys.isEmpty else { throw Flaw(description: "there is no key for any of jwt_algorithms") }
        return TokenKeySet(keys: keys)
    }

    private static func jwks(_ bytes: [UInt8], _ allowed: [TokenAlgorithm]) async throws(Flaw) -> [Key] {
        guard let value = try? JSONValue.parse(bytes), let entries = value["keys"]?.array else {
            throw Flaw(description: "it is neither PEM nor a JWKS, an object with 'keys'")
        }
        var keys: [Key] = []
        // Keys for other purposes, and of kinds that are not known, are usual in it.
        for entry in entries.prefix(maximumKeys) where (entry["use"]?.string ?? "sig") == "sig" {
            let stated = entry["alg"]?.string
            var algorithms: [String: any JWTAlgorithm] = [:]
            for algorithm in allowed where stated == nil || stated == algorithm.rawValue {
                algorithms[algorithm.rawValue] = await key(entry, for: algorithm)
            }
            if !algorithms.isEmpty { keys.append(Key(id: entry["kid"]?.string, algorithms: algorithms)) }
        }
        return keys
    }

    /// Returns the key of a JWKS for an algorithm; nil if it is of another kind.
    ///
    /// Only the public parts are read. The key is bound to the algorithm: jwt-kit would bind it to that of the first
    /// token.
    private static func key(_ entry: JSONValue, for algorithm: TokenAlgorithm) async -> (any JWTAlgorithm)? {
        let id = JWKIdentifier(string: "key")
        let bound = JWK.Algorithm(rawValue: algorithm.rawValue)
        func part(_ name: String) -> String? { entry[name]?.string }
        let jwk: JWK
        switch (algorithm.kind, part("kty"), part("crv")) {
        case (.rsa, "RSA", _): jwk = .rsa(bound, identifier: id, modulus: part("n"), exponent: part("e"))
        case (.curve(let curve), "EC", let named?) where named == curve:
            jwk = .ecdsa(
                bound, identifier: id, x: part("x"), y: part("y"), curve: ECDSACurve(rawValue: curve))
        case (.edwards, "OKP", "Ed25519"):
            jwk = .octetKeyPair(bound, identifier: id, x: part("x"), y: nil, curve: .ed25519)
        default: return nil
        }
        let collection = JWTKeyCollection()
        guard (try? await collection.add(jwk: jwk)) != nil else { return nil }
        return try? await collection.getKey(for: id)
    }

    private static func pem(_ text: String, _ allowed: [TokenAlgorithm]) async throws(Flaw) -> [Key] {
        var keys: [Key] = []
        for block in text.split(separator: "-----BEGIN ").prefix(maximumKeys + 1) {
            guard let end = block.firstRange(of: "-----END ") else { continue }
            let kind = block.prefix { $0 != "-" }
            guard !kind.hasSuffix("PRIVATE KEY") else {
                throw Flaw(description: "it has a private key; only the public one belongs here")
            }
            guard kind == "PUBLIC KEY" || kind == "CERTIFICATE" else { continue }
            let whole = "-----BEGIN \(block[..<end.lowerBound])-----END \(kind)-----\n"
            var algorithms: [String: any JWTAlgorithm] = [:]
            for algorithm in allowed {
                algorithms[algorithm.rawValue] = await key(whole, isCertificate: kind == "CERTIFICATE", for: algorithm)
            }
            if !algorithms.isEmpty { keys.append(Key(id: nil, algorithms: algorithms)) }
        }
        return keys
    }

    private static func key(
        _ pem: String, isCertificate: Bool, for algorithm: TokenAlgorithm
    ) async -> (any JWTAlgorithm)? {
        let keys = JWTKeyCollection()
        func rsa() -> JWTKit.Insecure.RSA.PublicKey? {
            isCertificate ? try? .init(certificatePEM: pem) : try? .init(pem: pem)
        }
        func curve<Curve: ECDSACurveType>(_: Curve.Type) -> ECDSA.PublicKey<Curve>? {
            isCertificate ? try? .init(certificate: pem) : try? .init(pem: pem)
        }
        let digest: DigestAlgorithm =
            switch algorithm {
            case .rs384, .ps384: .sha384
            case .rs512, .ps512: .sha512
            default: .sha256
            }
        switch algorithm {
        case .rs256, .rs384, .rs512: if let key = rsa() { await keys.add(rsa: key, digestAlgorithm: digest) }
        case .ps256, .ps384, .ps512: if let key = rsa() { await keys.add(pss: key, digestAlgorithm: digest) }
        case .es256: if let key = curve(P256.self) { await keys.add(ecdsa: key) }
        case .es384: if let key = curve(P384.self) { await keys.add(ecdsa: key) }
        case .es512: if let key = curve(P521.self) { await keys.add(ecdsa: key) }
        case .edDSA:
            if !isCertificate, let key = try? EdDSA.PublicKey(pem: pem) { await keys.add(eddsa: key) }
        }
        return try? await keys.getKey()
    }
}

extension TokenAlgorithm {
    fileprivate enum Kind {
        case rsa
        case curve(_ name: String)
        case edwards
    }

    fileprivate var kind: Kind {
        switch self {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: .rsa
        case .es256: .curve("P-256")
        case .es384: .curve("P-384")
        case .es512: .curve("P-521")
        case .edDSA: .edwards
        }
    }
}
