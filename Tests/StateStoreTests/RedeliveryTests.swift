// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

/// What a 409 has promised to a replica.
@Suite struct RedeliveryTests {
    private static let replica = ReplicaID(rawValue: 1)

    private static func redeliveries(_ store: Accounts, at value: Int64) async throws -> [PendingRedelivery] {
        try await store.read(alice) {
            try RedeliveryRules.pending(for: replica, at: cursor(value), limit: 100, of: &$0)
        }
    }

    private static let pendingRedeliveries = [
        PendingRedelivery(table: "a", id: "1"), PendingRedelivery(table: "b", id: "1"),
    ]

    @Test(arguments: StateBacking.all)
    func `a pending redelivery is there until a cursor that delivered it comes back, and its count outlives it`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            try await store.begin(row(10, replica: 1))
            try await store.change(alice) {
                try RedeliveryRules.schedule(Self.pendingRedeliveries, to: Self.replica, at: now, in: &$0)
            }
            #expect(try await Self.redeliveries(store, at: 10) == Self.pendingRedeliveries)
            #expect(try await store.context(10).hasRedeliveries)
            try await store.change(alice) { try ReplicaRules.confirm(cursor(10), at: now, in: &$0) }
            var commit = PullCommit(row: try row(20, replica: 1, parent: 10), replica: .existing, now: now)
            commit.delivered = [Self.pendingRedeliveries[0]]
            try await store.commit(commit)
            // Whoever comes with the older cursor has not got it.
            #expect(try await Self.redeliveries(store, at: 10) == Self.pendingRedeliveries)
            #expect(try await Self.redeliveries(store, at: 20) == [Self.pendingRedeliveries[1]])
            #expect(try await store.context(20).hasRedeliveries)
            try await store.change(alice) {
                try RedeliveryRules.schedule([Self.pendingRedeliveries[0]], to: Self.replica, at: now, in: &$0)
            }
            #expect(try await Self.redeliveries(store, at: 20).map(\.count) == [2, 1])
            #expect(
                try await store.read(alice) {
                    try RedeliveryRules.pending(for: Self.replica, at: cursor(20), limit: 1, of: &$0)
                }.count == 1)
            try await store.change(alice) {
                try RedeliveryRules.drop([Self.pendingRedeliveries[0]], of: Self.replica, in: &$0)
            }
            #expect(try await Self.redeliveries(store, at: 20) == [Self.pendingRedeliveries[1]])
        }
    }

    @Test(arguments: StateBacking.all)
    func `what looks before it writes does both in a task that is cancelled`(backing: StateBacking) async throws {
        try await backing { store in
            try await store.begin(row(10, replica: 1))
            try await store.change(alice) {
                try RedeliveryRules.schedule(Self.pendingRedeliveries, to: Self.replica, at: now, in: &$0)
            }
            let receipt = Receipt(status: 200, contentType: "application/json", body: [0x7B, 0x7D])
            try await store.change(alice) {
                try ReceiptRules.save(.init(receipt: receipt, digest: "d", expiresAt: now + 1_000), at: now, in: &$0)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.cancelAll()
                group.addTask {
                    #expect(Task.isCancelled)
                    try await store.change(alice) {
                        try RedeliveryRules.drop(Self.pendingRedeliveries, of: Self.replica, in: &$0)
                    }
                    try await store.change(alice) { try ReceiptRules.drop(in: &$0) }
                    try await store.change(alice) { try ReplicaRules.confirm(cursor(10), at: now, in: &$0) }
                    try await store.change(alice) {
                        try ReplicaRules.touch(Self.replica, result: "pull failed", at: now, in: &$0)
                    }
                    _ = try await store.change(alice) { try ReplicaRules.notePushed(3, by: Self.replica, in: &$0) }
                    let record = PushedRecordKey(table: "a", id: "1")
                    #expect(try await !store.look(alice) { try JournalRules.wasGivenUp(record, of: &$0) })
                }
                try await group.waitForAll()
            }
            #expect(try await Self.redeliveries(store, at: 10).isEmpty)
            #expect(try await store.read(alice) { try ReceiptRules.receipt("d", at: now, of: &$0) } == nil)
        }
    }

    @Test(arguments: StateBacking.all)
    func `what was delivered is counted for a while, and what nobody comes for is forgotten with the devices`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            try await store.begin(row(10, replica: 1))
            try await store.change(alice) {
                try RedeliveryRules.schedule(Self.pendingRedeliveries, to: Self.replica, at: now, in: &$0)
            }
            try await store.change(alice) { try ReplicaRules.confirm(cursor(10), at: now, in: &$0) }
            var commit = PullCommit(row: try row(20, replica: 1, parent: 10), replica: .existing, now: now + 9)
            commit.delivered = [Self.pendingRedeliveries[0]]
            try await store.commit(commit)
            _ = try await store.collect(Retention(now: now, seenBefore: now - 9, undoBefore: now))
            #expect(try await Self.redeliveries(store, at: 10) == Self.pendingRedeliveries)
            _ = try await store.collect(Retention(now: now, seenBefore: now - 9, undoBefore: now + 1))
            #expect(try await Self.redeliveries(store, at: 10) == [Self.pendingRedeliveries[1]])
            _ = try await store.collect(Retention(now: now, seenBefore: now + 1, undoBefore: now + 1))
            #expect(try await Self.redeliveries(store, at: 10).isEmpty)
        }
    }

    @Test(arguments: StateBacking.all)
    func `an unknown replica has nothing pending, and neither has one that is forgotten`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            try await store.change(alice) {
                try RedeliveryRules.schedule(Self.pendingRedeliveries, to: Self.replica, at: now, in: &$0)
            }
            try await store.begin(row(10, replica: 1))
            #expect(try await Self.redeliveries(store, at: 10).isEmpty)
            try await store.change(alice) {
                try RedeliveryRules.schedule(Self.pendingRedeliveries, to: Self.replica, at: now, in: &$0)
            }
            _ = try await store.change(alice) { try ReplicaRules.forget(Self.replica, at: now, in: &$0) }
            _ = try await store.collect(Retention(now: now, seenBefore: now - 1))
            try await store.check(thoroughly: true)
            await #expect(throws: StateError.self) {
                try await store.begin(row(20, replica: 2))
                try await store.change(alice) {
                    try RedeliveryRules.schedule(
                        [PendingRedelivery(table: "a", id: "a b")], to: ReplicaID(rawValue: 2), at: now, in: &$0)
                }
            }
        }
    }
}
