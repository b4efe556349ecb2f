// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Refuses what comes too often from one client or principal.
package final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    private let buckets: NIOLockedValueBox<TokenBuckets<Key>>
    private let random: Randomness

    /// Creates a limiter of this many requests a minute, of which `burst` may come at once; nil if the rate is zero.
    package init?(perMinute: Int, burst: Int, random: Randomness = .system) {
        guard perMinute > 0 else { return nil }
        buckets = NIOLockedValueBox(TokenBuckets(perMinute: perMinute, burst: burst))
        self.random = random
    }

    /// Counts a request.
    ///
    /// - Parameters:
    ///   - key: Who has sent it.
    ///   - now: The time since any fixed moment.
    /// - Throws: ``GatewayError`` with `limit.rate` (429) if it comes too early; its `Retry-After` differs from one to
    ///   the next, so that those who were refused together do not come back together.
    package func admit(_ key: Key, at now: Duration) throws {
        guard let wait = buckets.withLockedValue({ $0.take(key, at: now) }) else { return }
        var error = GatewayError(fault: .rate)
        let seconds = Int(clamping: wait.components.seconds) + 1
        var random = random
        error.retryAfter = seconds + Int.random(in: 0...max(1, seconds / 2), using: &random)
        throw error
    }
}
