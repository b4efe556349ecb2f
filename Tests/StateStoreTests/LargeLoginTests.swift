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

    /// A state in memory whose login has a replica for each device, some of them with pages, and the most heads that
    /// one change has compared since it was last asked.
    private static func login() async throws -> (store: Accounts, mostCompared: () -> Int) {
        let most = NIOLockedValueBox(0)
        let bytes = MemoryBytes().copy { call in
            guard case .commit(let group, _) = call else { return }
            most.withLockedValue { $0 = max($0, group.map(\.expected.count).max() ?? 0) }
        }
        let store = Accounts(bytes, limits: .with { $0.headBytes = 400 })
        for device in 1...devices {
            for pull in 1...(device % 10 == 0 ? 9 : 2) as ClosedRange<Int64> {
                let value = device * 100 + pull
                let row = try row(value, replica: device, parent: pull == 1 ? nil : value - 1)
                try await pull == 1 ? store.begin(row, at: now - 5 * day) : store.proceed(row, at: now - 5 * day)
            }
        }
        most.withLockedValue { $0 = 0 }
        let mostCompared = { most.withLockedValue { most in (most, most = 0).0 } }
        return (store, mostCompared)
    }

    @Test func `what goes through all devices of a login changes some of them at a time`() async throws {
        let (store, mostCompared) = try await Self.login()
        let collected = try await store.collect(supersededBefore: now - Self.day)
        #expect(collected.cursors == Int(Self.devices / 10 * 7))
        #expect(mostCompared() <= 70)
        #expect(try await store.commands.distrust(because: .state, of: alice, at: now) == 1)
        #expect(mostCompared() <= 70)
        for device in [1, Self.devices] {
            let context = try await store.context(device * 100 + (device % 10 == 0 ? 9 : 2))
            #expect(context.resyncAt >= now && context.distrustedAt >= now)
        }
        _ = try await store.commands.acceptClock(at: now - 9 * Self.day)
        #expect(mostCompared() <= 70)
        #expect(try await store.replicas().allSatisfy { $0.lastSeen == now - 9 * Self.day })
        #expect(try await store.commands.erase(alice)["replica"] == Int(Self.devices))
        #expect(mostCompared() <= 70)
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
