// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

/// What a 409 has promised to a replica.
@Suite struct RedeliveryTests {
    private static let replica = ReplicaID(rawValue: 1)
    private static let first = PendingRedelivery(table: "a", id: "1")
    private static let both = [first, PendingRedelivery(table: "b", id: "1")]

    private static func schedule(_ redeliveries: [PendingRedelivery]) async throws {
        try await store.change(alice) { try RedeliveryRules.schedule(redeliveries, to: replica, at: now, in: &$0) }
    }

    private static func drop(_ redeliveries: [PendingRedelivery]) async throws {
        try await store.change(alice) { try RedeliveryRules.drop(redeliveries, of: replica, in: &$0) }
    }

    private static func pending(
        at value: Int64, limit: Int = 100
    ) async throws -> [PendingRedelivery] {
        try await store.read(alice) {
            try RedeliveryRules.pending(for: replica, at: cursor(value), limit: limit, of: &$0)
        }
    }

    /// A pull that delivers the first one, to a device that came with cursor 10.
    private static func deliver(at time: Instant = now) async throws {
        try await store.confirm(10)
        var commit = PullCommit(row: try row(20, parent: 10), replica: .existing, now: time)
        commit.delivered = [first]
        try await store.commit(commit)
    }

    @Test(.eachStore)
    func `a pending redelivery is there until a cursor that delivered it comes back, and its count outlives it`()
        async throws
    {
        // An unknown replica has nothing pending.
        try await Self.schedule(Self.both)
        try await store.begin(row(10))
        #expect(try await Self.pending(at: 10).isEmpty)
        try await Self.schedule(Self.both)
        #expect(try await Self.pending(at: 10) == Self.both)
        #expect(try await store.context(10).hasRedeliveries)
        try await Self.deliver()
        // Whoever comes with the older cursor has not got it.
        #expect(try await Self.pending(at: 10) == Self.both)
        #expect(try await Self.pending(at: 20) == [Self.both[1]])
        #expect(try await store.context(20).hasRedeliveries)
        try await Self.schedule([Self.first])
        #expect(try await Self.pending(at: 20).map(\.count) == [2, 1])
        #expect(try await Self.pending(at: 20, limit: 1).count == 1)
        try await Self.drop([Self.first])
        #expect(try await Self.pending(at: 20) == [Self.both[1]])
        await #expect(throws: StateError.self) { try await Self.schedule([PendingRedelivery(table: "a", id: "a b")]) }
    }

    @Test(.eachStore) func `what looks before it writes does both in a task that is cancelled`() async throws {
        try await store.begin(row(10))
        try await Self.schedule(Self.both)
        try await store.save(.taken)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask {
                #expect(Task.isCancelled)
                try await Self.drop(Self.both)
                try await store.dropReceipts()
                try await store.confirm(10)
                try await store.touch(result: "pull failed")
                _ = try await store.notePushed(3, by: 1)
                let record = PushedRecordKey(table: "a", id: "1")
                #expect(try await !store.look(alice) { try JournalRules.wasGivenUp(record, of: &$0) })
            }
            try await group.waitForAll()
        }
        #expect(try await Self.pending(at: 10).isEmpty)
        #expect(try await store.receipt() == nil)
    }

    @Test(.eachStore)
    func `what was delivered is counted for a while, and what nobody comes for is forgotten with the devices`()
        async throws
    {
        try await store.begin(row(10))
        try await Self.schedule(Self.both)
        try await Self.deliver(at: now + 9)
        try await store.collect(seenBefore: now - 9, undoBefore: now)
        #expect(try await Self.pending(at: 10) == Self.both)
        try await store.collect(seenBefore: now - 9, undoBefore: now + 1)
        #expect(try await Self.pending(at: 10) == [Self.both[1]])
        try await store.collect(seenBefore: now + 1, undoBefore: now + 1)
        #expect(try await Self.pending(at: 10).isEmpty)
    }

    @Test(.eachStore) func `what was promised to a replica that is forgotten goes with it`() async throws {
        try await store.begin(row(10))
        try await Self.schedule(Self.both)
        try await store.forget()
        try await store.collect(seenBefore: now - 1)
        #expect(try await Self.pending(at: 10).isEmpty)
        try await store.check(thoroughly: true)
    }
}
