// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import LineProjection
import SyncModel

/// Lets tests write sets of feeds as binary numbers.
extension FeedSet: ExpressibleByIntegerLiteral {
    package init(integerLiteral bits: UInt64) { self.init(rawValue: bits) }
}

/// What the tests of the ledger share.
enum LedgerSupport {
    static let key = SipHash.Key(3, 4)
    static let table = "tasks"

    static func hash(_ id: String) -> IDHash { IDHash(id: id, key: key) }

    static func randomUUID(_ random: inout SeededGenerator) -> String {
        let digits = Array("0123456789abcdef")
        return [8, 4, 4, 4, 12].map { count in
            String((0..<count).map { _ in digits[Int.random(in: 0..<16, using: &random)] })
        }.joined(separator: "-")
    }

    static func randomText(_ letters: String, count: Int, _ random: inout SeededGenerator) -> String {
        let letters = Array(letters)
        return String((0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] })
    }

    /// Ids of every form, short ones more often.
    static func randomID(_ random: inout SeededGenerator) -> String {
        let letters = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return randomUUID(&random)
        case 1: return randomUUID(&random) + "." + randomUUID(&random)
        case 2: return randomText("0123456789", count: Int.random(in: 1...12, using: &random), &random)
        case 3: return "a." + randomText(letters + ".", count: Int.random(in: 0...30, using: &random), &random)
        case 4: return randomText(letters, count: Int.random(in: 20...255, using: &random), &random)
        default: return randomText(letters, count: Int.random(in: 1...24, using: &random), &random)
        }
    }

    /// An entry with anything that a shape has room for.
    static func randomEntry(_ id: String, shape: LedgerShape, _ random: inout SeededGenerator) -> LedgerEntry {
        var entry = LedgerEntry(id: id, hash: hash(id))
        entry.links = (0..<shape.links).map { _ in random.next() }
        entry.feeds = shape.feedBytes == 0 ? [] : FeedSet(rawValue: random.next() >> UInt64(64 - shape.feedBytes * 8))
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            entry.state = .tombstone
            entry.goneAt = Instant(milliseconds: .random(in: 0...Cursor.maximum, using: &random))
        case 1: entry.state = .seen
        case 2: break
        default: entry.content = random.next()
        }
        return entry
    }

    /// Chunks of entries in any order.
    static func chunks(
        _ entries: [LedgerEntry], table: String = table, shape: LedgerShape, maximumBytes: Int = 16 << 10
    ) -> [LedgerChunk] {
        var writer = LedgerChunkWriter(table: table, shape: shape, maximumBytes: maximumBytes)
        var chunks: [LedgerChunk] = []
        for entry in entries.sorted(by: { $0.hash < $1.hash }) {
            writer.append(entry)
            while let chunk = writer.takeFullChunk() { chunks.append(chunk) }
        }
        while let chunk = writer.takeRest() { chunks.append(chunk) }
        return chunks
    }

    /// All entries of a chunk.
    static func entries(_ bytes: [UInt8]) throws -> [LedgerEntry] {
        var reader = try LedgerChunkReader(bytes)
        var entries: [LedgerEntry] = []
        while try reader.next() { entries.append(reader.entry(key)) }
        return entries
    }
}
