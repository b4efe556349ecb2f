// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel
import Testing

/// What a 409 has promised to a replica.
@Suite struct RedeliveryTests {
    private static let replica = ReplicaID(rawValue: 1)

    private static func redeliveries(_ store: any StateStore, at value: Int64) async throws -> [PendingRedelivery] {
        try await store.redeliveries(of: replica, at: cursor(value), limit: 100)
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
            try await store.scheduleRedelivery(Self.pendingRedeliveries, to: Self.replica, at: now)
            #expect(try await Self.redeliveries(store, at: 10) == Self.pendingRedeliveries)
            #expect(try await store.context(10).hasRedeliveries)
            try await store.confirm(principal: alice, cursor: cursor(10), at: now)
            var commit = PullCommit(row: try row(20, replica: 1, parent: 10), replica: .existing, now: now)
            commit.delivered = [Self.pendingRedeliveries[0]]
            try await store.commit(commit)
            // Whoever comes with the older cursor has not got it.
            #expect(try await Self.redeliveries(store, at: 10) == Self.pendingRedeliveries)
            #expect(try await Self.redeliveries(store, at: 20) == [Self.pendingRedeliveries[1]])
            #expect(try await store.context(20).hasRedeliveries)
            try await store.scheduleRedelivery([Self.pendingRedeliveries[0]], to: Self.replica, at: now)
            #expect(try await Self.redeliveries(store, at: 20).map(\.count) == [2, 1])
            #expect(try await store.redeliveries(of: Self.replica, at: cursor(20), limit: 1).count == 1)
            try await store.dropRedeliveries([Self.pendingRedeliveries[0]], of: Self.replica)
            #expect(try await Self.redeliveries(store, at: 20) == [Self.pendingRedeliveries[1]])
        }
    }

    @Test(arguments: StateBacking.all)
    func `what looks before it writes does both in a task that is cancelled`(backing: StateBacking) async throws {
        try await backing { store in
            try await store.begin(row(10, replica: 1))
            try await store.scheduleRedelivery(Self.pendingRedeliveries, to: Self.replica, at: now)
            let receipt = Receipt(status: 200, contentType: "application/json", body: [0x7B, 0x7D])
            try await store.saveReceipt(receipt, principal: alice, digest: "d", at: now, expiresAt: now + 1_000)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.cancelAll()
                group.addTask {
                    #expect(Task.isCancelled)
                    try await store.dropRedeliveries(Self.pendingRedeliveries, of: Self.replica)
                    try await store.dropReceipts(principal: alice)
                    try await store.confirm(principal: alice, cursor: cursor(10), at: now)
                    try await store.touch(replica: Self.replica, result: "pull failed", at: now)
                    _ = try await store.notePushed(version: 3, replica: Self.replica, principal: alice)
                    let record = PushedRecordKey(table: "a", id: "1")
                    #expect(try await !store.wasGivenUp(record, of: alice))
                }
                try await group.waitForAll()
            }
            #expect(try await Self.redeliveries(store, at: 10).isEmpty)
            #expect(try await store.receipt(principal: alice, digest: "d", at: now) == nil)
        }
    }

    @Test(arguments: StateBacking.all)
    func `what was delivered is counted for a while, and what nobody comes for is forgotten with the devices`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            try await store.begin(row(10, replica: 1))
            try await store.scheduleRedelivery(Self.pendingRedeliveries, to: Self.replica, at: now)
            try await store.confirm(principal: alice, cursor: cursor(10), at: now)
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
            try await store.scheduleRedelivery(Self.pendingRedeliveries, to: Self.replica, at: now)
            try await store.begin(row(10, replica: 1))
            #expect(try await Self.redeliveries(store, at: 10).isEmpty)
            try await store.scheduleRedelivery(Self.pendingRedeliveries, to: Self.replica, at: now)
            _ = try await store.forget(replica: Self.replica)
            _ = try await store.collect(Retention(now: now, seenBefore: now - 1))
            try await store.check(thoroughly: true)
            await #expect(throws: StateError.self) {
                try await store.begin(row(20, replica: 2))
                try await store.scheduleRedelivery(
                    [PendingRedelivery(table: "a", id: "a b")], to: ReplicaID(rawValue: 2), at: now)
            }
        }
    }
}
