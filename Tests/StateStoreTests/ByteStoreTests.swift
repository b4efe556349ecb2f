// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import StateStore
import SyncModel
import Testing

/// What every store of bytes promises.
@Suite struct ByteStoreTests {
    private static let head = RowKey(.principal, of: 1)
    /// How long each course is: 400 steps for each hundred of `RIND_TEST_STORE_SEEDS`.
    ///
    /// What is compared grows with a course, so ten times the steps take much more than ten times as long.
    private static let steps =
        400 * max(1, (ProcessInfo.processInfo.environment["RIND_TEST_STORE_SEEDS"].flatMap(Int.init) ?? 0) / 100)

    /// The store of bytes that a test runs over.
    private var bytes: any ByteStore { store.store }

    private static func changes(_ change: (inout RowChanges) -> Void) -> [RowChanges] {
        var changes = RowChanges()
        change(&changes)
        return [changes]
    }

    private static func head(_ version: Int64) -> ByteRow {
        ByteRow(key: head, version: version, bytes: [UInt8(version)])
    }

    @Test(.eachByteStore, arguments: 0..<3)
    func `whatever is changed, every store answers as the dictionary does`(seed: Int) async throws {
        var trial = ByteStoreTrial(bytes, seed: UInt64(seed))
        for step in 0..<Self.steps {
            try await trial.step()
            if step.isMultiple(of: 10) { try await trial.comparePages() }
        }
        #expect(trial.refusals > Self.steps / 40 && trial.refusals < Self.steps / 2)
    }

    @Test(.eachByteStore) func `changes that expect another version change nothing at all`() async throws {
        let other = RowKey(.note, of: 1, [1])
        let made = try await bytes.commit(
            Self.changes { changes in
                changes.expected = [Self.head: 0]
                changes.rows[Self.head] = Self.head(1)
            })
        #expect(made == [.made])
        for version: Int64 in [0, 2] {
            let refused = Self.changes { changes in
                changes.expected = [Self.head: version]
                changes.rows[Self.head] = Self.head(3)
                changes.rows[other] = ByteRow(key: other)
                changes.chunks[5] = [1]
                changes.increments[MetaKey.replicas.row] = 1
            }
            let outcomes = try await bytes.commit(refused)
            #expect(outcomes == [.refused])
        }
        let rows = try await bytes.load([.row(Self.head), .row(other), .row(MetaKey.replicas.row)])
        #expect(rows == [[Self.head(1)], [], []])
        let chunks = try await bytes.chunks([5])
        #expect(chunks == [nil])
    }

    @Test(.eachByteStore) func `a chunk gets no number that another chunk has`() async throws {
        func add(_ number: Int64, _ bytes: [UInt8]) async throws -> CommitOutcome {
            try await self.bytes.commit(Self.changes { $0.chunks[number] = bytes })[0]
        }
        let outcomes = (try await add(7, [1]), try await add(7, [2]), try await add(8, [3]))
        #expect(outcomes == (.made, .refused, .made))
        let both = try await bytes.commit(
            Self.changes { changes in
                (changes.chunks[6], changes.chunks[7]) = ([4], [5])
                changes.rows[Self.head] = Self.head(1)
            })
        #expect(both == [.refused])
        let chunks = try await bytes.chunks([6, 7, 8])
        #expect(chunks == [nil, [1], [3]])
        let rows = try await bytes.load([.row(Self.head)])
        #expect(rows == [[]])
    }

    @Test(.eachByteStore) func `a new replica gets no number that a replica of another owner has`() async throws {
        func add(_ owner: Int64) async throws -> CommitOutcome {
            let key = RowKey(.replica, of: owner, number: 7)
            return try await bytes.commit(
                Self.changes { changes in
                    changes.expected[key] = 0
                    changes.rows[key] = ByteRow(key: key, version: owner, number: 7)
                })[0]
        }
        let outcomes = (try await add(1), try await add(2), try await add(1))
        #expect(outcomes == (.made, .refused, .refused))
        // Whoever only finds that an owner has none is right.
        let found = try await bytes.commit(
            Self.changes { changes in
                changes.expected[RowKey(.replica, of: 2, number: 7)] = 0
                changes.rows[Self.head] = Self.head(1)
            })
        #expect(found == [.made])
        let rows = try await bytes.load([.named(.replica, 7)])[0]
        #expect(rows.map(\.key.owner) == [1])
    }

    @Test(.eachByteStore) func `of changes made from one version at the same time one is made`() async throws {
        _ = try await bytes.commit(Self.changes { $0.rows[Self.head] = Self.head(1) })
        let made = try await withThrowingTaskGroup(of: CommitOutcome.self) { group in
            for version: Int64 in 2...9 {
                group.addTask {
                    let changes = Self.changes {
                        $0.expected = [Self.head: 1]
                        $0.rows[Self.head] = Self.head(version)
                    }
                    return try await bytes.commit(changes)[0]
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(made.count { $0 == .made } == 1 && made.count { $0 == .refused } == 7)
    }

    @Test(.eachByteStore) func `blind increments of many at once are all counted`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { _ = try await bytes.commit(Self.changes { $0.increments[MetaKey.replicas.row] = 1 }) }
            }
            try await group.waitForAll()
        }
        #expect(try await bytes.load([.row(MetaKey.replicas.row)])[0].first?.number == 20)
    }

    @Test(.eachByteStore) func `no reserved number is given twice`() async throws {
        let numbers = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for _ in 0..<8 { group.addTask { try await bytes.reserve(.journal, count: 5) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(numbers).count == 40 && !numbers.contains { $0 <= 0 })
    }

    @Test(.eachByteStore) func `a group of changes is answered one by one`() async throws {
        let group = [(0, 1), (0, 2), (1, 3)].flatMap { (expected: Int64, version: Int64) in
            Self.changes { changes in
                changes.expected = [Self.head: expected]
                changes.rows[Self.head] = Self.head(version)
            }
        }
        let outcomes = try await bytes.commit(group)
        #expect(outcomes == [.made, .refused, .made])
        let rows = try await bytes.load([.row(Self.head)])
        #expect(rows == [[Self.head(3)]])
    }

    @Test(.eachByteStore) func `after closing everything says that it is closed`() async throws {
        await bytes.close()
        await #expect(throws: StateError.closed) { _ = try await bytes.load([.row(Self.head)]) }
        await #expect(throws: StateError.closed) {
            _ = try await bytes.commit(Self.changes { $0.rows[Self.head] = Self.head(1) })
        }
    }
}
