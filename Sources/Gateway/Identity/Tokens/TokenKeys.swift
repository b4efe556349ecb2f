// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Curl
import Foundation
package import GatewayConfig
import HTTPTypes
import JWTKit
package import Logging
import NIOConcurrencyHelpers
import NIOCore
package import SyncModel

/// Verifies tokens, with keys from a file or with those that the issuer publishes.
///
/// What ``refresh()`` fetches is fetched in the background: a client that goes away ends no fetch, and a stranger with
/// made-up tokens causes one every ten seconds at most.
package final class TokenKeys: Sendable {
    /// The most bytes of a file or an answer with keys.
    package static let maximumBytes = 256 << 10
    /// The least time between two fetches, in milliseconds.
    static let pause: Int64 = 10_000
    /// The longest time that a request waits for a fetch, in milliseconds.
    static let patience: Int64 = 5_000

    private struct State {
        var keys: TokenKeySet?
        /// The time of the last fetch that brought keys.
        var fetchedAt = Instant.earliest
        /// The time of the last fetch.
        var triedAt = Instant.earliest
        /// The number of fetches that have ended.
        var fetches = 0
        /// True if a token has come whose key may be a new one, or while keys are fetched: whoever needs them waits.
        var isWanted = false
        var hasFailed = false
    }

    /// The settings by which tokens are verified.
    package let identity: Configuration.Identity
    private let rules: TokenRules
    private let algorithms: Set<String>
    private let clock: any WallClock
    private let logger: Logger
    private let fetch: (@Sendable () async throws -> [UInt8])?
    private let state: NIOLockedValueBox<State>

    /// Creates keys that are fetched; those of an earlier configuration count on if they are of the same source.
    init(
        _ identity: Configuration.Identity, after earlier: TokenKeys? = nil, clock: any WallClock, logger: Logger,
        fetch: @escaping @Sendable () async throws -> [UInt8]
    ) {
        self.identity = identity
        rules = TokenRules(identity)
        algorithms = Set(identity.jwtAlgorithms.map(\.rawValue))
        self.clock = clock
        self.logger = logger
        self.fetch = fetch
        var state = State()
        if let earlier, earlier.identity.jwtKeys == identity.jwtKeys,
            earlier.identity.jwtAlgorithms == identity.jwtAlgorithms
        {
            // Without the time of the last fetch: one that still runs brings nothing to these keys.
            let taken = earlier.state.withLockedValue { $0 }
            (state.keys, state.fetchedAt, state.hasFailed) = (taken.keys, taken.fetchedAt, taken.hasFailed)
        }
        self.state = NIOLockedValueBox(state)
    }

    /// Creates keys that were read from a file.
    ///
    /// - Throws: An error that says in words why there are none.
    package init(_ identity: Configuration.Identity, file: [UInt8], clock: any WallClock, logger: Logger) async throws {
        self.identity = identity
        rules = TokenRules(identity)
        algorithms = Set(identity.jwtAlgorithms.map(\.rawValue))
        self.clock = clock
        self.logger = logger
        fetch = nil
        state = NIOLockedValueBox(
            State(keys: try await TokenKeySet.read(file, allowed: identity.jwtAlgorithms), fetchedAt: clock.now))
    }

    /// Creates keys that are fetched from a URL; ``refresh()`` fetches them for the first time.
    ///
    /// Those that an earlier configuration has fetched from there for the same algorithms count on.
    package convenience init(
        _ identity: Configuration.Identity, url: String, after earlier: TokenKeys?, by transport: any HTTPTransport,
        clock: any WallClock, logger: Logger
    ) {
        self.init(identity, after: earlier, clock: clock, logger: logger) {
            let timeouts = CurlTimeouts(
                connect: .seconds(5), firstByte: .seconds(5), idle: .seconds(5), total: .seconds(10))
            let request = CurlRequest(url: url, fields: [.accept: "application/json"], timeouts: timeouts)
            let response = try await transport.execute(request)
            guard response.status.code == 200 else {
                throw TokenKeySet.Flaw(description: "the answer has status \(response.status.code)")
            }
            return Array(try await response.body.collect(upTo: Self.maximumBytes).readableBytesView)
        }
    }

    /// True if the keys are fetched.
    package var areFetched: Bool { fetch != nil }

    /// The seconds since the keys were fetched; nil if they come from a file, or were never fetched.
    var age: Double? {
        let (hasKeys, fetchedAt) = state.withLockedValue { ($0.keys != nil, $0.fetchedAt) }
        guard areFetched, hasKeys else { return nil }
        return Double(max(0, clock.now.milliseconds(since: fetchedAt))) / 1_000
    }

    /// Verifies a token.
    ///
    /// - Throws: ``TokenRefusal``, or ``GatewayFault/tokenKeys`` if the keys are not known.
    func verify(_ text: some StringProtocol) async throws -> VerifiedToken {
        let token = try SignedToken(text)
        guard algorithms.contains(token.algorithm) else {
            throw TokenRefusal(.algorithm, "the token's algorithm is none of jwt_algorithms")
        }
        try await checkSignature(of: token)
        let claims = try token.claims()
        try rules.check(claims, at: clock.now)
        return VerifiedToken(claims: claims)
    }

    /// Demands that one of the issuer's keys has signed a token; a key that may be a new one is fetched first.
    private func checkSignature(of token: SignedToken) async throws {
        if let keys = usable {
            if keys.verifies(token) { return }
            guard areFetched, !keys.hasKey(named: token.keyID) else { throw keys.refusal(of: token) }
        }
        try await waitForFetch()
        guard let keys = usable else { throw GatewayFault.tokenKeys }
        if keys.verifies(token) { return }
        // Without an answer of the issuer it is unknown whether the key is a new one.
        let isUnknown = !keys.hasKey(named: token.keyID) && state.withLockedValue(\.hasFailed)
        throw isUnknown ? GatewayFault.tokenKeys : keys.refusal(of: token) as any Error
    }

    /// The keys, unless they are too old.
    private var usable: TokenKeySet? {
        let (keys, fetchedAt) = state.withLockedValue { ($0.keys, $0.fetchedAt) }
        let lifetime = identity.jwtRefresh.milliseconds + identity.jwtStale.milliseconds
        return !areFetched || clock.now.milliseconds(since: fetchedAt) <= lifetime ? keys : nil
    }

    /// Asks for a fetch and waits for its end, unless one has just been made.
    private func waitForFetch() async throws {
        let now = clock.now
        let before: Int? = state.withLockedValue { state in
            guard state.isWanted || !Self.isRecent(state.triedAt, now) else { return nil }
            state.isWanted = true
            return state.fetches
        }
        guard let before else { return }
        while state.withLockedValue(\.fetches) == before, clock.now.milliseconds(since: now) < Self.patience {
            try await clock.sleep(milliseconds: 50)
        }
    }

    private static func isRecent(_ time: Instant, _ now: Instant) -> Bool {
        // A time in the future was noted before the clock went back.
        time <= now && now.milliseconds(since: time) < pause
    }

    /// Fetches the keys if that is due; called again and again in the background.
    package func refresh() async {
        guard let fetch else { return }
        let now = clock.now
        let isDue = state.withLockedValue { state in
            if Self.isRecent(state.triedAt, now) { return false }
            let age = now.milliseconds(since: state.fetchedAt)
            let isOld = age < 0 || age >= identity.jwtRefresh.milliseconds
            guard isOld || state.isWanted else { return false }
            (state.triedAt, state.isWanted) = (now, true)
            return true
        }
        guard isDue else { return }
        do {
            let keys = try await TokenKeySet.read(try await fetch(), allowed: identity.jwtAlgorithms)
            end(with: keys, at: now)
        } catch is CancellationError {
            return
        } catch {
            end(with: nil, at: now)
            logger.warning(
                "the keys of tokens could not be fetched",
                metadata: [
                    "code": "\(GatewayFault.tokenKeys.rawValue)", "url": "\(identity.jwtKeys?.description ?? "")",
                    "cause": "\(error)", "usable": "\(usable != nil)",
                ])
        }
    }

    private func end(with keys: TokenKeySet?, at now: Instant) {
        let isNews = state.withLockedValue { state in
            defer {
                state.fetches += 1
                (state.isWanted, state.hasFailed) = (false, keys == nil)
            }
            guard let keys else { return false }
            let isNews = state.keys == nil || state.hasFailed
            (state.keys, state.fetchedAt) = (keys, now)
            return isNews
        }
        guard isNews, let keys else { return }
        logger.notice("the keys of tokens were fetched", metadata: ["keys": .stringConvertible(keys.count)])
    }
}
