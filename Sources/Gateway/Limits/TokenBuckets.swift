// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Limits how often something happens for each key: a bucket of tokens that fills steadily and is full at first.
///
/// A bucket is the moment at which it is full again, so one that is full needs no entry.
struct TokenBuckets<Key: Hashable & Sendable>: Sendable {
    /// The most buckets; at that number those that are full are dropped, and all if that frees less than a fifth.
    ///
    /// Dropping takes a look at every bucket, so many new ones have to come before the next time.
    static var maximum: Int { 100_000 }

    /// The time in which a token comes in.
    private let interval: Duration
    /// The tokens of a full bucket.
    private let burst: Int
    /// The moments at which buckets are full.
    private var full: [Key: Duration] = [:]

    /// Creates buckets that get this many tokens a minute, and hold `burst`.
    init(perMinute: Int, burst: Int) {
        interval = .seconds(60) / perMinute
        self.burst = burst
    }

    /// The number of buckets that are not known to be full.
    var count: Int { full.count }

    /// Takes a token.
    ///
    /// - Parameters:
    ///   - key: The bucket's key.
    ///   - now: The time since any fixed moment; if it goes back, a bucket is empty at worst.
    /// - Returns: Nil if there was a token, otherwise the time until there is one.
    mutating func take(_ key: Key, at now: Duration) -> Duration? {
        let fullAt = min(max(full[key] ?? now, now), now + interval * burst)
        let wait = fullAt - now - interval * (burst - 1)
        guard wait <= .zero else {
            // Otherwise a clock that was set back would keep the bucket empty until it has caught up.
            full[key] = fullAt
            return wait
        }
        if full.count >= Self.maximum, full[key] == nil {
            full = full.filter { $0.value > now }
            if full.count > Self.maximum / 5 * 4 { full.removeAll() }
        }
        full[key] = fullAt + interval
        return nil
    }
}
