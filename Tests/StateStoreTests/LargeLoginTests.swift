// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import MemoryState
import NIOConcurrencyHelpers
import StateStore
import SyncModel
import Testing

/// A login that many devices share: what goes through all of them must not wait for none of them to sync.
@Suite struct LargeLoginTests {
    private static let devices: Int64 = 150
    private static let day: Int64 = 86_400_000

    /// The most heads that one change has compared, and the loads, since they were last asked for.
    private final class Costs: Sendable {
        private let counts = NIOLockedValueBox((compared: 0, loads: 0))

        var mostCompared: Int { taken().compared }

        func taken() -> (compared: Int, loads: Int) { counts.withLockedValue { counts in (counts, counts = (0, 0)).0 } }

        func note(_ call: MemoryBytes.Call) {
            counts.withLockedValue { counts in
                switch call {
                case .commit(let group, _):
                    counts.compared = max(counts.compared, group.map(\.expected.count).max() ?? 0)
                case .load: counts.loads += 1
                case .chunks: break
                }
            }
        }
    }

    private static func newest(_ device: Int64) -> Int64 { device * 100 + (device % 10 == 0 ? 9 : 2) }

    /// A state in memory whose login has a replica for each device, some of them with pages.
    private static func login() async throws -> (store: Accounts, costs: Costs) {
        let costs = Costs()
        let store = Accounts(MemoryBytes().copy { costs.note($0) }, limits: .with { $0.headBytes = 400 })
        for device in 1...devices {
            for value in device * 100 + 1...newest(device) {
                let isFirst = value % 100 == 1
                let row = try row(value, replica: device, parent: isFirst ? nil : value - 1)
                try await isFirst ? store.begin(row, at: now - 5 * day) : store.proceed(row, at: now - 5 * day)
            }
        }
        _ = costs.taken()
        return (store, costs)
    }

    @Test func `what was deferred of all devices of a login is stored for some of them at a time`() async throws {
        let (store, costs) = try await Self.login()
        for device in 1...Self.devices { try await store.confirm(Self.newest(device)) }
        _ = costs.taken()
        try await store.storeDeferred(at: now)
        let taken = costs.taken()
        // Heads and then their pages, for each 64 devices.
        #expect(taken.compared <= 70 && taken.loads <= 6, "\(taken)")
        let heads = try await store.replicas()
        #expect(heads.allSatisfy { $0.tip?.rawValue == Self.newest($0.id.rawValue) })
        try await store.storeDeferred()
        #expect(costs.mostCompared == 0)
    }

    @Test func `what goes through all devices of a login changes some of them at a time`() async throws {
        let (store, costs) = try await Self.login()
        let collected = try await store.collect(supersededBefore: now - Self.day)
        #expect(collected.cursors == Int(Self.devices / 10 * 7))
        #expect(costs.mostCompared <= 70)
        #expect(try await store.commands.distrust(because: .state, of: alice, at: now) == 1)
        #expect(costs.mostCompared <= 70)
        for device in [1, Self.devices] {
            let context = try await store.context(Self.newest(device))
            #expect(context.resyncAt >= now && context.distrustedAt >= now)
        }
        _ = try await store.commands.acceptClock(at: now - 9 * Self.day)
        #expect(costs.mostCompared <= 70)
        #expect(try await store.replicas().allSatisfy { $0.lastSeen == now - 9 * Self.day })
        #expect(try await store.commands.erase(alice)["replica"] == Int(Self.devices))
        #expect(costs.mostCompared <= 70)
        #expect(try await store.replicas().isEmpty)
        for table in ByteTableName.allCases where table != .entry {
            #expect(try await store.store.page(of: table, after: nil, limit: 9).isEmpty)
        }
    }

    @Test func `pages of all heads are asked for together`() async throws {
        let (store, _) = try await Self.login()
        let loads = NIOLockedValueBox(0)
        let replicas = try await store.read(alice) { account in
            loads.withLockedValue { $0 += 1 }
            return try account.allReplicas()
        }
        #expect(replicas.count == Int(Self.devices))
        #expect(loads.withLockedValue(\.self) <= 3)
    }

    @Test func `of a thousand ledgers and more, a thousand are looked at`() async throws {
        let store = Accounts(limits: .with { $0.startingReplicas = 2_000 })
        for device in 1...1_003 as ClosedRange<Int64> {
            try await store.commit(
                PullCommit(
                    row: try row(device, replica: device), replica: .new, now: now,
                    ledger: .chunks([], counts: [:])))
        }
        let ledgers = try await store.read(alice) { try ReplicaRules.ledgers(of: &$0) }
        #expect(ledgers.count == 1_000)
    }

    @Test func `an entry that has taken another one's place is not dropped for it`() async throws {
        let store = Accounts()
        try await store.begin(row(1))
        let refused = QuarantinedOperation(
            key: PushedRecordKey(table: "t", id: "1"), kind: .create, body: [1],
            reason: QuarantinedOperation.Reason(code: "push.rejected"))
        let number = try #require(await store.quarantine([refused]).first)
        #expect(try await !store.change(alice) { try QuarantineRules.drop(refused.key, number: number + 1, in: &$0) })
        #expect(try await store.change(alice) { try QuarantineRules.drop(refused.key, number: number, in: &$0) })
    }

    @Test func `a user whose erasure was interrupted anywhere is found, and erased by the next one`() async throws {
        for failing in 1...9 {
            let (isOn, commits) = (NIOLockedValueBox(false), NIOLockedValueBox(0))
            let bytes = MemoryBytes { moment in
                guard moment == .beforeWriting, isOn.withLockedValue(\.self) else { return }
                let count = commits.withLockedValue { count in
                    count += 1
                    return count
                }
                if count == failing { throw StateError.full }
            }
            let store = Accounts(bytes, limits: .with { $0.collectBatch = 2 })
            let line = QuarantinedLine(reason: .notAnObject, type: "X", bytes: Array("[]".utf8))
            try await store.begin(row(1), quarantined: [line])
            let notes = (1...5).map { PushNote(table: "a", id: "\($0)", state: .held) }
            try await store.beginJournal(notes: notes, of: alice)
            isOn.withLockedValue { $0 = true }
            var tries = 0
            while try await !store.inspection.principals(beginningWith: alice.rawValue, limit: 9).isEmpty {
                tries += 1
                _ = try? await store.commands.erase(alice)
            }
            #expect(tries == (commits.withLockedValue(\.self) >= failing ? 2 : 1))
            #expect(try await store.inspection.quarantinedLines(of: nil, after: 0, limit: 9).isEmpty)
            let left = try await bytes.page(of: .entry, after: nil, limit: 99).filter { $0.key.kind != .meta }
            #expect(left.isEmpty, "\(failing)")
        }
    }
}
