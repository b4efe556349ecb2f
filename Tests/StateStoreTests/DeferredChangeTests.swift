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
        let bytes = MemoryBytes()
        let own: Accounts
        /// What is there after a kill.
        var other: Accounts { Accounts(bytes.shared { _ in }, limits: StateLimits()) }

        init() { own = Accounts(bytes, limits: StateLimits()) }

        /// A replica that has come back with its first cursor and got a second one.
        func begin() async throws {
            try await own.begin(row(1))
            try await own.change(alice) { try ReplicaRules.confirm(cursor(1), at: now, in: &$0) }
            try await own.commit(PullCommit(row: row(2, parent: 1), replica: .existing, now: now))
        }

        func tip(_ store: Accounts) async throws -> Cursor? {
            try await store.inspection.replicas(of: nil, after: nil, limit: 1).first?.tip
        }
    }

    @Test func `the first cursor that comes back is stored at once, a later one with what was deferred`() async throws {
        let two = Two()
        try await two.begin()
        #expect(try await two.tip(two.other) == cursor(1))
        try await two.own.change(alice) { try ReplicaRules.confirm(cursor(2), at: now, in: &$0) }
        #expect(try await two.own.context(2).row?.isConfirmed == true)
        #expect(try await two.tip(two.own) == cursor(2))
        #expect(try await two.tip(two.other) == cursor(1))
        try await two.own.storeDeferred()
        #expect(try await two.tip(two.other) == cursor(2))
        #expect(try await two.own.context(2).row?.isConfirmed == true)
    }

    @Test func `a commit of the replica stores what was deferred of it`() async throws {
        let two = Two()
        try await two.begin()
        try await two.own.change(alice) { try ReplicaRules.confirm(cursor(2), at: now + 1, in: &$0) }
        try await two.own.commit(PullCommit(row: row(3, parent: 2), replica: .existing, now: now + 1))
        #expect(try await two.tip(two.other) == cursor(2))
        #expect(try await two.other.context(3).isFork == false)
    }

    @Test func `a commit of another replica stores nothing that was deferred`() async throws {
        let two = Two()
        try await two.begin()
        try await two.own.change(alice) { try ReplicaRules.confirm(cursor(2), at: now, in: &$0) }
        try await two.own.begin(row(9, replica: 9))
        #expect(try await two.tip(two.other) == cursor(1))
        #expect(try await two.tip(two.own) == cursor(2))
    }

    @Test func `after a kill the device presents its cursor again`() async throws {
        let two = Two()
        try await two.begin()
        try await two.own.change(alice) { try ReplicaRules.confirm(cursor(2), at: now, in: &$0) }
        let after = two.other
        #expect(try await after.context(2).isFork == false)
        try await after.change(alice) { try ReplicaRules.confirm(cursor(2), at: now, in: &$0) }
        try await after.commit(PullCommit(row: row(3, parent: 2), replica: .existing, now: now))
        // The gateway that was taken for dead makes nothing of it undone.
        try await two.own.storeDeferred()
        #expect(try await two.tip(two.other) == cursor(2))
        #expect(try await two.other.context(3).newestOfReplica == cursor(3))
    }

    @Test func `of two answers to one cursor, the one that came back second is a fork for everybody`() async throws {
        let two = Two()
        try await two.begin()
        try await two.own.commit(PullCommit(row: row(3, parent: 1), replica: .existing, now: now))
        try await two.own.change(alice) { try ReplicaRules.confirm(cursor(3), at: now, in: &$0) }
        #expect(try await two.own.context(2).isFork)
        let other = two.other
        try await other.change(alice) { try ReplicaRules.confirm(cursor(2), at: now, in: &$0) }
        try await other.commit(PullCommit(row: row(4, parent: 2), replica: .existing, now: now))
        try await two.own.storeDeferred()
        #expect(try await two.tip(two.own) == cursor(2))
        #expect(try await two.own.context(3).isFork)
    }

    @Test func `nothing is stored of a replica that was forgotten meanwhile`() async throws {
        let two = Two()
        try await two.begin()
        try await two.own.change(alice) { try ReplicaRules.confirm(cursor(2), at: now, in: &$0) }
        #expect(try await two.other.change(alice) { try ReplicaRules.forget(ReplicaID(rawValue: 1), at: now, in: &$0) })
        try await two.own.storeDeferred()
        #expect(try await two.own.inspection.replicas(of: nil, after: nil, limit: 9).isEmpty)
        #expect(try await two.own.context(2).row == nil)
    }

    @Test func `what could not be stored stays deferred, and is stored when the state is closed`() async throws {
        let full = NIOLockedValueBox(false)
        let bytes = MemoryBytes { moment in
            if moment == .beforeWriting, full.withLockedValue({ $0 }) { throw StateError.full }
        }
        let own = Accounts(bytes, limits: StateLimits())
        try await own.begin(row(1))
        try await own.change(alice) { try ReplicaRules.confirm(cursor(1), at: now, in: &$0) }
        full.withLockedValue { $0 = true }
        try await own.change(alice) { try ReplicaRules.confirm(cursor(1), at: now + 60_000, in: &$0) }
        await #expect(throws: StateError.full) { try await own.storeDeferred() }
        full.withLockedValue { $0 = false }
        let other = Accounts(bytes.shared { _ in }, limits: StateLimits())
        func seen(_ store: Accounts) async throws -> Instant? {
            try await store.inspection.replicas(of: nil, after: nil, limit: 1).first?.lastSeen
        }
        #expect(try await seen(own) == now + 60_000)
        #expect(try await seen(other) == now)
        try await own.storeDeferred()
        #expect(try await seen(other) == now + 60_000)
    }

    @Test func `a contact alone waits for ten minutes, and a cursor that came back does not`() async throws {
        let two = Two()
        try await two.begin()
        func seen(_ store: Accounts) async throws -> Instant? {
            try await store.inspection.replicas(of: nil, after: nil, limit: 1).first?.lastSeen
        }
        func contact(_ minute: Int64) async throws {
            let time = now + minute * 60_000
            try await two.own.change(alice) { try ReplicaRules.confirm(cursor(1), at: time, in: &$0) }
            try await two.own.storeDeferred(at: time)
        }
        for minute: Int64 in 1...10 {
            try await contact(minute)
            #expect(try await seen(two.own) == now + minute * 60_000)
            #expect(try await seen(two.other) == now)
        }
        try await contact(11)
        #expect(try await seen(two.other) == now + 660_000)
        try await contact(12)
        try await two.own.change(alice) { try ReplicaRules.confirm(cursor(2), at: now + 720_001, in: &$0) }
        try await two.own.storeDeferred(at: now + 720_001)
        #expect(try await two.tip(two.other) == cursor(2))
        #expect(try await seen(two.other) == now + 720_001)
    }

    @Test func `contacts are stored after their time though the clock was set back`() async throws {
        let two = Two()
        try await two.begin()
        try await two.own.change(alice) { try ReplicaRules.confirm(cursor(1), at: now + 90_000, in: &$0) }
        try await two.own.storeDeferred(at: now + 90_000)
        try await two.own.storeDeferred(at: now - 3_600_000)
        let seen = try await two.other.inspection.replicas(of: nil, after: nil, limit: 1).first?.lastSeen
        #expect(seen == now + 90_000)
    }
}
