// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import MemoryState
import NIOConcurrencyHelpers
import StateStore
import SyncModel
import Testing

/// What is stored later, and lost with a kill before that.
@Suite struct DeferredChangeTests {
    /// One gateway's state and that of another process, over the same bytes.
    private struct Two {
        let bytes: MemoryBytes
        let own: Accounts
        /// What is there after a kill.
        var other: Accounts { Accounts(bytes.shared { _ in }) }

        /// A replica that has come back with its first cursor and got a second one.
        init(_ bytes: MemoryBytes = MemoryBytes()) async throws {
            (self.bytes, own) = (bytes, Accounts(bytes))
            try await own.begin(row(1))
            try await own.proceed(row(2, parent: 1))
        }
    }

    @Test func `the first cursor that comes back is stored at once, a later one with what was deferred`() async throws {
        let two = try await Two()
        #expect(try await two.other.replica().tip == cursor(1))
        try await two.own.confirm(2)
        #expect(try await two.own.context(2).row?.isConfirmed == true)
        // A commit of another replica stores nothing of it.
        try await two.own.begin(row(9, replica: 9))
        #expect(try await two.own.replicas()[0].tip == cursor(2))
        #expect(try await two.other.replicas()[0].tip == cursor(1))
        try await two.own.storeDeferred()
        #expect(try await two.other.replicas()[0].tip == cursor(2))
        #expect(try await two.own.context(2).row?.isConfirmed == true)
    }

    @Test func `a commit of the replica stores what was deferred of it`() async throws {
        let two = try await Two()
        try await two.own.proceed(row(3, parent: 2), at: now + 1)
        #expect(try await two.other.replica().tip == cursor(2))
        #expect(try await !two.other.context(3).isFork)
    }

    @Test func `after a kill the device presents its cursor again`() async throws {
        let two = try await Two()
        try await two.own.confirm(2)
        let after = two.other
        #expect(try await !after.context(2).isFork)
        try await after.proceed(row(3, parent: 2))
        // The gateway that was taken for dead makes nothing of it undone.
        try await two.own.storeDeferred()
        #expect(try await two.other.replica().tip == cursor(2))
        #expect(try await two.other.context(3).newestOfReplica == cursor(3))
    }

    @Test func `of two answers to one cursor, the one that came back second is a fork for everybody`() async throws {
        let two = try await Two()
        try await two.own.goOn(row(3, parent: 1))
        try await two.own.confirm(3)
        #expect(try await two.own.context(2).isFork)
        try await two.other.proceed(row(4, parent: 2))
        try await two.own.storeDeferred()
        #expect(try await two.own.replica().tip == cursor(2))
        #expect(try await two.own.context(3).isFork)
    }

    @Test func `nothing is stored of a replica that was forgotten meanwhile`() async throws {
        let two = try await Two()
        try await two.own.confirm(2)
        #expect(try await two.other.forget())
        try await two.own.storeDeferred()
        #expect(try await two.own.replicas().isEmpty)
        #expect(try await two.own.context(2).row == nil)
    }

    @Test func `what could not be stored stays deferred, and is stored when the state is closed`() async throws {
        let full = NIOLockedValueBox(false)
        let two = try await Two(
            MemoryBytes { moment in
                if moment == .beforeWriting, full.withLockedValue({ $0 }) { throw StateError.full }
            })
        full.withLockedValue { $0 = true }
        try await two.own.confirm(1, at: now + 60_000)
        await #expect(throws: StateError.full) { try await two.own.storeDeferred() }
        full.withLockedValue { $0 = false }
        #expect(try await two.own.replica().lastSeen == now + 60_000)
        #expect(try await two.other.replica().lastSeen == now)
        try await two.own.storeDeferred()
        #expect(try await two.other.replica().lastSeen == now + 60_000)
    }

    @Test func `a contact alone waits for ten minutes, and a cursor that came back does not`() async throws {
        let two = try await Two()
        func contact(_ minute: Int64) async throws {
            let time = now + minute * 60_000
            try await two.own.confirm(1, at: time)
            try await two.own.storeDeferred(at: time)
        }
        for minute: Int64 in 1...10 {
            try await contact(minute)
            #expect(try await two.own.replica().lastSeen == now + minute * 60_000)
            #expect(try await two.other.replica().lastSeen == now)
        }
        try await contact(11)
        #expect(try await two.other.replica().lastSeen == now + 660_000)
        try await contact(12)
        try await two.own.confirm(2, at: now + 720_001)
        try await two.own.storeDeferred(at: now + 720_001)
        let replica = try await two.other.replica()
        #expect(try replica.tip == cursor(2) && replica.lastSeen == now + 720_001)
    }

    @Test func `the contacts of one device wait, whatever others of its login bring`() async throws {
        let two = try await Two()
        try await two.own.begin(row(90, replica: 9))
        try await two.own.confirm(90)
        try await two.own.proceed(row(91, replica: 9, parent: 90))
        let minute: Int64 = 60_000
        /// Returns the minutes at which the replicas 1 and 9 were last seen, as stored.
        func seen() async throws -> [Int64] {
            let heads = try await two.other.replicas().sorted { $0.id.rawValue < $1.id.rawValue }
            return heads.map { $0.lastSeen.milliseconds(since: now) / minute }
        }
        try await two.own.confirm(1, at: now + minute)
        try await two.own.confirm(91, at: now + 2 * minute)
        try await two.own.storeDeferred(at: now + 2 * minute)
        #expect(try await seen() == [0, 2])
        try await two.own.confirm(91, at: now + 3 * minute)
        try await two.own.storeDeferred(at: now + 11 * minute)
        #expect(try await seen() == [1, 2])
        // Each time a contact is stored, its next one waits anew, also if another waits all the while.
        try await two.own.confirm(1, at: now + 12 * minute)
        try await two.own.storeDeferred(at: now + 13 * minute)
        #expect(try await seen() == [1, 3])
    }

    @Test func `contacts are stored after their time though the clock was set back`() async throws {
        let two = try await Two()
        try await two.own.confirm(1, at: now + 90_000)
        try await two.own.storeDeferred(at: now + 90_000)
        try await two.own.storeDeferred(at: now - 3_600_000)
        #expect(try await two.other.replica().lastSeen == now + 90_000)
    }
}

/// What is deferred, while it is stored beside a rule.
@Suite struct StoredBesideTests {
    @Test func `a rule that waits for rows sees a confirmation that is stored meanwhile`() async throws {
        let reads = NIOLockedValueBox(Int.min)
        let (store, _) = try await Self.store { store in
            let count = reads.withLockedValue { count in
                count += 1
                return count
            }
            // The first read of a rule is whether others have changed something.
            if count == 2 { try await store.storeDeferred() }
        }
        try await store.pull(3)
        try await store.confirm(3)
        reads.withLockedValue { $0 = 0 }
        let tip = try await store.read(alice) { account in
            let tip = try account.replica(ReplicaID(rawValue: 1))?.tip
            _ = try account.allReplicas()
            return tip
        }
        #expect(tip?.rawValue == 3)
        #expect(reads.withLockedValue(\.self) >= 2)
    }

    private static func store(
        reading: @escaping @Sendable (Accounts) async throws -> Void
    ) async throws -> (Accounts, NIOLockedValueBox<Accounts?>) {
        let box = NIOLockedValueBox<Accounts?>(nil)
        let store = Accounts(
            MemoryBytes { moment in
                guard moment == .beforeReading, let store = box.withLockedValue(\.self) else { return }
                try await reading(store)
            })
        box.withLockedValue { $0 = store }
        return (store, box)
    }
}
