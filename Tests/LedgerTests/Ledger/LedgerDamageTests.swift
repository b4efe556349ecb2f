// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import SyncModel
import Testing

@Suite struct LedgerDamageTests {
    static let shape = LedgerShape(links: 1, feeds: 9, tag: 0x0403_0201)

    static func chunk(entries count: Int = 40, seed: UInt64 = 1) -> LedgerChunk {
        var random = SeededGenerator(seed: seed)
        let ids = Set((0..<count).map { _ in LedgerSupport.randomID(&random) }).sorted()
        let entries = ids.map { LedgerSupport.randomEntry($0, shape: shape, &random) }
        return LedgerSupport.chunks(entries, shape: shape)[0]
    }

    /// The checksum of the format, to make chunks that are wrong behind a right one.
    static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        func mixed(_ sum: UInt64, _ word: UInt64) -> UInt64 {
            let product = (sum ^ word) &* 0x9e37_79b9_7f4a_7c15
            return product ^ product >> 32
        }
        func word(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        var sum = mixed(UInt64(bytes.count), word(bytes[..<7]))
        let words = (bytes.count - 15) / 8
        for index in 0..<words { sum = mixed(sum, word(bytes[(15 + index * 8)...].prefix(8))) }
        sum = mixed(sum, bytes[(15 + words * 8)...].reduce(0) { $0 << 8 | UInt64($1) })
        var sealed = bytes
        for index in 0..<8 { sealed[7 + index] = UInt8(truncatingIfNeeded: sum >> UInt64(index * 8)) }
        return sealed
    }

    static func view(_ chunks: [LedgerChunk]) throws -> LedgerView {
        let layer = LedgerLayer(1)
        return try LedgerView(
            source: MemoryLedger(), layers: [layer], preloaded: PreloadedChunks([(layer, chunks)]),
            table: LedgerSupport.table,
            shape: shape,
            key: LedgerSupport.key)
    }

    @Test func `the format of a chunk is what files have`() throws {
        let ids = ["0197c5b2-31f0-7abc-8def-0123456789ab", "abc", "a.b", "x"]
        var entries = ids.map { LedgerEntry(id: $0, hash: LedgerSupport.hash($0)) }
        entries[0].content = 0x0807_0605_0403_0201
        entries[0].links = [0x18]
        entries[0].feeds = 0x102
        entries[1].state = .tombstone
        entries[1].goneAt = 0x99
        entries[2].state = .seen
        entries[3].state = .unknown
        let chunk = LedgerSupport.chunks(entries, shape: Self.shape)[0]
        let link: [UInt8] = [0x18, 0, 0, 0, 0, 0, 0, 0]
        let none: [UInt8] = Array(repeating: 0, count: 10)
        var parts: [[UInt8]] = []
        parts.append([0x01, 1, 0x97, 0xc5, 0xb2, 0x31, 0xf0, 0x7a, 0xbc, 0x8d, 0xef, 1, 0x23, 0x45, 0x67, 0x89, 0xab])
        parts[0] += [1, 2, 3, 4, 5, 6, 7, 8] + link + [2, 1]
        // Form 6 is three letters: 38, 39 and 40, the first one lowest.
        parts.append([0x32, 0xe6, 0x89, 0x02, 0x99, 0, 0, 0, 0, 0, 0, 0] + none)
        parts.append([0x13, 3] + Array("a.b".utf8) + none)
        parts.append([0x24, 61])
        let order = entries.indices.sorted { entries[$0].hash < entries[$1].hash }
        let header: [UInt8] = [1, 1, 2, 1, 2, 3, 4] + Array(repeating: 0, count: 8)
        #expect(chunk.bytes == Self.sealed(header + order.flatMap { parts[$0] }))
        #expect(chunk.entries == 4 && chunk.table == LedgerSupport.table && chunk.first == entries[order[0]].hash)
    }

