// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import SyncModel
import Testing

@testable import Deduplication

/// What a stream says about each record, read back as often as anyone likes.
@Suite struct DeduplicationReaderTests {
    typealias Line = SpooledStream.Line

    /// A group as a test compares it.
    struct Found: Equatable {
        var hash: IDHash
        var lines: Int
        var upsert: UInt64?
        var upsertLine: UInt32?
        var deletion: UInt64?
        var remaining: FeedSet
        var added: FeedSet
        var id: String
        var links: [UInt64]

        init(_ group: RecordGroup) {
            hash = group.hash
            lines = group.lines
            upsert = group.upsert?.sequence
            upsertLine = group.upsert?.line
            deletion = group.deletion?.sequence
            remaining = group.remaining
            added = group.added
            id = PackedID.text(of: group.packedID) ?? ""
            links = group.links
        }

        /// What a dictionary makes of the lines of one table.
        static func naive(_ lines: [Line], table: Int) -> [Found] {
            var records: [String: Found] = [:]
            var numbers: (upserts: UInt32, deletions: UInt32) = (0, 0)
            for (sequence, line) in lines.enumerated() where line.table == table {
                var found = records[line.id] ?? Found(id: line.id, isLedgered: table < SpooledStream.tables - 1)
                found.take(line, sequence: UInt64(sequence), number: numbers.upserts)
                if line.operation == .upsert { numbers.upserts += 1 } else { numbers.deletions += 1 }
                records[line.id] = found
            }
            return records.values.sorted { $0.hash < $1.hash }
        }

        private init(id: String, isLedgered: Bool) {
            hash = SpooledStream.hash(id)
            (lines, remaining, added) = (0, .all, [])
            self.id = isLedgered ? id : ""
            links = []
        }

        private mutating func take(_ line: Line, sequence: UInt64, number: UInt32) {
            lines += 1
            switch line.operation {
            case .upsert:
                upsert = sequence
                upsertLine = number
                added.insert(FeedSet(feed: Int(line.feed)))
                links = id.isEmpty ? [] : line.links
            case .delete:
                added.remove(FeedSet(feed: Int(line.feed)))
                remaining.remove(FeedSet(feed: Int(line.feed)))
                deletion = sequence
            case .deleteAll:
                (added, remaining) = ([], [])
                deletion = sequence
            }
        }
    }

    private static func randomLines(_ random: inout SeededGenerator, count: ClosedRange<Int>) -> [Line] {
        (0..<Int.random(in: count, using: &random)).map { index in
            let name = "r\(Int.random(in: 0...30, using: &random))"
            // The longest that an id can be.
            let padding = name.hasSuffix("7") ? 255 - name.utf8.count : 0
            return Line(
                table: Int.random(in: 0...2, using: &random),
                id: name + String(repeating: "x", count: padding),
                operation: [.upsert, .upsert, .delete, .deleteAll].randomElement(using: &random) ?? .upsert,
                feed: [0, 1, 5, 63].randomElement(using: &random) ?? 0, content: "\(index)",
                links: (0..<Int.random(in: 0...3, using: &random)).map { _ in random.next() })
        }
    }

    private static func read(_ reader: inout DeduplicationReader, table: Int, most: Int = .max) async throws -> [Found]
    {
        var found: [Found] = []
        try await reader.open(TableRank(rawValue: UInt16(table)))
        while found.count < most, try await reader.next() { found.append(Found(reader.group)) }
        return found
    }

    @Test(arguments: 0..<80)
    func `every table reads as a dictionary says, in any order, again and again`(_ seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var lines = Self.randomLines(&random, count: 0...300)
        var stream = SpooledStream(runLength: Int.random(in: 1...80, using: &random))
        for line in lines { stream.add(line) }
        var reader = stream.reader()
        for table in [2, 0, 1, 0].shuffled(using: &random) {
            #expect(try await Self.read(&reader, table: table) == Found.naive(lines, table: table))
        }
        // A table that is left in the middle begins anew.
        let first = try await Self.read(&reader, table: 1, most: 2)
        #expect(try await Self.read(&reader, table: 1).starts(with: first))
        // The second look: more lines come, the old ones are still there.
        let more = Self.randomLines(&random, count: 1...100)
        for line in more { stream.add(line) }
        lines += more
        var again = stream.reader()
        for table in 0...2 {
            #expect(try await Self.read(&again, table: table) == Found.naive(lines, table: table))
        }
    }

