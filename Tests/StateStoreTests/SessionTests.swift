// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

@Suite struct SessionTests {
    private static let (old, new) = (CheckpointVector(["AlbumV1": "t"]), CheckpointVector(["AlbumV1": "u"]))

    @Test(.eachStore)
    func `a position is unknown until it is set and belongs to one session of one principal`() async throws {
        try await store.setPosition(.at(Self.old))
        #expect(try await store.context().session == SessionRow(position: .at(Self.old)))
        #expect(try await store.context(of: bob).session == SessionRow())
        #expect(try await store.context(session: tablet).session == SessionRow())
        // A backend that holds nothing is not the same as one whose holdings are unknown.
        for position in [Position.at(CheckpointVector()), .unknown] {
            try await store.setPosition(position)
            #expect(try await store.position() == position)
        }
    }

    @Test(.eachStore)
    func `before one session of a principal is moved, the positions of its others are unknown`() async throws {
        try await store.setPosition(.at(Self.old), for: bob)
        // Also where that is noted of itself already.
        for _ in 1...2 {
            try await store.setPosition(.at(Self.old))
            #expect(try await store.position() == .at(Self.old))
            try await store.setPosition(.unknown, of: tablet)
            #expect(try await store.position() == .unknown)
        }
        try await store.setPosition(.at(Self.old))
        try await store.raiseGeneration(of: tablet)
        #expect(try await store.position() == .unknown)
        #expect(try await store.position(for: bob) == .at(Self.old))
    }

    @Test(.eachStore) func `a commit can store the position, and one that fails leaves it`() async throws {
        try await store.begin(row(1_000), position: Self.old)
        #expect(try await store.position() == .at(Self.old))
        await #expect(throws: StateError.cursorTaken(newest: try cursor(1_000))) {
            try await store.proceed(row(900, parent: 1_000), position: Self.new)
        }
        #expect(try await store.position() == .at(Self.old))
        try await store.proceed(row(1_001, parent: 1_000), position: Self.new)
        #expect(try await store.position() == .at(Self.new))
        try await store.proceed(row(1_002, parent: 1_001))
        #expect(try await store.position() == .at(Self.new))
    }

    @Test(.eachStore) func `a position can be stored together with the confirmation of a cursor`() async throws {
        try await store.begin(row(1_000))
        try await store.setPosition(.at(Self.old))
        #expect(try await store.context(1_000).row?.isConfirmed == false)
        func confirm(_ value: Int64) async throws {
            try await store.change(alice) { account in
                let replica = try ReplicaRules.confirm(cursor(value), at: now, in: &account)
                try SessionRules.setPosition(.unknown, of: phone, syncing: replica, at: now, in: &account)
            }
        }
        try await confirm(1_000)
        let context = try await store.context(1_000)
        #expect(context.row?.isConfirmed == true && context.session.position == .unknown)
        await #expect(throws: StateError.cursorUnknown(try cursor(7))) { try await confirm(7) }
    }

    @Test(.eachStore)
    func `a raised generation forgets the position, and refuses pulls that began before it`() async throws {
        try await store.begin(row(100))
        try await store.setPosition(.at(Self.old))
        #expect(try await store.raiseGeneration() == 1)
        #expect(try await store.raiseGeneration() == 2)
        #expect(try await store.raiseGeneration(of: tablet, for: bob) == 1)
        let context = try await store.context(100)
        #expect(context.session == SessionRow(generation: 2))
        #expect(context.row?.generation == 0)
        await #expect(throws: StateError.generationChanged(current: 2)) {
            try await store.proceed(row(200, parent: 100, generation: 1))
        }
        #expect(try await store.context(200).row == nil)
        #expect(try await store.context(100).newest?.rawValue == 100)
        try await store.proceed(row(200, parent: 100, generation: 2))
        await #expect(throws: StateError.generationChanged(current: 0)) {
            try await store.begin(row(300, replica: 2, session: tablet, generation: 1))
        }
    }

    @Test(.eachStore(.with { $0.acceptedInterval = 1_000 }))
    func `acceptance is noted at most once in its interval and follows a clock that goes back`() async throws {
        for (time, expected) in [(now, now), (now + 999, now), (now + 1_000, now + 1_000), (now - 1, now - 1)] {
            try await store.markAccepted(at: time)
            #expect(try await store.context().session.acceptedAt == expected)
        }
    }

    @Test(.eachStore) func `a commit notes an acceptance or leaves the one before`() async throws {
        try await store.begin(row(100))
        #expect(try await store.context().session.acceptedAt == nil)
        for (value, time, expected) in [(200, now, now), (300, nil, now), (400, now + 1, now + 1)] as [Noted] {
            try await store.proceed(row(value, parent: value - 100), acceptedAt: time)
            #expect(try await store.context().session.acceptedAt == expected)
        }
    }

    private typealias Noted = (Int64, Instant?, Instant)

    @Test(.eachStore)
    func `after a restore every session starts a new generation, and cursors of before are distrusted`() async throws {
        try await store.setPosition(.at(Self.old))
        try await store.begin(row(100, of: bob))
        #expect(try await store.commands.distrust(because: .backend, of: nil, at: 70) == 2)
        #expect(try await store.context().session == SessionRow(generation: 1))
        #expect(try await store.context().distrustedAt == 100, "not before the newest cursor of all")
        let context = try await store.context(100, of: bob)
        #expect(context.session.generation == 1 && context.row?.generation == 0)
        #expect(context.distrustedAt == 100, "nor for another one")
        #expect(context.resyncAt == 0)
    }

    @Test(.eachStore) func `of gateways that set the mark of their key at once one does, and a command replaces it`()
        async throws
    {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for mark: Int64 in 1...4 { group.addTask { try await store.setKeyMark(mark, replaces: false) } }
            try await group.waitForAll()
        }
        let first = try #require(try await store.keyMark())
        try await store.setKeyMark(first + 1, replaces: false)
        #expect(try await store.keyMark() == first)
        try await store.setKeyMark(first + 1, replaces: true)
        #expect(try await store.keyMark() == first + 1)
    }

    @Test(.eachStore)
    func `one user is distrusted with all scopes, and a restored state its ledgers too`() async throws {
        let scoped = Principal(rawValue: "scoped", origin: .init(user: alice.rawValue, scope: "north"))
        try await store.begin(row(100))
        try await store.begin(row(200, of: scoped, replica: 2))
        try await store.begin(row(300, of: bob, replica: 3))
        #expect(try await store.commands.distrust(because: .state, of: alice, at: now) == 2)
        for (cursor, principal) in [(100, alice), (200, scoped)] as [(Int64, Principal)] {
            let context = try await store.context(cursor, of: principal)
            #expect(context.distrustedAt == now && context.resyncAt == now && context.session.generation == 1)
        }
        let other = try await store.context(300, of: bob)
        #expect(other.distrustedAt == 0 && other.resyncAt == 0 && other.session.generation == 0)
        #expect(try await store.commands.distrust(because: .state, of: Principal(rawValue: "nobody"), at: now) == 0)
    }
}
