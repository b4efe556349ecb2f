// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayConfig
import JSONBytes
import Logging
import SyncModel
import Testing

@testable import Gateway

/// Every algorithm, with tokens that another library has signed (`Fixtures/tokens.json`, pyca/cryptography 48).
@Suite struct TokenAlgorithmTests {
    /// A public key in its forms, and a token for each algorithm that it can have signed.
    private struct Sample: Decodable {
        let jwk: [String: String]
        let pem: String
        /// Nil for kinds of keys that are taken from no certificate.
        let certificate: String?
        let tokens: [String: String]

        static let all: [Sample] = {
            let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/tokens.json")
            return (try? JSONDecoder().decode([Sample].self, from: Data(contentsOf: file))) ?? []
        }()

        /// The key as a JWKS; with an algorithm it is bound to that one.
        func jwks(_ algorithm: String?) -> [UInt8] {
            let members = jwk.merging(algorithm.map { ["alg": $0] } ?? [:]) { $1 }
            return TokenIssuer.jwks("{\(members.map { #""\#($0)":"\#($1)""# }.joined(separator: ","))}")
        }
    }

    private static func keys(_ file: [UInt8], _ algorithms: [TokenAlgorithm]) async throws -> TokenKeys {
        var identity = Configuration.Identity(
            principal: .jwt(claim: "sub"), key: Secret(bytes: Array(repeating: 7, count: 32)))
        identity.jwtAlgorithms = algorithms
        return try await TokenKeys(identity, file: file, clock: PausedClock(), logger: Logger(label: "test"))
    }

    @Test(arguments: TokenAlgorithm.allCases)
    func `an algorithm verifies by each form of a key, and a key bound to it verifies no other`(
        _ algorithm: TokenAlgorithm
    ) async throws {
        let name = algorithm.rawValue
        let sample = try #require(Sample.all.first { $0.tokens[name] != nil })
        let token = try #require(sample.tokens[name])
        let texts = [sample.pem, sample.certificate].compactMap { $0.map { Array($0.utf8) } }
        for file in texts + [sample.jwks(nil), sample.jwks(name)] {
            for algorithms in [[algorithm], TokenAlgorithm.allCases] {
                #expect(try await Self.keys(file, algorithms).verify(token).name(in: "sub") == "ada")
            }
        }
        let bound = try await Self.keys(sample.jwks(name), TokenAlgorithm.allCases)
        for (other, token) in Sample.all.flatMap(\.tokens) where other != name {
            let refusal = await #expect(throws: TokenRefusal.self, "\(other)") { try await bound.verify(token) }
            #expect(refusal?.check == .signature)
        }
        // The same key, and another name for what it has signed.
        for other in TokenAlgorithm.allCases where other != algorithm {
            let header = TokenIssuer.encoded(Array(#"{"alg":"\#(other.rawValue)"}"#.utf8))
            let renamed = header + token.drop { $0 != "." }
            let unbound = try await Self.keys(sample.jwks(nil), TokenAlgorithm.allCases)
            for keys in [bound, unbound] {
                await #expect(throws: TokenRefusal.self, "\(other)") { try await keys.verify(renamed) }
            }
        }
    }
}
