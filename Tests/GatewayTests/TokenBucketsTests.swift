// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Gateway

@Suite struct TokenBucketsTests {
    /// The moments of attempts in milliseconds, at 60 a minute with a burst of 3, and how long each has to wait.
    @Test(
        arguments: [
            ([0, 0, 0, 0], [nil, nil, nil, 1_000]), ([0, 0, 0, 999, 1_000, 1_000], [nil, nil, nil, 1, nil, 1_000]),
            ([0, 0, 0, 60_000, 60_000, 60_000, 60_000], [nil, nil, nil, nil, nil, nil, 1_000]),
            ([0, 0, 0, 2_500, 2_500, 2_500], [nil, nil, nil, nil, nil, 500]),
        ] as [([Int], [Int?])])
    func `a burst passes at once, and then one for each interval`(attempts: [Int], waits: [Int?]) {
        var buckets = TokenBuckets<String>(perMinute: 60, burst: 3)
        for (attempt, wait) in zip(attempts, waits) {
            #expect(buckets.take("a", at: .milliseconds(attempt)) == wait.map { .milliseconds($0) })
        }
        #expect(buckets.take("b", at: .milliseconds(attempts.last ?? 0)) == nil)
    }

    @Test func `who asks all the time gets the rate and no more`() {
        var buckets = TokenBuckets<Int>(perMinute: 120, burst: 10)
        let taken = (0..<60_000).count { buckets.take(1, at: .milliseconds($0)) == nil }
        #expect(taken == 10 + 119)
    }

    @Test func `a clock that was set back locks nobody out`() {
        var buckets = TokenBuckets<Int>(perMinute: 60, burst: 2)
        for _ in 0..<2 { #expect(buckets.take(1, at: .seconds(3_600)) == nil) }
        #expect(buckets.take(1, at: .zero) == .seconds(1))
        #expect(buckets.take(1, at: .seconds(1)) == nil)
    }

    @Test func `any number of keys takes bounded memory`() {
        var buckets = TokenBuckets<Int>(perMinute: 60, burst: 1)
        for key in 0..<250_000 { _ = buckets.take(key, at: .milliseconds(key / 100)) }
        #expect(buckets.count <= TokenBuckets<Int>.maximum)
        #expect(buckets.take(249_999, at: .milliseconds(2_500)) != nil)
    }

    @Test func `a refusal says when to come back, not all at the same moment`() throws {
        let limiter = try #require(RateLimiter<String>(perMinute: 1, burst: 1))
        try limiter.admit("a", at: .zero)
        let times = (0..<50).map { _ -> Int in
            let error = #expect(throws: GatewayError.self) { try limiter.admit("a", at: .zero) }
            #expect(error?.status == 429 && error?.code == "limit.rate")
            return error?.retryAfter ?? 0
        }
        #expect(times.allSatisfy { (58...92).contains($0) } && Set(times).count > 3)
        #expect(RateLimiter<String>(perMinute: 0, burst: 1) == nil)
    }
}
