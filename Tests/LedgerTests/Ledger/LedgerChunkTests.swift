// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import SyncModel
import Testing

@Suite struct LedgerChunkTests {
    static let shapes = [
        LedgerShape(links: 0, feeds: 1), LedgerShape(links: 1, feeds: 2), LedgerShape(links: 3, feeds: 9, tag: 7),
        LedgerShape(links: 255, feeds: 64), LedgerShape(links: 0, feeds: 64), LedgerShape(links: 2, feeds: 0),
    ]

    @Test(arguments: shapes, [64, 700, 16 << 10])
    func `what was written is read`(shape: LedgerShape, maximumBytes: Int) throws {
        var random = SeededGenerator(seed: UInt64(maximumBytes))
        var written: [String: LedgerEntry] = [:]
        for _ in 0..<500 {
            let id = LedgerSupport.randomID(&random)
            written[id] = LedgerSupport.randomEntry(id, shape: shape, &random)
        }
        let chunks = LedgerSupport.chunks(Array(written.values), shape: shape, maximumBytes: maximumBytes)
        var read: [LedgerEntry] = []
        for chunk in chunks {
            let entries = try LedgerSupport.entries(chunk.bytes)
            #expect(entries.count == chunk.entries && entries.first?.hash == chunk.first)
            #expect(chunk.bytes.count <= maximumBytes || chunk.entries == 1)
            #expect(try LedgerChunkReader(chunk.bytes).shape == shape)
            read += entries
        }
        #expect(read == written.values.sorted { $0.hash < $1.hash })
    }

    @Test func `a chunk is as full as it can be`() {
        let shape = LedgerShape(links: 0, feeds: 1)
        var random = SeededGenerator(seed: 9)
        let entries = (0..<2_000).map { _ in
            let id = LedgerSupport.randomUUID(&random)
            return LedgerEntry(id: id, hash: LedgerSupport.hash(id), content: 1)
        }
        let chunks = LedgerSupport.chunks(entries, shape: shape, maximumBytes: 15 + 25 * 100)
        #expect(chunks.map(\.entries) == Array(repeating: 100, count: 20))
    }

    @Test func `the writer counts what it takes`() {
        var writer = LedgerChunkWriter(table: "t", shape: LedgerShape(links: 0, feeds: 1), maximumBytes: 100)
        let states: [LedgerState] = [.held, .tombstone, .seen, .unknown, .held]
        let ids = (0..<5).map { "id\($0)" }.sorted { LedgerSupport.hash($0) < LedgerSupport.hash($1) }
        for (id, state) in zip(ids, states) {
            writer.append(LedgerEntry(id: id, hash: LedgerSupport.hash(id), state: state))
        }
        let early = writer.takeFullChunk()
        let chunk = writer.takeRest()
        let late = writer.takeRest()
        #expect(early == nil && late == nil)
        #expect(writer.count == LedgerCount(held: 2, entries: 5, bytes: chunk?.bytes.count ?? 0))
    }

    @Test func `an entry is copied from chunk to chunk, and loses what another shape does not have`() throws {
        let shape = LedgerShape(links: 2, feeds: 3)
        let entry = LedgerEntry(
            id: "a.b", hash: LedgerSupport.hash("a.b"), content: 5, links: [1, 2], feeds: 6)
        var reader = try LedgerChunkReader(LedgerSupport.chunks([entry], shape: shape)[0].bytes)
        let isThere = try reader.next()
        #expect(isThere)
        for (other, links, feeds) in [
            (shape, [1, 2], 6), (LedgerShape(links: 2, feeds: 3, tag: 1), [0, 0], 0),
            (LedgerShape(links: 0, feeds: 3), [], 0),
        ] as [(LedgerShape, [UInt64], FeedSet)] {
            var writer = LedgerChunkWriter(table: "t", shape: other)
            writer.append(entryOf: reader, hash: entry.hash)
            var expected = entry
            expected.links = links
            expected.feeds = feeds
            let bytes = writer.takeRest()?.bytes ?? []
            #expect(try LedgerSupport.entries(bytes) == [expected])
        }
    }

    @Test func `an id can be handed on as it lies`() throws {
        let shape = LedgerShape(links: 1, feeds: 1)
        let entry = LedgerEntry(id: "V1StGXR8_Z5jdHi6", hash: LedgerSupport.hash("V1StGXR8_Z5jdHi6"), state: .seen)
        var reader = try LedgerChunkReader(LedgerSupport.chunks([entry], shape: shape)[0].bytes)
        let isThere = try reader.next()
        #expect(isThere)
        var writer = LedgerChunkWriter(table: "t", shape: shape)
        reader.withPackedID { writer.append(packed: $0, hash: entry.hash, state: .tombstone, goneAt: 77) }
        let read = try LedgerSupport.entries(writer.takeRest()?.bytes ?? [])
        #expect(read == [LedgerEntry(id: entry.id, hash: entry.hash, state: .tombstone, links: [0], goneAt: 77)])
    }

    @Test func `an unknown id has nothing but itself`() throws {
        let shape = LedgerShape(links: 1, feeds: 9)
        let entry = LedgerEntry(id: "x", hash: LedgerSupport.hash("x"), content: 4, links: [8], feeds: 3)
        var reader = try LedgerChunkReader(LedgerSupport.chunks([entry], shape: shape)[0].bytes)
        let isThere = try reader.next()
        #expect(isThere)
        var writer = LedgerChunkWriter(table: "t", shape: shape)
        writer.append(unknownIDOf: reader, hash: entry.hash)
        let rest = writer.takeRest()
        let chunk = try #require(rest)
        #expect(chunk.bytes.count == 15 + 2)
        #expect(
            try LedgerSupport.entries(chunk.bytes) == [LedgerEntry(id: "x", hash: entry.hash, state: .unknown)])
    }

    @Test func `entries out of order are a mistake of ours`() async {
        await #expect(processExitsWith: .failure) {
            var writer = LedgerChunkWriter(table: "t", shape: LedgerShape(links: 0, feeds: 1))
            writer.append(LedgerEntry(id: "a", hash: IDHash(low: 0, high: 2)))
            writer.append(LedgerEntry(id: "b", hash: IDHash(low: 0, high: 1)))
        }
    }
}
