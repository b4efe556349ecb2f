// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import GRDB
import MemoryState
import NIOConcurrencyHelpers
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct LedgerCollectionTests {
    private static let hour: Int64 = 3_600_000

    @Test(.eachStore)
    func `ways back that are older than the rewind go and the cursors before them are not exact any more`()
        async throws
    {
        try await store.line([1: 1], [2: 1], [3: 1], [4: 1])
        // What is not in the base needs no way back, however old it is.
        #expect(try await store.collect(undoBefore: now).isEmpty)
        #expect(try await store.outline(100).isExact)
        try await store.compact(store.outline(400), [400, 300, 200], finished: 400)
        #expect(try await store.collect(undoBefore: 301).undos == 2)
        for (value, isExact) in [(100, false), (200, false), (300, true)] as [(Int64, Bool)] {
            #expect(try await store.outline(value).isExact == isExact)
        }
        #expect(try await store.view(300) == [1: 1, 2: 1, 3: 1])
        #expect(try await store.view(100).keys.contains(1))
        #expect(try await store.replica().horizon == cursor(300))
        try await store.collect(undoBefore: now)
        #expect(try await !store.outline(300).isExact)
        #expect(try await store.outline(400).isExact)
    }

    @Test(.eachStore(.with { $0.headBytes = 400 }))
    func `a pull that has read a ledger before a way back went is not committed`() async throws {
        try await store.line([1: 1], [2: 1], [3: 1], [4: 1])
        try await store.compact(store.outline(400), [400, 300, 200], finished: 400)
        let read = try await store.outline(200)
        func pull() async throws {
            try await store.commit(
                PullCommit(
                    row: row(500, replica: 2), replica: .new, now: now, ledger: TestLedger.commit([1: 1]),
                    ledgersRead: [read.replica: read.version]))
        }
        #expect(try await store.collect(undoBefore: 301).undos == 2)
        await #expect(throws: StateError.ledgerChanged) { try await pull() }
    }

    @Test(.eachStore) func `layers of cursors that never came back go after the rewind`() async throws {
        try await store.begin(row(100), [1: 1])
        for (value, entries) in [(200, [2: 2]), (201, [2: 2]), (202, [3: 3])] as [(Int64, Entries)] {
            try await store.proceed(row(value, parent: 100), entries)
        }
        // As long as the replica has not gone on, any of them may come back.
        #expect(try await store.collect(undoBefore: now).isEmpty)
        try await store.proceed(row(300, parent: 202), [4: 4])
        let bytes = try await store.replica().ledgerBytes
        #expect(try await store.collect(undoBefore: now).siblings == 2)
        for value: Int64 in [200, 201] { #expect(try await !store.outline(value).isExact) }
        #expect(try await store.view(300) == [1: 1, 3: 3, 4: 4])
        #expect(try await store.outline(300).isExact)
        #expect(try await store.replica().ledgerBytes == bytes - 4)
    }

    @Test(.eachStore(.with { $0.inlineBytes = 0 }))
    func `a pull that is under way can read its layers for an hour after they have gone`() async throws {
        try await store.begin(row(100), [1: 1])
        try await store.proceed(row(200, parent: 100), [2: 2])
        try await store.proceed(row(201, parent: 100), [3: 3])
        let read = try await store.outline(200)
        try await store.proceed(row(300, parent: 201), [4: 4])
        try await store.collect(undoBefore: now)
        #expect(try await store.view(read) == [1: 1, 2: 2])
        #expect(try await store.collect(at: now + Self.hour).chunks == 0)
        #expect(try await store.collect(at: now + Self.hour + 1).chunks > 0)
        #expect(try await store.view(read) == [1: 1])
    }

    @Test(.eachStore(.with { $0.collectBatch = 3 }))
    func `what was staged and never named goes after an hour, in steps`() async throws {
        let chunks = TestLedger.chunks(ones(1...40))
        let forgotten = try await store.stageLayer(at: now)
        try await store.stage(chunks, in: forgotten)
        let current = try await store.stageLayer(at: now + Self.hour)
        try await store.stage(chunks, in: current)
        #expect(try await store.collect(at: now + Self.hour).isEmpty)
        // Ten chunks and the layer.
        #expect(try await store.collect(at: now + Self.hour + 1).chunks == 11)
        try await store.stage([], in: current)
        await #expect(throws: StateError.ledgerChanged) { try await store.stage([], in: forgotten) }
    }

    @Test func `a staged layer of which a part was collected cannot be named any more`() async throws {
        let writes = NIOLockedValueBox(Int.max)
        let bytes = MemoryBytes { moment in
            guard moment == .beforeWriting else { return }
            let left = writes.withLockedValue { count in
                count -= 1
                return count
            }
            if left < 0 { throw StateError.full }
        }
        let store = Accounts(bytes, limits: .with { $0.collectBatch = 1 })
        let layer = try await store.stageLayer(at: now)
        for id: UInt8 in 1...6 { try await store.stage(TestLedger.chunks([id: 1]), in: layer) }
        // The collection notes its time, deletes a part, and fails.
        writes.withLockedValue { $0 = 3 }
        await #expect(throws: StateError.full) { try await store.collect(at: now + Self.hour + 1) }
        writes.withLockedValue { $0 = .max }
        let left = try await store.store.rows(.all(.staged, of: 0)).count
        #expect((1...6).contains(left))
        await #expect(throws: StateError.ledgerChanged) { try await store.begin(row(100), .staged(layer, counts: [:])) }
        await #expect(throws: StateError.ledgerChanged) { try await store.stage([], in: layer) }
    }

    @Test func `a chunk whose number another gateway has drawn gets another one`() async throws {
        let bytes = MemoryBytes()
        func gateway(drawing numbers: Int64...) -> Accounts {
            let left = NIOLockedValueBox(numbers[...])
            let setting = AccountSetting(limits: StateLimits()) { _ in left.withLockedValue { $0.popFirst() ?? 0 } }
            return Accounts(bytes, setting: setting)
        }
        for (id, store) in [(7, gateway(drawing: 1, 10)), (8, gateway(drawing: 2, 10, 11))] as [(UInt8, Accounts)] {
            try await store.stage(TestLedger.chunks([id: id]), in: store.stageLayer(at: now))
        }
        #expect(try await bytes.chunks([10, 11]) == [[7, 7], [8, 8]])
    }

    @Test(.eachStore) func `cursors on which a ledger rests stay although newer ones came back`() async throws {
        try await store.line([1: 1], [2: 2], [:], [2: 4])
        #expect(try await store.collect(supersededBefore: now).cursors == 1)
        #expect(try await store.context(300).row == nil)
        #expect(try await store.outline(400).isExact)
        #expect(try await store.view(400) == [1: 1, 2: 4])
        try await store.compact(store.outline(400), [400, 200], finished: 400)
        #expect(try await store.collect(supersededBefore: now).cursors == 2)
        #expect(try await store.view(400) == [1: 1, 2: 4])
    }

    @Test(.eachStore)
    func `notes go when every cursor that counts has seen their echo, and not before the rewind`() async throws {
        func noted(_ value: Int64, replica: Int64, parent: Int64? = nil, _ count: Int64) throws -> CursorRow {
            var row = try row(value, replica: replica, parent: parent)
            row.noted = count
            return row
        }
        func left(seenBefore: Instant = 0, undoBefore: Instant = 0) async throws -> [Int64] {
            try await store.collect(seenBefore: seenBefore, undoBefore: undoBefore)
            return try await store.notes().map(\.sequence)
        }
        try await store.begin(noted(100, replica: 1, 0), [1: 1])
        for id: Int64 in 1...6 {
            let note = PushNote(table: "t", id: "\(id)", state: .held)
            try await store.write([note], at: Instant(milliseconds: id * 1_000))
        }
        try await store.proceed(noted(200, replica: 1, parent: 100, 4), [2: 2])
        try await store.confirm(200)
        // Cursor 100 has seen none, and its ledger is exact.
        #expect(try await left(undoBefore: now) == [1, 2, 3, 4, 5, 6])
        try await store.compact(store.outline(200), [200], finished: 200)
        #expect(try await left(undoBefore: 3_500) == [4, 5, 6])
        try await store.begin(noted(300, replica: 2, 3), [1: 1])
        #expect(try await left(undoBefore: now) == [4, 5, 6])
        try await store.proceed(noted(400, replica: 2, parent: 300, 6), [2: 2])
        try await store.confirm(400)
        try await store.compact(store.outline(400), [400], finished: 400)
        #expect(try await left(undoBefore: now) == [5, 6])
        // A device that has been failing for long still has to hear of it.
        #expect(try await left(seenBefore: 5_500) == [5, 6])
        try await store.change(alice) { _ = try ReplicaRules.forget(ReplicaID(rawValue: 1), at: now, in: &$0) }
        #expect(try await left(seenBefore: 5_500) == [6])
    }

    @Test func `first pulls in a loop leave only a few ledgers`() async throws {
        try await withSQLite(options: .with { ($0.limits.inlineBytes, $0.limits.startingReplicas) = (0, 8) }) { store in
            for number: Int64 in 1...40 { try await store.begin(row(100 + number, replica: number), ones(1...20)) }
            let stored = try sqlite(store.location) { try Int.fetchOne($0, sql: "SELECT count(*) FROM chunk") }
            #expect(stored == 8 * 5)
            #expect(try await store.view(140).count == 20)
            // Others of the same user that have come back lose nothing.
            try await store.proceed(row(200, replica: 40, parent: 140), [21: 1])
            try await store.confirm(200)
            for number: Int64 in 41...60 { try await store.begin(row(200 + number, replica: number), [1: 1]) }
            #expect(try await store.view(200).count == 21)
            try await store.collect()
            #expect(try await store.view(260).count == 1)
        }
    }
}