    @Test func `a table without lines has no records, and neither has one that no rank names`() async throws {
        var stream = SpooledStream(runLength: 2)
        for id in ["a", "b", "c"] { stream.add(Line(table: 1, id: id, operation: .upsert)) }
        var reader = stream.reader()
        for table in [0, 2, 65_535] { #expect(try await Self.read(&reader, table: table).isEmpty) }
        #expect(try await Self.read(&reader, table: 1).count == 3)
    }

    @Test func `a record that comes ten thousand times is one record`() async throws {
        var stream = SpooledStream(runLength: 700)
        for index in 0..<10_000 {
            stream.add(Line(id: "a", operation: index % 7 == 3 ? .delete : .upsert, links: [UInt64(index)]))
        }
        var reader = stream.reader()
        let found = try await Self.read(&reader, table: 0)
        #expect(found.map(\.lines) == [10_000])
        #expect(found.first?.upsert == 9_998 && found.first?.deletion == 9_999 && found.first?.links == [9_998])
    }

    @Test(arguments: [1, 256, 257, 4_096, 5_000], ["even", "of few records", "of one record", "in one pile"])
    func `runs of any length and spread come out in order`(length: Int, ids: String) async throws {
        var random = SeededGenerator(seed: UInt64(length))
        for runLength in [length, length + 1] {
            var deduplicator = Deduplicator(runLength: runLength)
            var newest: [[IDHash: UInt64]] = [[:], [:], [:]]
            for sequence in 0..<UInt64(length) {
                let high: UInt64 =
                    switch ids {
                    case "of few records": .random(in: 0..<7, using: &random) << 61
                    case "of one record": .max
                    case "in one pile": 1 << 63 | .random(in: 0...3, using: &random)
                    default: random.next()
                    }
                let entry = DeduplicationEntry(
                    idHigh: high, idLow: .random(in: 0...1, using: &random), sequence: sequence, line: 0,
                    rank: TableRank(rawValue: .random(in: 0...2, using: &random)), feed: 0, operation: .upsert)
                newest[Int(entry.rank.rawValue)][entry.hash] = sequence
                deduplicator.add(entry)
            }
            var runs: [UInt8] = []
            while let piece = deduplicator.nextRunPiece() { runs += piece }
            #expect(deduplicator.storedRuns.count == (runLength == length ? 1 : 0))
            let stored = runs
            var reader = deduplicator.reader { offset, count in Array(stored[Int(offset)..<Int(offset) + count]) }
            for table in newest.indices {
                let found = try await Self.read(&reader, table: table)
                #expect(found.map(\.hash) == newest[table].keys.sorted())
                #expect(found.allSatisfy { $0.upsert == newest[table][$0.hash] })
            }
        }
    }

    @Test func `what reading a run throws comes through, and the reader goes on where it was`() async throws {
        struct Refused: Error {}
        // Not shared: the reader calls back on the task of this test, and nobody else knows of it.
        final class Refusals: @unchecked Sendable {
            var left = 0
        }
        let lines = (0..<20_000).map { Line(id: "r\($0)", operation: .upsert, links: [UInt64($0)]) }
        var deduplicator = Deduplicator(runLength: 3_000)
        var runs: [UInt8] = []
        for (number, line) in lines.enumerated() {
            let hash = SpooledStream.hash(line.id)
            let entry = DeduplicationEntry(
                idHigh: hash.high, idLow: hash.low, sequence: UInt64(number), line: UInt32(number),
                rank: TableRank(rawValue: 0), feed: 0,
                operation: .upsert)
            Array(line.id.utf8).withUnsafeBytes { deduplicator.add(entry, id: $0, links: line.links) }
            while let piece = deduplicator.nextRunPiece() { runs += piece }
        }
        let refusals = Refusals()
        let stored = runs
        var reader = deduplicator.reader { offset, count in
            if refusals.left > 0 {
                refusals.left -= 1
                throw Refused()
            }
            return Array(stored[Int(offset)..<Int(offset) + count])
        }
        try await reader.open(TableRank(rawValue: 0))
        var found: [Found] = []
        var failures = 0
        while true {
            if found.count == 100 { refusals.left = 2 }
            do {
                guard try await reader.next() else { break }
                found.append(Found(reader.group))
            } catch is Refused { failures += 1 }
        }
        #expect(failures == 2)
        #expect(found == Found.naive(lines, table: 0))
    }

    @Test func `a run that is cut short is damaged, never an endless wait`() async throws {
        var deduplicator = Deduplicator(runLength: 4)
        for index in 0..<4 {
            let hash = SpooledStream.hash("r\(index)")
            deduplicator.add(
                DeduplicationEntry(
                    idHigh: hash.high, idLow: hash.low, sequence: UInt64(index), line: 0, rank: TableRank(rawValue: 0),
                    feed: 0,
                    operation: .upsert))
        }
        var runs: [UInt8] = []
        while let piece = deduplicator.nextRunPiece() { runs += piece }
        var nothing = deduplicator.reader { _, _ in [] }
        await #expect(throws: DamagedRun.self) { try await nothing.open(TableRank(rawValue: 0)) }
        // Details that reach behind the end of the run.
        let garbage = [UInt8](repeating: 0xff, count: runs.count)
        var reader = deduplicator.reader { offset, count in Array(garbage[Int(offset)..<Int(offset) + count]) }
        await #expect(throws: DamagedRun.self) { try await reader.open(TableRank(rawValue: 0)) }
    }
}
