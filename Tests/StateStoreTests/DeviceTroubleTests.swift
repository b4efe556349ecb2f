// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import MemoryState
import StateStore
import SyncModel
import Testing

/// Devices that try and do not get on.
@Suite struct DeviceTroubleTests {
    private static let minute: Int64 = 60_000
    private static let rule = StuckRule(repeats: 3, pushes: 3, time: 3_600_000)

    @Test(.eachStore) func `a time is counted at most once a minute, and the newest code is kept`() async throws {
        try await store.begin(try row(1_000))
        let first = try await store.trouble(.push, code: "a")
        #expect(first?.before == nil && first?.after.count == 1 && first?.after.principal == alice)
        #expect(try await store.trouble(.push, at: now + 59_999, code: "a") == nil)
        let other = try await store.trouble(.push, at: now + 1, code: "b")
        #expect(other?.before?.code == "a" && other?.after.code == "b" && other?.after.count == 1)
        let second = try await store.trouble(.push, at: now + Self.minute, code: "b")
        #expect(second?.after.count == 2 && second?.after.since == now)
        #expect(second?.after.lastAt == now + Self.minute)
        #expect(try await store.context(1_000).troubles == [.push])
        let ended = try await store.change(alice) {
            try TroubleRules.end([.pull, .push], of: ReplicaID(rawValue: 1), in: &$0)
        }
        #expect(ended == [second?.after])
        #expect(try await store.context(1_000).troubles.isEmpty)
        #expect(try await store.trouble(.push, 9) == nil, "an unknown replica")
    }

    @Test(.eachStore) func `a device is stuck by how often or how long, while it tries and is known`() async throws {
        for number: Int64 in 1...4 { try await store.begin(try row(number * 1_000, replica: number), at: now + number) }
        func stuck(since: Instant = now) async throws -> [Int64] {
            try await store.inspection.stuckDevices(by: Self.rule, since: since, limit: 9).map(\.replica.rawValue)
        }
        func note(_ kind: DeviceTrouble.Kind, _ replica: Int64, minutes: [Int64]) async throws {
            for minute in minutes { try await store.trouble(kind, replica, at: now + minute * Self.minute) }
        }
        try await note(.push, 1, minutes: [0, 1])
        try await note(.sameCursor, 2, minutes: [0, 1])
        try await note(.pull, 3, minutes: [0, 1, 2, 3, 59])
        #expect(try await stuck() == [])
        try await note(.push, 1, minutes: [2])
        try await note(.sameCursor, 2, minutes: [3])
        try await note(.pull, 3, minutes: [60])
        #expect(try await stuck() == [3, 2, 1])
        #expect(try await stuck(since: now + 3 * Self.minute) == [3, 2])
        try await note(.firstSync, 1, minutes: [1, 2, 3])
        #expect(try await stuck() == [3, 2, 1], "a newer replica has begun since: it is another matter")
        try await store.trouble(.firstSync, 4, count: 8, code: "")
        #expect(try await stuck() == [3, 2, 1, 4])
    }
}

/// First syncs in a row, which are counted in the state.
@Suite struct FirstSyncCountTests {
    private static func begin(
        _ store: Accounts, _ number: Int64, session: Session, at now: Instant
    ) async throws -> FirstSyncs.Row? {
        var pull = PullCommit(row: try row(number, replica: number, session: session), replica: .new, now: now)
        pull.isFirstSync = true
        return try await store.commit(pull).firstSyncs
    }

    @Test func `first syncs at two gateways count together, also beside another device that pulls and comes back`()
        async throws
    {
        let bytes = MemoryBytes()
        let gateways = [bytes, bytes.shared { _ in }].map { Accounts($0) }
        let (loop, other) = (Session(rawValue: "c1"), Session(rawValue: "c2"))
        _ = try await Self.begin(gateways[0], 1, session: other, at: now)
        try await gateways[0].confirm(1)
        for times in 1...8 {
            let (gateway, number) = (gateways[times % 2], Int64(times * 10))
            let time = now + number * 6_000
            let row = try await Self.begin(gateway, number, session: loop, at: time)
            #expect(row?.times == times && row?.isNews == true && row?.since == now + 60_000)
            // Within a minute they count once.
            let again = try await Self.begin(gateway, number + 1, session: loop, at: time + 1)
            #expect(again?.times == times && again?.isNews == false)
            try await gateways[0].confirm(1, at: time)
        }
        try await gateways[1].confirm(81, at: now + 600_000)
        let next = try await Self.begin(gateways[0], 200, session: loop, at: now + 700_000)
        #expect(next?.times == 1)
    }

    @Test func `devices that start together, each with a session of its own, count once`() async throws {
        let store = Accounts()
        for number: Int64 in 1...20 {
            let row = try await Self.begin(
                store, number, session: Session(rawValue: "c\(number)"), at: now + number * 1_000)
            #expect(row?.times == 1 && row?.isNews == (number == 1))
        }
        let later = try await Self.begin(store, 21, session: Session(rawValue: "d"), at: now + 61_000)
        #expect(later?.times == 2 && later?.isNews == true)
    }
}
