// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

@Suite struct CursorChainTests {
    @Test(.eachStore) func `a committed cursor comes back with all that it stands for`() async throws {
        #expect(try await store.context(100) == StoredPullContext())
        #expect(try await store.newestCursor() == nil)
        let vector = ["AlbumV1": "AlbumV1|1", "Ünï\u{0}": "a,b:\n\u{0}|", "": "", "SyncCompleteV1": "x"]
        try await store.raiseGeneration(of: tablet)
        let first = try row(100, vector: vector, session: tablet, generation: 1, schemaVersion: 12)
        try await store.begin(first)
        let context = try await store.context(100)
        #expect(context.row == first && !context.isFork)
        #expect(context.session == SessionRow(), "the session that presents it is another one")
        #expect(context.newest?.rawValue == 100 && context.newestOfReplica?.rawValue == 100)
        let second = try row(200, parent: 100, vector: [:])
        try await store.proceed(second)
        #expect(try await store.context(200).row == second)
        #expect(try await store.context(100).newestOfReplica?.rawValue == 200)
    }

    @Test(.eachStore)
    func `a cursor is worth nothing to another principal, who may have the same integer`() async throws {
        try await store.begin(row(100))
        let context = try await store.context(100, of: bob)
        #expect(context.row == nil && context.newest == nil && context.belongsToAnotherPrincipal)
        #expect(try await !store.context(101, of: bob).belongsToAnotherPrincipal)
        await #expect(throws: StateError.cursorUnknown(try cursor(100))) { try await store.confirm(100, of: bob) }
        try await store.begin(row(100, of: bob, replica: 2))
        try await store.begin(row(300, of: bob, replica: 3))
        #expect(try await store.context(100).row?.replica.rawValue == 1)
        #expect(try await store.context(100, of: bob).row?.replica.rawValue == 2)
        #expect(try await store.context(100).newest?.rawValue == 100)
        #expect(try await store.newestCursor()?.rawValue == 300)
    }

