// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import MemoryState
import NIOConcurrencyHelpers
import SQLiteState
import StateStore
import SyncModel
import Testing

@testable import Accounts

/// Devices of one login, whose pulls and pushes run side by side.
@Suite struct SharedAccountTests {
    private static func note(_ id: String, in store: Accounts) async throws {
        try await store.write([PushNote(table: "t", id: id, state: .held)])
    }

    @Test(.eachStore) func `two pulls and a push of one login come through side by side`() async throws {
        for device: Int64 in [1, 2] { try await store.begin(row(device, replica: device)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device: Int64 in [1, 2] {
                group.addTask {
                    for step: Int64 in 1...15 {
                        let value = device + step * 10
                        try await store.proceed(row(value, replica: device, parent: value - 10))
                    }
                }
            }
            group.addTask { for step in 1...15 { try await Self.note("\(step)", in: store) } }
            try await group.waitForAll()
        }
        #expect(try await store.context(151).row?.replica.rawValue == 1)
        let context = try await store.context(152)
        #expect(context.row?.replica.rawValue == 2 && context.sequence == 15)
    }

    @Test func `a pull that takes long is committed though others of its login commit all the time`() async throws {
        let bytes = MemoryBytes()
        let (own, other) = (Accounts(bytes), Accounts(bytes.shared { _ in }))
        for device: Int64 in [1, 2] { try await own.begin(row(device, replica: device), [UInt8(device): 1]) }
        try await own.confirm(1)
        let outline = try await own.outline(1)
        // A stream of ten seconds, with five commits a second.
        for step: Int64 in 1...50 {
            let value = 2 + step * 10
            try await (step % 2 == 0 ? own : other).proceed(row(value, replica: 2, parent: value - 10), [2: 2])
            try await Self.note("\(step)", in: other)
        }
        try await own.commit(
            PullCommit(
                row: row(511, replica: 1, parent: 1), replica: .existing, now: now, ledger: TestLedger.commit([1: 3]),
                ledgersRead: [outline.replica: outline.version]))
        #expect(try await own.view(511) == [1: 3])
        #expect(try await other.context(511).sequence == 50)
    }

    @Test func `changes from one version are all made, whoever comes between`() async throws {
        let bytes = MemoryBytes()
        let gateways = [bytes, bytes.shared { _ in }, bytes.shared { _ in }].map { Accounts($0) }
        try await gateways[0].begin(row(1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 { group.addTask { try await Self.note("\(number)", in: gateways[number % 3]) } }
            try await group.waitForAll()
        }
        #expect(try await gateways[0].context(1).sequence == 60)
        let notes = try await gateways[1].notes()
        #expect(Set(notes.map(\.sequence)) == Set(1...60) && Set(notes.map(\.id)).count == 60)
    }

    @Test func `a principal who was erased and came again under a gateway's eyes keeps what came since`() async throws {
        let bytes = MemoryBytes()
        let (own, other) = (Accounts(bytes.shared(seesChanges: false) { _ in }), Accounts(bytes))
        // As many changes of the head before as after it.
        try await own.begin(row(1))
        try await own.write(["a", "b"].map { PushNote(table: "t", id: $0, state: .held) })
        _ = try await other.commands.erase(alice)
        try await other.begin(row(2, replica: 2))
        try await Self.note("c", in: other)
        try await Self.note("d", in: own)
        let context = try await other.context(2)
        #expect(context.row != nil && context.sequence == 2)
        #expect(try await other.context(1).row == nil)
        #expect(try await other.notes().map(\.id) == ["c", "d"])
    }

    @Test func `what another gateway has promised since is not taken for what was known before`() async throws {
        let bytes = MemoryBytes()
        let (own, other) = (Accounts(bytes.shared(seesChanges: false) { _ in }), Accounts(bytes))
        let (replica, promised) = (ReplicaID(rawValue: 1), PendingRedelivery(table: "t", id: "a"))
        try await own.begin(row(1))
        try await own.confirm(1)
        for gateway in [own, other] {
            try await gateway.change(alice) { try RedeliveryRules.schedule([promised], to: replica, at: now, in: &$0) }
            if gateway === own {
                try await own.change(alice) { try RedeliveryRules.drop([promised], of: replica, in: &$0) }
            }
        }
        #expect(try await own.context(1).hasRedeliveries)
        try await own.commit(
            PullCommit(row: row(2, parent: 1), replica: .existing, now: now, delivered: [promised]))
        let pending = try await other.read(alice) {
            try RedeliveryRules.pending(for: replica, at: cursor(2), limit: 9, of: &$0)
        }
        #expect(pending.isEmpty)
    }

    @Test func `a change that others overtake a hundred times is given up, and changes nothing`() async throws {
        let (bytes, attempts) = (MemoryBytes(), NIOLockedValueBox(0))
        let other = Accounts(bytes)
        let own = Accounts(
            bytes.shared { moment in
                guard moment == .beforeWriting else { return }
                let attempt = attempts.withLockedValue { count in
                    count += 1
                    return count
                }
                try await Self.note("other-\(attempt)", in: other)
            })
        await #expect(throws: StateError.busy) { try await Self.note("own", in: own) }
        #expect(attempts.withLockedValue(\.self) == 100)
        #expect(try await other.notes().allSatisfy { $0.id != "own" })
    }

    @Test func `of many devices that begin at once none makes all others run again for long`() async throws {
        let (count, refusals): (Int64, _) = (200, NIOLockedValueBox(0))
        let bytes = MemoryBytes(commitsInGroups: true) { _ in for _ in 0..<20 { await Task.yield() } }.copy { call in
            guard case .commit(_, let outcomes) = call else { return }
            refusals.withLockedValue { $0 += outcomes.count { $0 == .refused } }
        }
        let store = Accounts(bytes, limits: .with { $0.startingReplicas = Int(count) })
        try await withThrowingTaskGroup { group in
            for device in 1...count { group.addTask { try await store.begin(row(device, replica: device)) } }
            try await group.waitForAll()
        }
        #expect(try await bytes.rows(.row(MetaKey.replicas.row)).first?.number == count)
        #expect((1...Int(count) * 4).contains(refusals.withLockedValue(\.self)))
    }

    @Test(.eachStore) func `two principals with one number are not taken for each other`() async throws {
        let (one, two) = (Principal(rawValue: "0123456789abcdef0"), Principal(rawValue: "0123456789abcdef1"))
        #expect(one.owner == two.owner)
        try await store.begin(row(1, of: one))
        await #expect(throws: StateError.failed("two principals have the same number")) {
            try await store.begin(row(2, of: two, replica: 2))
        }
        await #expect(throws: StateError.failed("two principals have the same number")) {
            _ = try await store.context(1, of: two)
        }
        #expect(try await store.context(1, of: one).row != nil)
    }

