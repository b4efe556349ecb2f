// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

@Suite struct LedgerCompactionTests {
    /// A replica with a base of 20 records and three cursors after it.
    private static func fill() async throws {
        try await store.line(ones(1...20), [1: 2, 5: 2, 21: 2], [5: 3, 20: 3, 22: 3], [1: 4, 22: 4])
    }

    /// What each of its cursors says.
    private static func views() async throws -> [Entries] {
        var views: [Entries] = []
        for value: Int64 in [100, 200, 300, 400] {
            #expect(try await store.outline(value).isExact)
            views.append(try await store.view(value))
        }
        return views
    }

    private static func compact(steps: Int = .max) async throws -> Bool {
        let before = try await views()
        return try await store.compact(store.outline(400), [400, 300, 200], finished: 400, steps: steps) {
            let found = try await views()
            #expect(found == before)
        }
    }

    @Test(.eachStore, arguments: [[], [0, 1], [1, 2]])
    func `a compaction, interrupted or not, moves what cursors have added into the base, and each is read as before`(
        interruptions: [Int]
    ) async throws {
        try await Self.fill()
        #expect(try await store.outline(400).deltas.count == 3)
        for steps in interruptions { #expect(try await !Self.compact(steps: steps)) }
        #expect(try await Self.compact())
        let compacted = try await store.outline(400)
        #expect(compacted.layers.count == 1 && compacted.deltaChunks == 0)
        #expect(try await store.outline(100).undos.count == 3)
        #expect(try await store.outline(300).undos.count == 1)
        let replica = try await store.replica()
        #expect(replica.ledger == [TestLedger.table: LedgerCount(held: 22, entries: 22, bytes: 44)])
        #expect(replica.horizon == nil)
        #expect(try await store.context(400).held == [TestLedger.table: 22])
    }

    @Test(.eachStore) func `a step that does not fit the ledger changes nothing`() async throws {
        try await Self.fill()
        let outline = try await store.outline(400)
        let base = try #require(outline.base)
        let chunks = try await store.chunkReader.chunks(after: nil, in: TestLedger.table, of: base, limit: 9)
        let good = try #require(LedgerMerge(of: outline, upTo: try cursor(400)))
        func code(_ change: (inout LedgerCompactionBatch, inout LedgerMerge) -> Void) async -> String? {
            var (compaction, merge) = (LedgerCompactionBatch(), good)
            compaction.isLast = true
            change(&compaction, &merge)
            return await #expect(throws: StateError.self) {
                try await store.change(alice) { try LedgerRules.compact(compaction, of: merge, at: now, in: &$0) }
            }?.code
        }
        let (compacted, unknown) = try (cursor(100), cursor(999))
        let twice = [chunks[0].number, chunks[0].number]
        #expect(await code { batch, _ in batch.removed = twice } == "state.ledger_changed")
        #expect(await code { _, merge in merge.version += 1 } == "state.ledger_changed")
        #expect(await code { _, merge in merge.base = outline.deltas[0].id } == "state.ledger_changed")
        #expect(await code { _, merge in merge.upTo = unknown } == "state.ledger_changed")
        #expect(await code { batch, _ in batch.undo = [compacted: TestLedger.chunks([1: 1])] } == "state.failed")
        #expect(try await store.outline(400) == outline)
        let after = try await store.chunkReader.chunks(after: nil, in: TestLedger.table, of: base, limit: 9)
        #expect(after == chunks)
    }

    @Test(.eachStore, arguments: 0..<6)
    func `whatever is pulled, forked, compacted and collected, each cursor is read as its device is`(
        seed: Int
    ) async throws {
        var model = LedgerModel(store: store, seed: UInt64(seed))
        for _ in 0..<100 { try await model.step() }
        try await model.check()
        #expect(model.compactions > 0)
    }
}
