// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import SyncModel
import Testing

@Suite struct LedgerCompactionTests {
    static let shape = LedgerShape(links: 0, feeds: 1)
    static let base = LedgerLayer(1)
    static let delta = LedgerLayer(2)

    static func entries(_ numbers: some Sequence<Int>, content: UInt64 = 1) -> [LedgerEntry] {
        numbers.map { LedgerEntry(id: "id-\($0)", hash: LedgerSupport.hash("id-\($0)"), content: content) }
    }

    static func compaction(
        _ memory: MemoryLedger, _ change: (inout LedgerCompaction.Settings) -> Void = { _ in }
    ) -> LedgerCompaction {
        var settings = LedgerCompaction.Settings()
        settings.chunkBytes = 1_024
        change(&settings)
        return LedgerCompaction(
            source: memory, base: base, deltas: [delta], tables: [(LedgerSupport.table, shape)],
            key: LedgerSupport.key, settings: settings)
    }

    static func apply(_ batch: LedgerCompactionBatch, to memory: MemoryLedger) async {
        _ = await memory.remove(batch.removed, from: base)
        await memory.add(batch.added, to: base)
    }

    @Test func `deltas without entries are gone after one batch`() async throws {
        var compaction = Self.compaction(MemoryLedger())
        var expected = LedgerCompactionBatch()
        expected.isLast = true
        #expect(try await compaction.nextBatch() == expected)
        #expect(try await compaction.nextBatch() == nil)
    }