    @Test func `what waits while others are committed goes together, and fails together`() async throws {
        let commits = NIOLockedValueBox(0)
        let bytes = MemoryBytes(commitsInGroups: true) { moment in
            guard moment == .beforeWriting else { return }
            for _ in 0..<20 { await Task.yield() }
            let number = commits.withLockedValue { count in
                count += 1
                return count
            }
            if number % 3 == 0 { throw StateError.full }
        }
        let (queue, heard) = (CommitQueue(bytes), NIOLockedValueBox<[Int64]>([]))
        let made = await withTaskGroup(of: [Int64].self) { group in
            for task: Int64 in 0..<20 {
                group.addTask {
                    var made: [Int64] = []
                    for number in task * 10..<task * 10 + 10 {
                        var changes = RowChanges()
                        changes.added = [ByteRow(key: RowKey(.note, of: 1, number: number), number: number)]
                        let outcome = try? await queue.commit(changes) { _ in
                            heard.withLockedValue { $0.append(number) }
                        }
                        if outcome == .made { made.append(number) }
                    }
                    return made
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        let rows = try await bytes.rows(.all(.note, of: 1))
        #expect(Set(rows.map(\.number)) == Set(made) && (20..<200).contains(made.count))
        #expect(Set(heard.withLockedValue(\.self)) == Set(made) && heard.withLockedValue(\.count) == made.count)
        #expect((4..<150).contains(commits.withLockedValue(\.self)))
    }

    /// Makes three large changes at once, and tells what has become of each.
    private static func writeThree(_ store: Accounts) async -> [String] {
        await withTaskGroup(of: String.self) { group in
            for part in 0..<3 {
                group.addTask {
                    let notes = (0..<1_500).map {
                        PushNote(table: "t", id: "\(part)-\($0)", state: .held, links: [1, 2, 3, 4])
                    }
                    do {
                        try await store.write(notes)
                        return "made"
                    } catch { return (error as? StateError)?.code ?? "\(error)" }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func `three changes that fail together leave nothing, and are made when there is room`() async throws {
        try await withStateFile { path in
            try await withSQLite(path, options: .with { $0.maximumPages = 20 }) { store in
                try await store.begin(row(1))
                #expect(await Self.writeThree(store) == ["state.full", "state.full", "state.full"])
                let context = try await store.context(1)
                #expect(context.row != nil && context.sequence == 0)
            }
            try await withSQLite(path) { store in
                let before = try await store.context(1).sequence
                let outcomes = await Self.writeThree(store)
                let after = try await store.context(1).sequence
                #expect(before == 0 && outcomes == ["made", "made", "made"] && after == 4_500)
            }
        }
    }
}
