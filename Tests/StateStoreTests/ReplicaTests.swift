// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import SyncModel
import Testing

@testable import StateStore

@Suite struct ReplicaTests {
    @Test(.eachStore) func `the operator sees every replica with its newest cursor, page by page`() async throws {
        try await store.begin(row(1, replica: 10, schemaVersion: 3))
        #expect(try await store.context(1).firstSeen == now)
        try await store.begin(row(2, of: bob, replica: 20))
        try await store.proceed(row(3, replica: 10, parent: 1, schemaVersion: 4), at: now + 7)
        let first = try await store.inspection.replicas(of: nil, after: nil, limit: 1)
        #expect(
            first == [
                ReplicaRow(
                    id: ReplicaID(rawValue: 10), principal: alice, isConfirmed: true, firstSeen: now,
                    lastSeen: now + 7, lastResult: "pull", newest: try cursor(3), schemaVersion: 4,
                    tip: try cursor(1))
            ])
        let second = try await store.inspection.replicas(of: nil, after: first.last?.id, limit: 10)
        #expect(second.map(\.principal) == [bob])
        #expect(try await store.replicas(of: bob) == second)
        #expect(try await store.replicas(of: Principal(rawValue: "x")).isEmpty)
        #expect(try await store.inspection.replicas(of: nil, after: nil, limit: -1).isEmpty)
        // A pull learns when its device came first, whatever it presents.
        for (value, time) in [(1, now), (3, now), (4, nil)] as [(Int64, Instant?)] {
            #expect(try await store.context(value).firstSeen == time)
        }
    }

    @Test(.eachStore)
    func `what a replica last did is noted at once, the same thing again only after the interval`() async throws {
        try await store.begin(row(1))
        for (time, result, shown, seen) in [
            (now + 59_999, "pull", "pull", now), (now + 5, "b\u{0}", "b\u{FFFD}", now + 5),
            (now + 60_004, "b\u{0}", "b\u{FFFD}", now + 5), (now + 60_005, "b\u{0}", "b\u{FFFD}", now + 60_005),
            (now, "c", "c", now + 60_005),
        ] {
            try await store.touch(result: result, at: time)
            let replica = try await store.replica()
            #expect(replica.lastResult == shown && replica.lastSeen == seen)
        }
        try await store.touch(11, result: "x")
        #expect(try await store.replicas().count == 1)
    }

    @Test(.eachStore) func `a confirmed cursor that comes again keeps its replica seen`() async throws {
        try await store.begin(row(1))
        for (later, seen) in [(0, 0), (59_999, 0), (90_000, 90_000), (0, 90_000)] as [(Int64, Int64)] {
            try await store.confirm(1, at: now + later)
            #expect(try await store.replica().lastSeen == now + seen)
        }
    }

    @Test(.eachStore)
    func `what a replica's pushes show of its schema only rises, and is not another principal's`() async throws {
        try await store.begin(row(1))
        #expect(try await !store.notePushed(2, by: 1, of: bob))
        #expect(try await store.context(1).pushedVersion == nil)
        for (version, rises, known) in [(2, true, 2), (2, false, 2), (1, false, 2), (7, true, 7), (3, false, 7)] {
            #expect(try await store.notePushed(version, by: 1) == rises)
            #expect(try await store.context(1).pushedVersion == known)
        }
        try await store.proceed(row(2, parent: 1))
        #expect(try await store.context(2).pushedVersion == 7)
        #expect(try await store.replica().schemaVersion == 7)
        // A fork has not pushed what its original has.
        try await store.proceed(row(3, parent: 2))
        try await store.confirm(3)
        let (original, clone) = (try await store.context(3), try await store.context(1))
        #expect(!original.isFork && original.pushedVersion == 7)
        #expect(clone.isFork && clone.pushedVersion == nil)
    }

    @Test(.eachStore)
    func `a push that names no replica is the only one's, and nobody's where there are several`() async throws {
        #expect(try await !store.notePushed(2, by: nil))
        try await store.begin(row(1, replica: 10))
        try await store.begin(row(2, of: bob, replica: 20))
        #expect(try await store.notePushed(2, by: nil))
        #expect(try await store.context(1).pushedVersion == 2)
        #expect(try await store.context(2, of: bob).pushedVersion == nil)
        try await store.begin(row(3, replica: 11))
        #expect(try await !store.notePushed(3, by: nil))
        #expect(try await store.notePushed(3, by: 11))
        #expect(try await store.context(1).pushedVersion == 2)
        // Whoever has been forgotten does not count.
        #expect(try await store.forget(11))
        #expect(try await store.notePushed(4, by: nil))
        #expect(try await store.context(1).pushedVersion == 4)
        #expect(try await !store.notePushed(5, by: 11))
    }
}