    @Test func `only the chunks that something comes into are read and written`() async throws {
        let memory = MemoryLedger()
        let chunks = LedgerSupport.chunks(Self.entries(0..<20_000), shape: Self.shape, maximumBytes: 1_024)
        await memory.add(chunks, to: Self.base)
        await memory.add(LedgerSupport.chunks(Self.entries([5, 77, 20_001]), shape: Self.shape), to: Self.delta)
        var compaction = Self.compaction(memory)
        let batch = try #require(await compaction.nextBatch())
        #expect(batch.isLast && batch.removed.count == 3)
        #expect(await memory.chunksRead <= 8)
        #expect(
            batch.counts == [LedgerSupport.table: LedgerCount(held: 1, entries: 1, bytes: Self.bytes(batch, chunks))])
    }

    static func bytes(_ batch: LedgerCompactionBatch, _ chunks: [LedgerChunk]) -> Int {
        // The numbers of the memory begin with 1.
        batch.added.reduce(0) { $0 + $1.bytes.count }
            - batch.removed.reduce(0) { $0 + chunks[Int($1) - 1].bytes.count }
    }

    @Test func `a chunk that has grown over its maximum becomes two of one size`() async throws {
        let memory = MemoryLedger()
        let full = LedgerSupport.chunks(Self.entries(0..<2_000), shape: Self.shape, maximumBytes: 1_024)
        await memory.add([full[3]], to: Self.base)
        let inside = try #require((5_000..<9_000).first { LedgerSupport.hash("id-\($0)") > full[3].first })
        await memory.add(LedgerSupport.chunks(Self.entries([inside]), shape: Self.shape), to: Self.delta)
        var compaction = Self.compaction(memory)
        let batch = try #require(await compaction.nextBatch())
        #expect(batch.added.count == 2)
        #expect(abs(batch.added[0].entries - batch.added[1].entries) <= 2)
    }

    @Test func `a delta of any size is compacted in batches of bounded size`() async throws {
        let memory = MemoryLedger()
        await memory.add(LedgerSupport.chunks(Self.entries(0..<10), shape: Self.shape), to: Self.base)
        await memory.add(LedgerSupport.chunks(Self.entries(5..<30_000, content: 2), shape: Self.shape), to: Self.delta)
        var compaction = Self.compaction(memory) { $0.batchChunks = 8 }
        var (batches, counts): ([LedgerCompactionBatch], LedgerCount) = ([], LedgerCount())
        while let batch = try await compaction.nextBatch() {
            let bytes = (batch.added + batch.undo.values.joined()).reduce(0) { $0 + $1.bytes.count }
            #expect(bytes <= 4 * 8 * 1_024 && batch.removed.count <= 8)
            counts.add(batch.counts[LedgerSupport.table] ?? LedgerCount())
            batches.append(batch)
        }
        #expect(batches.count > 10)
        // Until the last one, the source stays as it was.
        for batch in batches { await Self.apply(batch, to: memory) }
        #expect(counts.entries == 30_000 - 10 && counts.held == counts.entries)
        let all = try await memory.chunks(of: Self.base).flatMap { try LedgerSupport.entries($0.bytes) }
        let expected = Self.entries(0..<5) + Self.entries(5..<30_000, content: 2)
        #expect(all == expected.sorted { $0.hash < $1.hash })
        // Chunks are full, but where a batch has ended.
        let chunks = await memory.chunks(of: Self.base)
        let bytes = chunks.reduce(0) { $0 + $1.bytes.count }
        #expect(bytes / chunks.count > 800)
    }

    @Test func `old tombstones vanish with the chunk that is written anew, and no others`() async throws {
        let memory = MemoryLedger()
        var entries = Self.entries(0..<400)
        for index in entries.indices where index % 2 == 0 {
            entries[index].state = .tombstone
            entries[index].content = nil
            entries[index].goneAt = index % 4 == 0 ? 99 : 100
        }
        let chunks = LedgerSupport.chunks(entries, shape: Self.shape, maximumBytes: 1_024)
        await memory.add(chunks, to: Self.base)
        var changed = Self.entries([401])
        changed[0].hash = LedgerSupport.hash("id-401")
        await memory.add(LedgerSupport.chunks(changed, shape: Self.shape), to: Self.delta)
        var compaction = Self.compaction(memory) { $0.forgetTombstonesBefore = 100 }
        let batch = try #require(await compaction.nextBatch())
        let number = try #require(batch.removed.first)
        let before = try LedgerSupport.entries(chunks[Int(number) - 1].bytes)
        let after = try batch.added.flatMap { try LedgerSupport.entries($0.bytes) }
        let expected = before.filter { $0.state != .tombstone || $0.goneAt >= 100 } + changed
        #expect(after == expected.sorted { $0.hash < $1.hash })
        #expect(before.count > expected.count)
    }

    @Test func `what is compacted has the shape of now`() async throws {
        let memory = MemoryLedger()
        let old = LedgerShape(links: 2, feeds: 1)
        var entries = Self.entries(0..<20)
        for index in entries.indices { entries[index].links = [1, 2] }
        await memory.add(LedgerSupport.chunks(Array(entries[..<10]), shape: old), to: Self.base)
        await memory.add(LedgerSupport.chunks(Array(entries[5...]), shape: old), to: Self.delta)
        var compaction = Self.compaction(memory)
        let batch = try #require(await compaction.nextBatch())
        for chunk in batch.added + batch.undo.values.joined() {
            #expect(try LedgerChunkReader(chunk.bytes).shape == Self.shape)
        }
        let after = try batch.added.flatMap { try LedgerSupport.entries($0.bytes) }
        #expect(after == Self.entries(0..<20).sorted { $0.hash < $1.hash })
    }

    @Test func `a damaged chunk stops a compaction`() async throws {
        for layer in [Self.base, Self.delta] {
            let memory = MemoryLedger()
            for other in [Self.base, Self.delta] {
                var chunks = LedgerSupport.chunks(Self.entries(0..<20), shape: Self.shape)
                if other == layer { chunks[0].bytes[40] ^= 4 }
                await memory.add(chunks, to: other)
            }
            await #expect(throws: LedgerError.damaged) {
                var compaction = Self.compaction(memory)
                _ = try await compaction.nextBatch()
            }
        }
    }
}
