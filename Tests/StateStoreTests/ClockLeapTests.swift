// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

/// What collections make of clocks that are set.
@Suite struct ClockLeapTests {
    private static let hour: Int64 = 3_600_000
    private static let day: Int64 = 24 * hour
    private static let year: Int64 = 365 * day

    /// Collects where devices are forgotten after 30 days; `ran` is how long the gateway has run since the last one.
    @discardableResult
    private func collect(at now: Instant, ran: Int64?) async throws -> Collected {
        var retention = Retention(now: now, seenBefore: now - 30 * Self.day, undoBefore: now - 7 * Self.day)
        retention.ran = ran
        return try await store.collect(retention)
    }

    /// Replicas of one principal each, all seen at a time.
    private func fill(_ numbers: ClosedRange<Int64>, at time: Instant) async throws {
        for number in numbers {
            try await store.begin(row(number, of: Principal(rawValue: "p\(number)"), replica: number), at: time)
        }
    }

    @Test(.eachStore) func `nobody is forgotten because a clock was put forward`() async throws {
        try await fill(1...40, at: now)
        #expect(try await collect(at: now, ran: nil).isEmpty)
        // A year within an hour; and then every hour, as it goes on.
        var time = now + Self.year + Self.hour
        let first = try await collect(at: time, ran: Self.hour)
        #expect(first.replicas == 0 && first.leapt == Self.year)
        for _ in 0..<48 {
            time += Self.hour
            #expect(try await collect(at: time, ran: Self.hour).isEmpty)
        }
        #expect(try await store.replicas().count == 40)
        // Those that come in the meantime are measured by the clock as it is now.
        try await fill(101...120, at: time)
        // 29 days later those who were really away for 31 days begin to be forgotten, and no others.
        time += 29 * Self.day
        #expect(try await collect(at: time, ran: 29 * Self.day).replicas == 3)
        #expect(try await store.replicas().count { $0.lastSeen > now } == 20)
    }

    @Test(.eachStore) func `a gateway that did not run for long forgets nobody for that`() async throws {
        try await fill(1...20, at: now)
        try await collect(at: now, ran: nil)
        var time = now + 90 * Self.day
        #expect(try await collect(at: time, ran: nil).leapt == 90 * Self.day - Self.hour)
        for (days, forgotten) in [(29, 0), (2, 1)] as [(Int64, Int)] {
            time += days * Self.day
            #expect(try await collect(at: time, ran: days * Self.day).replicas == forgotten)
        }
    }

    @Test(.eachStore) func `a clock that is put back takes its leap back`() async throws {
        try await fill(1...20, at: now)
        try await collect(at: now, ran: nil)
        try await collect(at: now + Self.year, ran: Self.hour)
        #expect(try await collect(at: now + 2 * Self.hour, ran: Self.hour).leapt < 0)
        let late = try await collect(at: now + 31 * Self.day, ran: 31 * Self.day - 2 * Self.hour)
        #expect(late.replicas == 1)
    }

    @Test(.eachStore(.with { $0.collectBatch = 3 }))
    func `of those who are really gone one in twenty is forgotten in an hour`() async throws {
        try await fill(1...100, at: now - 31 * Self.day)
        try await fill(101...200, at: now)
        // A state that was never collected; restarts do not make an hour shorter.
        #expect(try await collect(at: now, ran: nil).replicas == 10)
        for minutes: Int64 in [0, 1, 30] {
            #expect(try await collect(at: now + minutes * 60_000, ran: nil).replicas == 0)
        }
        #expect(try await collect(at: now + Self.hour, ran: Self.hour).replicas == 9)
        #expect(try await store.replicas().count == 181)
    }

    @Test(.eachStore) func `what lives an hour only waits no longer for a leap than an hour`() async throws {
        try await collect(at: now, ran: nil)
        let time = now + Self.year
        try await store.stage(TestLedger.chunks([7: 7]), in: store.stageLayer(at: now))
        #expect(try await collect(at: time, ran: Self.hour).chunks == 0)
        #expect(try await collect(at: time + 2 * Self.hour, ran: 2 * Self.hour).chunks > 0)
    }
}

@Suite struct CollectionTimeTests {
    private static let hour: Int64 = 3_600_000

    private static func at(_ milliseconds: Int64) -> Instant { Instant(milliseconds: milliseconds) }

    @Test func `times before a leap are put back until as much has passed since`() {
        var time = CollectionTime()
        func pass(hours: Int64, minutes: Int64 = 0, ran: Int64? = Self.hour) -> Int64 {
            time.pass(to: Self.at(hours * Self.hour + minutes * 60_000), ran: ran, longest: 100 * Self.hour)
        }
        #expect(pass(hours: 1_000, ran: nil) == 0)
        #expect(pass(hours: 1_001) == 0)
        #expect(time.corrected(Self.at(990 * Self.hour)) == Self.at(990 * Self.hour))
        // Small differences are none.
        #expect(pass(hours: 1_002, minutes: 10) == 0)
        let leap = 500 * Self.hour
        #expect(pass(hours: 1_503, minutes: 10) == leap)
        #expect(time.corrected(Self.at(1_403 * Self.hour)) == Self.at(903 * Self.hour))
        #expect(time.corrected(Self.at(1_504 * Self.hour)) == Self.at(1_504 * Self.hour))
        // A second one adds to the first, until that is long ago.
        #expect(pass(hours: 1_600, ran: 0) > 0)
        #expect(time.leapt > leap)
        _ = pass(hours: 1_800, ran: 200 * Self.hour)
        #expect(pass(hours: 1_802) == Self.hour)
        #expect(time.leapt == Self.hour)
    }

    @Test func `restarts that follow each other soon lose no time`() {
        var time = CollectionTime()
        for minute: Int64 in 0..<100 { #expect(time.pass(to: Self.at(minute * 2_400_000), ran: nil, longest: 1) == 0) }
        #expect(time.leapt == 0)
    }
}