    @Test func `no bit can change unnoticed`() {
        let bytes = Self.chunk(entries: 10).bytes
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: LedgerError.damaged) { try LedgerChunkReader(changed) }
        }
    }

    @Test func `no byte can be missing or too many`() {
        let bytes = Self.chunk(entries: 10).bytes
        for count in 0..<bytes.count {
            #expect(throws: LedgerError.damaged) { try LedgerChunkReader(Array(bytes.prefix(count))) }
        }
        #expect(throws: LedgerError.damaged) { try LedgerChunkReader(bytes + [0]) }
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `whatever stands behind a right checksum is read or refused`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let original = Self.chunk(seed: seed).bytes
        for _ in 0..<200 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0...bytes.count - 15, using: &random)) }
            guard var reader = try? LedgerChunkReader(Self.sealed(bytes)) else { continue }
            while (try? reader.next()) == true {
                #expect(RecordID.isSafe(reader.id))
                #expect(reader.entry(LedgerSupport.key).links.count <= 255)
            }
        }
    }

    @Test func `an entry that reaches over the end is refused`() throws {
        let header: [UInt8] = [1, 1, 2, 1, 2, 3, 4] + Array(repeating: 0, count: 8)
        let starts: [[UInt8]] = [
            [0x00], [0x08] + Array(repeating: 0, count: 31), [0x10], [0x10, 0], [0x10, 9, 97], [0x18], [0x18, 0],
            [0x18, 99, 1], [0x20], [0x24], [0xf8, 1], [0x20, 61], [0x22, 61, 0, 0], [0x25, 61], [0x14, 1, 0x2f],
        ]
        for start in starts {
            var reader = try LedgerChunkReader(Self.sealed(header + start))
            #expect(throws: LedgerError.damaged, "\(start)") { try reader.next() }
        }
        for head in [[2, 1, 2], [0, 1, 2], [1, 1, 9]] as [[UInt8]] {
            #expect(throws: LedgerError.damaged) { try LedgerChunkReader(Self.sealed(head + header[3...])) }
        }
    }

    @Test func `chunks that do not fit together are refused`() async throws {
        let shape = Self.shape
        var random = SeededGenerator(seed: 4)
        let entries = (0..<60).map { LedgerSupport.randomEntry("id\($0)", shape: shape, &random) }
        let chunks = LedgerSupport.chunks(entries, shape: shape, maximumBytes: 300)
        try #require(chunks.count > 3)
        func walk(_ chunks: [LedgerChunk]) async throws {
            var view = try Self.view(chunks)
            while try await view.next() {}
        }
        func changed(_ change: (inout [LedgerChunk]) -> Void) -> [LedgerChunk] {
            var chunks = chunks
            change(&chunks)
            return chunks
        }
        try await walk(chunks)
        for wrong in [
            changed { $0.swapAt(0, 1) }, changed { $0[2] = $0[1] }, changed { $0[1].entries += 1 },
            changed { $0[1].entries -= 1 }, changed { $0[1].bytes = $0[2].bytes }, changed { $0[1].bytes = [] },
            changed { $0[1].first = IDHash(low: $0[1].first.low &+ 1, high: $0[1].first.high) },
            // The chunk's own entries are right, but another one reaches into them.
            changed {
                $0[1] = LedgerSupport.chunks(entries.filter { !($0.hash < chunks[1].first) }, shape: shape)[0]
            },
        ] {
            await #expect(throws: LedgerError.damaged) { try await walk(wrong) }
        }
    }

    @Test(arguments: [[0], [1], [2], [0, 1, 2], [1, 3], [3], [0, 1, 2, 3]], [true, false])
    func `what can be read is found although other chunks are damaged`(_ bad: [Int], _ isPreloaded: Bool) async throws {
        var random = SeededGenerator(seed: 3)
        let ids = Set((0..<200).map { _ in LedgerSupport.randomID(&random) }).sorted()
        let entries = ids.map { LedgerSupport.randomEntry($0, shape: Self.shape, &random) }
            .sorted { $0.hash < $1.hash }
        var chunks = LedgerSupport.chunks(entries, shape: Self.shape, maximumBytes: 2_000)
        try #require(chunks.count > 3)
        var lost = Set<IDHash>()
        for place in bad {
            let end = place + 1 < chunks.count ? chunks[place + 1].first : nil
            for entry in entries where !(entry.hash < chunks[place].first) && end.map({ entry.hash < $0 }) ?? true {
                lost.insert(entry.hash)
            }
            chunks[place].bytes[20] ^= 1
        }
        let layer = LedgerLayer(1)
        let memory = MemoryLedger()
        await memory.add(chunks, to: layer)
        func view() throws -> LedgerView {
            try LedgerView(
                source: memory, layers: [layer], preloaded: PreloadedChunks(isPreloaded ? [(layer, chunks)] : []),
                table: LedgerSupport.table, shape: Self.shape, key: LedgerSupport.key, skipsDamage: true)
        }
        var walking = try view()
        var walked: [IDHash] = []
        while try await walking.next() { if let position = walking.position { walked.append(position) } }
        let known = entries.filter { $0.state != .unknown && !lost.contains($0.hash) }.map(\.hash)
        #expect(walked == known)
        for step in [1, 3, 40] {
            var seeking = try view()
            for entry in entries.enumerated().filter({ $0.offset % step == 0 }).map(\.element) {
                let isKnown = entry.state != .unknown && !lost.contains(entry.hash)
                #expect(try await seeking.seek(to: entry.hash) == isKnown)
            }
        }
    }

    @Test(arguments: [Int.min, -1, 0, 1, 9, 39, 41, 1 << 40, Int.max])
    func `a chunk whose head has a wrong number of entries is damaged, whatever the number`(count: Int) async throws {
        let entries = (0..<40).map { LedgerEntry(id: "e-\($0)", hash: LedgerSupport.hash("e-\($0)")) }
            .sorted { $0.hash < $1.hash }
        var chunks = LedgerSupport.chunks(entries, shape: Self.shape)
        try #require(chunks.count == 1 && chunks[0].entries == 40)
        chunks[0].entries = count
        // So far behind the first one that it is looked for by bisection.
        var view = try Self.view(chunks)
        await #expect(throws: LedgerError.damaged) { try await view.seek(to: entries[30].hash) }
    }
}
