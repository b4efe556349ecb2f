// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Telemetry
import Testing

@Suite struct RecentSyncsTests {
    private static func sync(_ milliseconds: Int64, at minute: Int64, code: String = "") -> RecentSyncs.Sync {
        RecentSyncs.Sync(
            endedAt: minute * 60_000, milliseconds: milliseconds, kind: "pull", replica: nil, principal: "", code: code)
    }

    @Test func `the last hour has sixty minutes, with the quiet ones`() {
        var recent = RecentSyncs()
        recent.add(Self.sync(1, at: 100), isSuccess: true)
        recent.add(Self.sync(1, at: 100), isSuccess: false)
        recent.add(Self.sync(1, at: 102), isSuccess: true)
        let minutes = recent.lastHour(at: 103 * 60_000)
        #expect(minutes.count == 60 && minutes.last?.number == 103)
        #expect(minutes.suffix(4).map(\.succeeded) == [1, 0, 1, 0] && minutes.suffix(4).map(\.others) == [1, 0, 0, 0])
        #expect(recent.lastHour(at: 163 * 60_000).allSatisfy { $0.succeeded + $0.others == 0 })
    }

    @Test func `the last minute is the last sixty seconds, whatever the clock's minute is`() {
        var recent = RecentSyncs()
        // Two in each second, from half a minute to half a minute.
        for second in 30..<150 as Range<Int64> {
            for isSuccess in [true, false] {
                var sync = Self.sync(1, at: 0)
                sync.endedAt = 600_000 + second * 1_000 + 999
                recent.add(sync, isSuccess: isSuccess)
            }
        }
        let last: Int64 = 600_000 + 149_999
        #expect(recent.lastMinute(at: last) == 120)
        #expect(recent.lastMinute(at: last + 1) == 118)
        #expect(recent.lastMinute(at: last + 59_001) == 0)
        // A clock that was ahead has counted nothing that has not happened yet.
        #expect(recent.lastMinute(at: last - 59_000) == 2)
    }

    @Test func `the slowest of the last hour are remembered, and ten at most`() {
        var recent = RecentSyncs()
        recent.add(Self.sync(9_999, at: 0), isSuccess: true)
        for number in 1...40 { recent.add(Self.sync(Int64(number * 7 % 41), at: 61), isSuccess: true) }
        #expect(recent.slowest(at: 61 * 60_000).map(\.milliseconds) == (31...40).reversed())
        #expect(recent.slowest(at: 200 * 60_000).isEmpty)
    }

    @Test func `slow syncs that are older than an hour leave behind the slowest since`() {
        var recent = RecentSyncs()
        for _ in 0..<10 { recent.add(Self.sync(9_999, at: 0), isSuccess: true) }
        for minute in 1...59 { recent.add(Self.sync(Int64(minute), at: Int64(minute)), isSuccess: true) }
        #expect(recent.slowest(at: 60 * 60_000).allSatisfy { $0.milliseconds == 9_999 })
        #expect(recent.slowest(at: 61 * 60_000).map(\.milliseconds) == (50...59).reversed())
    }

    @Test func `any number of codes takes bounded memory`() {
        var recent = RecentSyncs()
        for number in 0..<1_000 { recent.add(Self.sync(1, at: 1, code: "c\(number)"), isSuccess: false) }
        recent.add(Self.sync(1, at: 2, code: "c1"), isSuccess: false)
        #expect(recent.failures.count == 200 && recent.failures["c1"]?.count == 2)
        #expect(recent.failures["c1"]?.lastAt == 120_000)
    }
}