    @Test(.eachStore)
    func `a cursor that its principal has, or that is not newer than its parent, is refused`() async throws {
        try await store.begin(row(100))
        await #expect(throws: StateError.cursorTaken(newest: try cursor(100))) {
            try await store.begin(row(100, replica: 2))
        }
        try await store.proceed(row(200, parent: 100))
        for value: Int64 in [200, 150, 1] {
            await #expect(throws: StateError.cursorTaken(newest: try cursor(200))) {
                try await store.proceed(row(value, parent: 200))
            }
        }
        // Nothing of the refused pulls is left.
        #expect(try await store.replicas(of: alice).count == 1)
        #expect(try await store.context(150).row == nil)
    }

    @Test(.eachStore)
    func `a replica is confirmed by its first cursor that comes back, and goes on with any`() async throws {
        try await store.begin(row(100))
        #expect(try await !store.replica().isConfirmed)
        await #expect(throws: StateError.replicaForked(ReplicaID(rawValue: 1))) {
            try await store.goOn(row(200, parent: 100))
        }
        try await store.proceed(row(200, parent: 100))
        let replica = try await store.replica()
        #expect(try replica.isConfirmed && replica.tip == cursor(100))
        #expect(try await !store.context(100).isFork)
        let second = try await store.context(200)
        #expect(!second.isFork && second.row?.isConfirmed == false)
        try await store.confirm(200)
        #expect(try await store.replica().tip == cursor(200))
        #expect(try await store.context(100).isFork)
        let confirmed = try await store.context(200)
        #expect(!confirmed.isFork && confirmed.row?.isConfirmed == true)
        // A fork is confirmed likewise, whose first cursor has a parent elsewhere.
        try await store.begin(row(300, replica: 2, parent: 100))
        #expect(try await store.replicas().map(\.isConfirmed) == [true, false])
        try await store.confirm(300)
        #expect(try await store.replicas().map(\.isConfirmed) == [true, true])
    }

    @Test(.eachStore) func `a sibling that did not come back first begins a replica of its own`() async throws {
        try await store.begin(row(100))
        try await store.proceed(row(200, parent: 100))
        try await store.proceed(row(201, parent: 100))
        #expect(try await !store.context(100).isFork)
        try await store.confirm(201)
        #expect(try await store.context(100).isFork)
        #expect(try await store.context(200).isFork)
        // Presenting it changes nothing of the line.
        try await store.confirm(200)
        #expect(try await store.context(200).row?.isConfirmed == false)
        #expect(try await !store.context(201).isFork)
        for parent: Int64? in [100, 200, nil] {
            await #expect(throws: StateError.replicaForked(ReplicaID(rawValue: 1))) {
                try await store.goOn(row(300, parent: parent))
            }
        }
        try await store.begin(row(300, replica: 2, parent: 100))
        #expect(try await store.context(300).row?.parent?.rawValue == 100)
        #expect(try await store.context(201).newestOfReplica?.rawValue == 201)
    }

    @Test(.eachStore) func `a replica of another user or of nobody takes no cursor`() async throws {
        try await store.begin(row(100, replica: 7))
        let unknown = StateError.replicaUnknown(ReplicaID(rawValue: 7))
        await #expect(throws: unknown) { try await store.proceed(row(200, of: bob, replica: 7)) }
        await #expect(throws: unknown) { try await store.begin(row(200, of: bob, replica: 7)) }
        await #expect(throws: StateError.replicaUnknown(ReplicaID(rawValue: 8))) {
            try await store.proceed(row(200, replica: 8))
        }
        #expect(try await store.context(of: bob).newest == nil)
    }

    @Test(.eachStore) func `the oldest unconfirmed replicas go and their integers stay taken`() async throws {
        func kept() async throws -> [Int64] { try await store.replicas(of: alice).map(\.id.rawValue) }
        try await store.begin(row(50, replica: 99))
        try await store.confirm(50)
        try await store.begin(row(60, of: bob, replica: 98))
        for index: Int64 in 1...9 { try await store.begin(row(100 + index, replica: index), at: now + index) }
        #expect(try await store.context(101).row != nil, "the others have just started")
        try await store.begin(row(110, replica: 10), at: now + 172_800_002)
        #expect(try await kept() == [3, 4, 5, 6, 7, 8, 9, 10, 99])
        #expect(try await store.context(101).row == nil)
        #expect(try await store.context(50).row != nil)
        #expect(try await store.context(60, of: bob).row != nil)

        // Even the newest integer of all is not handed out again after its replica went.
        for index: Int64 in 11...18 {
            try await store.begin(row(100 + index, replica: index), at: now + index * 200_000_000)
        }
        #expect(try await kept() == [11, 12, 13, 14, 15, 16, 17, 18, 99])
        for value: Int64 in [101, 117, 118] {
            let error = await #expect(throws: StateError.self) { try await store.begin(row(value, replica: 20)) }
            #expect(error?.code == "state.cursor_taken")
        }
    }

    @Test(.eachStore) func `of many commits of one cursor at the same time exactly one succeeds`() async throws {
        let successes = try await withThrowingTaskGroup(of: Int.self) { group in
            for index: Int64 in 1...20 {
                group.addTask {
                    do {
                        try await store.begin(row(100, replica: index))
                        return 1
                    } catch StateError.cursorTaken {
                        return 0
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(successes == 1)
        #expect(try await store.replicas(of: alice).count == 1)
    }

    @Test(.eachStore) func `a write is finished although its task was cancelled`() async throws {
        let row = try row(100)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                withUnsafeCurrentTask { $0?.cancel() }
                await #expect(throws: Never.self) { try await store.begin(row) }
                await #expect(throws: CancellationError.self) { _ = try await store.context(100) }
            }
        }
        #expect(try await store.context(100).row == row)
    }

    @Test(.eachStore, arguments: ["", "a\u{0}b", String(repeating: "x", count: 257)])
    func `a key that no store can hold is refused`(text: String) async throws {
        await #expect(throws: StateError.invalid("principal")) {
            try await store.begin(row(100, of: Principal(rawValue: text)))
        }
        await #expect(throws: StateError.invalid("session")) {
            try await store.begin(row(100, session: Session(rawValue: text)))
        }
        await #expect(throws: StateError.invalid("push digest")) { try await store.save(.taken, digest: text) }
        let context = try await store.context()
        #expect(context == StoredPullContext())
    }

    @Test(.eachStore(.with { $0.vectorBytes = 1_000 }))
    func `a vector over the limit is refused and leaves nothing`() async throws {
        let vector = ["AlbumV1": String(repeating: "x", count: 1_000)]
        let error = StateError.tooLarge("checkpoint vector")
        await #expect(throws: error) { try await store.begin(row(100, vector: vector)) }
        await #expect(throws: error) { try await store.setPosition(.at(CheckpointVector(vector))) }
        let context = try await store.context()
        #expect(context == StoredPullContext())
    }
}
