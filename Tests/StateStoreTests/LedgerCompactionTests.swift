// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

@Suite struct LedgerCompactionTests {
    /// A replica with a base of 20 records and three cursors after it.
    private static func fill(_ store: Accounts) async throws {
        try await store.begin(row(100), Entries(uniqueKeysWithValues: (1...20).map { ($0, 1) }))
        try await store.proceed(row(200, parent: 100), [1: 2, 5: 2, 21: 2])
        try await store.proceed(row(300, parent: 200), [5: 3, 20: 3, 22: 3])
        try await store.proceed(row(400, parent: 300), [1: 4, 22: 4])
        try await store.change(alice) { try ReplicaRules.confirm(cursor(400), at: now, in: &$0) }
    }

    private static func views(_ store: Accounts) async throws -> [Entries] {
        var views: [Entries] = []
        for value: Int64 in [100, 200, 300, 400] {
            #expect(try await store.outline(value).isExact)
            views.append(try await store.view(value))
        }
        return views
    }

    private static func expect(_ views: [Entries], in store: Accounts) async throws {
        let found = try await Self.views(store)
        #expect(found == views)
    }

    @Test(arguments: StateBacking.all)
    func `a compaction moves what cursors have added into the base and each is read as before`(
        backing: StateBacking
    ) async throws {
        try await backing { store in
            try await Self.fill(store)
            let before = try await Self.views(store)
            let outline = try await store.outline(400)
            #expect(outline.deltas.count == 3)
            let isFinished = try await store.compact(outline, [400, 300, 200], finished: 400) {
                try await Self.expect(before, in: store)
            }
            #expect(isFinished)
            let compacted = try await store.outline(400)
            #expect(compacted.layers.count == 1)
            #expect(compacted.deltaChunks == 0)
            #expect(try await store.outline(100).undos.count == 3)
            #expect(try await store.outline(300).undos.count == 1)
            let row = try #require(try await store.inspection.replicas(of: nil, after: nil, limit: 1).first)
            #expect(row.ledger == [TestLedger.table: LedgerCount(held: 22, entries: 22, bytes: 44)])
            #expect(try await store.context(400).held == [TestLedger.table: 22])
            #expect(row.horizon == nil)
        }
    }

    @Test(arguments: StateBacking.all, [1, 2])
    func `a compaction that was interrupted begins again and loses no way back`(
        backing: StateBacking, steps: Int
    ) async throws {
        try await backing { store in
            try await Self.fill(store)
            let before = try await Self.views(store)
            let outline = try await store.outline(400)
            #expect(try await !store.compact(outline, [400, 300, 200], finished: 400, steps: steps - 1))
            #expect(try await !store.compact(store.outline(400), [400, 300, 200], finished: 400, steps: steps))
            #expect(try await Self.views(store) == before)
            let isFinished = try await store.compact(store.outline(400), [400, 300, 200], finished: 400) {
                try await Self.expect(before, in: store)
            }
            #expect(isFinished)
            #expect(try await store.outline(400).layers.count == 1)
        }
    }

    @Test(arguments: StateBacking.all)
    func `a step that does not fit the ledger changes nothing`(backing: StateBacking) async throws {
        try await backing { store in
            try await Self.fill(store)
            let outline = try await store.outline(400)
            let base = try #require(outline.base)
            let chunks = try await store.chunkReader.chunks(after: nil, in: TestLedger.table, of: base, limit: 9)
            let good = try #require(LedgerMerge(of: outline, upTo: try cursor(400)))
            func code(
                _ change: (inout LedgerCompactionBatch, inout LedgerMerge) -> Void
            ) async throws -> String? {
                var (compaction, merge) = (LedgerCompactionBatch(), good)
                compaction.isLast = true
                change(&compaction, &merge)
                do {
                    try await store.change(alice) { try LedgerRules.compact(compaction, of: merge, at: now, in: &$0) }
                    return nil
                } catch let error as StateError {
                    return error.code
                }
            }
            let (compacted, unknown) = try (cursor(100), cursor(999))
            #expect(
                try await code { batch, _ in batch.removed = [chunks[0].number, chunks[0].number] }
                    == "state.ledger_changed")
            #expect(try await code { _, merge in merge.version += 1 } == "state.ledger_changed")
            #expect(try await code { _, merge in merge.base = outline.deltas[0].id } == "state.ledger_changed")
            #expect(try await code { _, merge in merge.upTo = unknown } == "state.ledger_changed")
            #expect(
                try await code { batch, _ in batch.undo = [compacted: TestLedger.chunks([1: 1])] } == "state.failed")
            #expect(try await store.outline(400) == outline)
            #expect(
                try await store.chunkReader.chunks(after: nil, in: TestLedger.table, of: base, limit: 9) == chunks)
        }
    }

    @Test(arguments: StateBacking.all, 0..<6)
    func `whatever is pulled, forked, compacted and collected, each cursor is read as its device is`(
        backing: StateBacking, seed: Int
    ) async throws {
        try await backing { store in
            var model = LedgerModel(store: store, seed: UInt64(seed))
            for _ in 0..<100 { try await model.step() }
            try await model.check()
            #expect(model.compactions > 0)
        }
    }
}
