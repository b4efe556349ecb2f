// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Logging
import NIOConcurrencyHelpers
import SyncModel
import Testing

@testable import Gateway

/// When the keys of tokens are fetched, and for how long they count.
@Suite(.timeLimit(.minutes(1))) struct TokenRefreshTests {
    private struct Unreachable: Error {}

    private static let identity = {
        var identity = Configuration.Identity(
            principal: .jwt(claim: "sub"), key: Secret(bytes: Array(repeating: 7, count: 32)))
        identity.jwtKeys = .url("https://id.example/keys")
        identity.jwtRefresh = .seconds(600)
        identity.jwtStale = .seconds(3_600)
        return identity
    }()

    private static func token(_ issuer: TokenIssuer, _ id: String?) throws -> String {
        let kid = id.map { #","kid":"\#($0)""# } ?? ""
        return try issuer.token(#"{"sub":"ada","exp":9999999999}"#, header: #"{"alg":"ES256"\#(kid)}"#)
    }

    /// An issuer whose keys can be exchanged and taken away, and the keys that follow it.
    private struct Stage: Sendable {
        let clock = PausedClock()
        let served = NIOLockedValueBox<[UInt8]?>(nil)
        let fetches = NIOLockedValueBox(0)
        let keys: TokenKeys

        init(_ identity: Configuration.Identity = TokenRefreshTests.identity, after earlier: Stage? = nil) {
            keys = TokenKeys(identity, after: earlier?.keys, clock: clock, logger: Logger(label: "test")) {
                [served, fetches] in
                fetches.withLockedValue { $0 += 1 }
                guard let bytes = served.withLockedValue({ $0 }) else { throw Unreachable() }
                return bytes
            }
        }

        func serve(_ bytes: [UInt8]?) { served.withLockedValue { $0 = bytes } }

        /// Verifies a token; before it comes, and while it waits, keys are fetched if that is due.
        func outcome(_ issuer: TokenIssuer, _ id: String?) async throws -> String {
            clock.run { [keys] in await keys.refresh() }
            await keys.refresh()
            do {
                return try await keys.verify(TokenRefreshTests.token(issuer, id)).name(in: "sub") ?? ""
            } catch let refusal as TokenRefusal {
                return refusal.check.rawValue
            } catch let fault as GatewayFault {
                return fault.rawValue
            }
        }

        var count: Int { fetches.withLockedValue { $0 } }
    }

    @Test func `a new key is fetched for the first token that has it`() async throws {
        let (stage, old, new) = (Stage(), TokenIssuer(), TokenIssuer())
        stage.serve(TokenIssuer.jwks(old.entry("old")))
        #expect(try await stage.outcome(old, "old") == "ada")
        #expect(stage.count == 1)
        stage.clock.advance(seconds: 20)
        stage.serve(TokenIssuer.jwks(old.entry("old"), new.entry("new")))
        #expect(try await stage.outcome(new, "new") == "ada")
        #expect(try await stage.outcome(old, "old") == "ada")
        #expect(stage.count == 2)
    }

    @Test(arguments: [(nil, nil), (nil, "new"), ("old", nil)] as [(key: String?, token: String?)])
    func `an only key without an id that is replaced is fetched for the first token of the new one`(
        _ key: String?, _ token: String?
    ) async throws {
        let (stage, old, new) = (Stage(), TokenIssuer(), TokenIssuer())
        stage.serve(TokenIssuer.jwks(old.entry(key)))
        #expect(try await stage.outcome(old, key) == "ada")
        stage.serve(TokenIssuer.jwks(new.entry(token)))
        // A fetch has just been made.
        #expect(try await stage.outcome(new, token) == "signature")
        stage.clock.advance(seconds: 11)
        #expect(try await stage.outcome(new, token) == "ada")
        #expect(stage.count == 2)
        stage.clock.advance(seconds: 11)
        stage.serve(nil)
        #expect(try await stage.outcome(new, token) == "ada")
        // Whether it is a new key is unknown.
        #expect(try await stage.outcome(old, nil) == "identity.keys")
        #expect(stage.count == 3)
    }

    @Test func `a token that names a key which has not signed it causes no fetch`() async throws {
        let (stage, issuer) = (Stage(), TokenIssuer())
        stage.serve(TokenIssuer.jwks(issuer.entry("one"), TokenIssuer().entry(nil)))
        #expect(try await stage.outcome(issuer, "one") == "ada")
        stage.clock.advance(seconds: 11)
        #expect(try await stage.outcome(TokenIssuer(), "one") == "signature")
        #expect(stage.count == 1)
    }

    @Test func `a token that comes while keys are fetched waits for them`() async throws {
        let (clock, issuer) = (PausedClock(), TokenIssuer())
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (served, serve) = AsyncStream.makeStream(of: [UInt8].self)
        let keys = TokenKeys(Self.identity, clock: clock, logger: Logger(label: "test")) {
            begin.finish()
            for await bytes in served { return bytes }
            throw Unreachable()
        }
        // The issuer answers only when the token waits.
        clock.run {
            serve.yield(TokenIssuer.jwks(issuer.entry("one")))
            while keys.age == nil { await Task.yield() }
        }
        async let refreshed: Void = keys.refresh()
        for await _ in begun {}
        let name = try? await keys.verify(try Self.token(issuer, "one")).name(in: "sub")
        serve.finish()
        await refreshed
        #expect(name == "ada")
    }

    @Test func `tokens with made-up keys cause one fetch in ten seconds`() async throws {
        let (stage, issuer) = (Stage(), TokenIssuer())
        stage.serve(TokenIssuer.jwks(issuer.entry("one")))
        #expect(try await stage.outcome(issuer, "one") == "ada")
        for number in 0..<20 { #expect(try await stage.outcome(issuer, "made-up-\(number)") == "key") }
        #expect(stage.count == 1)
        stage.clock.advance(seconds: 11)
        for number in 0..<20 { #expect(try await stage.outcome(issuer, "made-up-\(number)") == "key") }
        #expect(stage.count == 2)
        #expect(try await stage.outcome(issuer, "one") == "ada")
    }

    @Test func `keys that cannot be fetched again count for a while, and then nobody is refused for that`() async throws
    {
        let (stage, issuer) = (Stage(), TokenIssuer())
        stage.serve(TokenIssuer.jwks(issuer.entry("one")))
        #expect(try await stage.outcome(issuer, "one") == "ada")
        stage.serve(nil)
        stage.clock.advance(seconds: 4_100)
        #expect(try await stage.outcome(issuer, "one") == "ada")
        // It may be a new key: 401 would sign its owner out.
        #expect(try await stage.outcome(issuer, "two") == "identity.keys")
        stage.clock.advance(seconds: 200)
        #expect(try await stage.outcome(issuer, "one") == "identity.keys")
        stage.clock.advance(seconds: 11)
        stage.serve(TokenIssuer.jwks(issuer.entry("one")))
        #expect(try await stage.outcome(issuer, "one") == "ada")
        #expect(stage.keys.age.map { $0 < 1 } == true)
    }

    @Test func `an answer without keys replaces none`() async throws {
        let (stage, issuer) = (Stage(), TokenIssuer())
        stage.serve(TokenIssuer.jwks(issuer.entry("one")))
        #expect(try await stage.outcome(issuer, "one") == "ada")
        for text in ["{}", "<html>", #"{"keys":[]}"#] {
            stage.serve(Array(text.utf8))
            stage.clock.advance(seconds: 601)
            #expect(try await stage.outcome(issuer, "one") == "ada")
        }
        #expect(stage.count >= 2)
    }

    @Test func `without a first fetch callers are told to come again`() async throws {
        let (stage, issuer) = (Stage(), TokenIssuer())
        #expect(try await stage.outcome(issuer, "one") == "identity.keys")
        #expect(stage.keys.age == nil)
    }

    @Test func `keys that were fetched count on after a reload, for as long as they would have`() async throws {
        let (before, issuer) = (Stage(), TokenIssuer())
        before.serve(TokenIssuer.jwks(issuer.entry("one")))
        #expect(try await before.outcome(issuer, "one") == "ada")
        var identity = Self.identity
        identity.jwtLeeway = .seconds(1)
        let after = Stage(identity, after: before)
        after.clock.advance(seconds: 4_100)
        #expect(try await after.outcome(issuer, "one") == "ada")
        after.clock.advance(seconds: 200)
        #expect(try await after.outcome(issuer, "one") == "identity.keys")
    }

    @Test func `keys of another source, or for other algorithms, do not count on after a reload`() async throws {
        let (before, issuer) = (Stage(), TokenIssuer())
        before.serve(TokenIssuer.jwks(issuer.entry("one")))
        #expect(try await before.outcome(issuer, "one") == "ada")
        var identities = [Self.identity, Self.identity]
        identities[0].jwtKeys = .url("https://other.example/keys")
        identities[1].jwtAlgorithms = [.es256]
        for identity in identities {
            #expect(try await Stage(identity, after: before).outcome(issuer, "one") == "identity.keys")
        }
    }
}
