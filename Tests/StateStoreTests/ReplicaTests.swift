// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

@Suite struct ReplicaTests {
    @Test(arguments: StateBacking.all)
    func `the operator sees every replica with its newest cursor, page by page`(backing: StateBacking) async throws {
        try await backing { store in
            try await store.begin(row(1, replica: 10, schemaVersion: 3), at: now)
            try await store.begin(row(2, of: bob, replica: 20), at: now)
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
            #expect(try await store.inspection.replicas(of: bob, after: nil, limit: 10) == second)
            #expect(try await store.inspection.replicas(of: Principal(rawValue: "x"), after: nil, limit: 10).isEmpty)
            #expect(try await store.inspection.replicas(of: nil, after: nil, limit: -1).isEmpty)
        }
    }

    @Test(arguments: StateBacking.all)
    func `a pull learns when its device came first, whatever it presents`(backing: StateBacking) async throws {
        try await backing { store in
            try await store.begin(row(1, replica: 10), at: now)
            #expect(try await store.context(1).firstSeen == now)
            try await store.proceed(row(3, replica: 10, parent: 1), at: now + 7)
            #expect(try await store.context(3).firstSeen == now)
            #expect(try await store.context(1).firstSeen == now)
            #expect(try await store.context(2).firstSeen == nil)
        }
    }

    @Test(arguments: StateBacking.all)
    func `what a replica last did is noted at once, the same thing again only after the interval`(backing: StateBacking)
        async throws
    {
        try await backing { store in
            try await store.begin(row(1, replica: 10), at: now)
            for (time, result, shown, seen) in [
                (now + 59_999, "pull", "pull", now), (now + 5, "b\u{0}", "b\u{FFFD}", now + 5),
                (now + 60_004, "b\u{0}", "b\u{FFFD}", now + 5), (now + 60_005, "b\u{0}", "b\u{FFFD}", now + 60_005),
                (now, "c", "c", now + 60_005),
            ] {
                try await store.change(alice) {
                    try ReplicaRules.touch(ReplicaID(rawValue: 10), result: result, at: time, in: &$0)
                }
                let replicas = try await store.inspection.replicas(of: nil, after: nil, limit: 1)
                #expect(replicas.map(\.lastResult) == [shown] && replicas.map(\.lastSeen) == [seen])
            }
            try await store.change(alice) {
                try ReplicaRules.touch(ReplicaID(rawValue: 11), result: "x", at: now, in: &$0)
            }
            #expect(try await store.inspection.replicas(of: nil, after: nil, limit: 9).count == 1)
        }
    }

    @Test(arguments: StateBacking.all)
    func `a confirmed cursor that comes again keeps its replica seen`(backing: StateBacking) async throws {
        try await backing { store in
            try await store.begin(row(1), at: now)
            for (time, expected) in [
                (now, now), (now + 59_999, now), (now + 90_000, now + 90_000), (now, now + 90_000),
            ] {
                try await store.change(alice) { try ReplicaRules.confirm(cursor(1), at: time, in: &$0) }
                #expect(
                    try await store.inspection.replicas(of: nil, after: nil, limit: 1).map(\.lastSeen) == [expected])
            }
        }
    }

    @Test(arguments: StateBacking.all)
    func `what a replica's pushes show of its schema only rises`(backing: StateBacking) async throws {
        try await backing { store in
            try await store.begin(row(1, replica: 10))
            #expect(try await store.context(1).pushedVersion == nil)
            for (version, rises, known) in [(2, true, 2), (2, false, 2), (1, false, 2), (7, true, 7), (3, false, 7)] {
                let replica = ReplicaID(rawValue: 10)
                #expect(
                    try await store.change(alice) { try ReplicaRules.notePushed(version, by: replica, in: &$0) }
                        == rises)
                #expect(try await store.context(1).pushedVersion == known)
            }
            try await store.proceed(row(2, replica: 10, parent: 1))
            #expect(try await store.context(2).pushedVersion == 7)
            #expect(try await store.inspection.replicas(of: nil, after: nil, limit: 1).map(\.schemaVersion) == [7])
        }
    }

    @Test(arguments: StateBacking.all)
    func `a push that names no replica is the only one's, and nobody's where there are several`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            #expect(try await !store.change(alice) { try ReplicaRules.notePushed(2, by: nil, in: &$0) })
            try await store.begin(row(1, replica: 10))
            try await store.begin(row(2, of: bob, replica: 20))
            #expect(try await store.change(alice) { try ReplicaRules.notePushed(2, by: nil, in: &$0) })
            #expect(try await store.context(1).pushedVersion == 2)
            #expect(try await store.context(2, of: bob).pushedVersion == nil)
            try await store.begin(row(3, replica: 11))
            #expect(try await !store.change(alice) { try ReplicaRules.notePushed(3, by: nil, in: &$0) })
            #expect(
                try await store.change(alice) { try ReplicaRules.notePushed(3, by: ReplicaID(rawValue: 11), in: &$0) })
            #expect(try await store.context(1).pushedVersion == 2)
            // Whoever has been forgotten does not count.
            #expect(
                try await store.change(alice) { try ReplicaRules.forget(ReplicaID(rawValue: 11), at: now, in: &$0) })
            #expect(try await store.change(alice) { try ReplicaRules.notePushed(4, by: nil, in: &$0) })
            #expect(try await store.context(1).pushedVersion == 4)
            #expect(
                try await !store.change(alice) { try ReplicaRules.notePushed(5, by: ReplicaID(rawValue: 11), in: &$0) })
        }
    }

    @Test(arguments: StateBacking.all)
    func `another principal's replica is none`(backing: StateBacking) async throws {
        try await backing { store in
            try await store.begin(row(1, replica: 10))
            #expect(
                try await !store.change(bob) { try ReplicaRules.notePushed(2, by: ReplicaID(rawValue: 10), in: &$0) })
            #expect(try await store.context(1).pushedVersion == nil)
        }
    }

    @Test(arguments: StateBacking.all)
    func `a fork has not pushed what its original has`(backing: StateBacking) async throws {
        try await backing { store in
            try await store.begin(row(1, replica: 10))
            for (cursor, parent) in [(2, 1), (3, 2)] as [(Int64, Int64)] {
                try await store.proceed(row(cursor, replica: 10, parent: parent))
            }
            try await store.change(alice) { try ReplicaRules.confirm(cursor(3), at: now, in: &$0) }
            #expect(
                try await store.change(alice) { try ReplicaRules.notePushed(5, by: ReplicaID(rawValue: 10), in: &$0) })
            let (original, clone) = (try await store.context(3), try await store.context(1))
            #expect(!original.isFork && original.pushedVersion == 5)
            #expect(clone.isFork && clone.pushedVersion == nil)
        }
    }
}
