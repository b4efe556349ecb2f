// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import Foundation
import SyncModel
import Testing

/// One id once in each table, in its final state.
@Suite struct DeduplicatorTests {
    typealias Line = SpooledStream.Line

    @Test func `the newest row of a record goes out, once`() async throws {
        let stream = try await SpooledStream([
            Line(id: "a", operation: .upsert, content: "1"), Line(id: "b", operation: .upsert, content: "1"),
            Line(id: "a", operation: .upsert, content: "2"), Line(id: "a", operation: .upsert, content: "3"),
        ])
        #expect(stream.array(0) == #"[{"id":"b","v":"1"},"# + "\n" + #"{"id":"a","v":"3"}]"#)
        #expect(stream.diffed.superseded == 2)
        #expect(stream.count(0) == 2 && stream.count(0, .deleted) == 0)
    }

    @Test func `the same id in two tables is two records`() async throws {
        let stream = try await SpooledStream([
            Line(table: 0, id: "a", operation: .upsert), Line(table: 1, id: "a", operation: .upsert),
            Line(table: 1, id: "a", operation: .delete),
        ])
        #expect(stream.array(0) == #"[{"id":"a","v":""}]"#)
        #expect(stream.array(1) == "[]" && stream.array(1, .deleted) == #"["a"]"#)
    }

    @Test func `a record that was deleted and made again goes out as a row`() async throws {
        let stream = try await SpooledStream([
            Line(id: "a", operation: .delete), Line(id: "a", operation: .upsert, content: "2"),
        ])
        #expect(stream.array(0) == #"[{"id":"a","v":"2"}]"#)
        #expect(stream.array(0, .deleted) == "[]")
    }

    @Test func `a record that came and went goes out as one deletion`() async throws {
        let stream = try await SpooledStream([
            Line(id: "a", operation: .delete), Line(id: "a", operation: .upsert), Line(id: "a", operation: .delete),
        ])
        #expect(stream.array(0) == "[]" && stream.array(0, .deleted) == #"["a"]"#)
        #expect(stream.count(0, .deleted) == 1)
    }

    @Test(arguments: [
        ("moved from the first feed to the second", "U0 D0 U1", true),
        ("moved, and the delete line comes last", "U1 D0", true),
        ("moved to the feed that is streamed first", "U0 D1", true),
        ("in both, then out of the second", "U0 U1 D1", true),
        ("in both, then out of both", "U0 U1 D1 D0", false),
        ("in both, then taken away altogether", "U0 U1 A0", false),
        ("taken away altogether, then made again by another feed", "U0 A0 U1", true),
        ("taken away altogether, then out of a feed that it was not in", "U0 A0 U1 D0", true),
        ("only deleted", "D0", false),
    ])
    func `a delete line takes away its own feed only`(
        _ schedule: (what: String, lines: String, stays: Bool)
    ) async throws {
        var lines: [Line] = []
        for (index, word) in schedule.lines.split(separator: " ").enumerated() {
            let operation: DeduplicationEntry.Operation =
                switch word.first {
                case "U": .upsert
                case "D": .delete
                default: .deleteAll
                }
            let feed = try #require(word.dropFirst().first?.wholeNumberValue)
            lines.append(Line(id: "s1", operation: operation, feed: UInt8(feed), content: "\(index)"))
        }
        let stream = try await SpooledStream(lines)
        let newest = lines.lastIndex { $0.operation == .upsert } ?? -1
        #expect(stream.array(0) == (schedule.stays ? #"[{"id":"s1","v":"\#(newest)"}]"# : "[]"))
        #expect(stream.array(0, .deleted) == (schedule.stays ? "[]" : #"["s1"]"#))
    }

    @Test func `nothing streamed is nothing sent`() async throws {
        let stream = try await SpooledStream([])
        #expect(stream.array(0) == "[]" && stream.diffed.superseded == 0)
    }

    /// Random streams over few ids, against an oracle that keeps a dictionary and never heard of runs.
    @Test(arguments: 0..<60)
    func `spilled runs give what memory gives, and both what a dictionary gives`(_ seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let lines: [Line] = (0..<Int.random(in: 1...400, using: &random)).map { index in
            Line(
                table: Int.random(in: 0...2, using: &random), id: "r\(Int.random(in: 0...40, using: &random))",
                operation: [.upsert, .upsert, .upsert, .delete, .deleteAll].randomElement(using: &random) ?? .upsert,
                feed: UInt8.random(in: 0...2, using: &random), content: "\(index)")
        }
        let whole = try await SpooledStream(lines)
        let spilled = try await SpooledStream(lines, runLength: Int.random(in: 1...50, using: &random))
        #expect(whole.storedRuns == 0 && (spilled.storedRuns > 0 || lines.count <= 50))
        #expect(whole.diffed == spilled.diffed)
        for table in 0...2 {
            #expect(whole.array(table) == spilled.array(table))
            let (rows, deletions) = Self.naive(lines.filter { $0.table == table })
            #expect(try Self.decode([Row].self, whole.array(table)).sorted() == rows)
            #expect(try Self.decode([String].self, whole.array(table, .deleted)).sorted() == deletions)
            #expect(whole.count(table) == rows.count)
            #expect(whole.count(table, .deleted) == deletions.count)
        }
    }

    struct Row: Decodable, Comparable {
        var id: String
        var v: String
        static func < (a: Self, b: Self) -> Bool { a.id < b.id }
    }

    static func naive(_ lines: [Line]) -> (rows: [Row], deletions: [String]) {
        var feeds: [String: Set<UInt8>] = [:]
        var content: [String: String] = [:]
        for line in lines {
            switch line.operation {
            case .upsert:
                feeds[line.id, default: []].insert(line.feed)
                content[line.id] = line.content
            case .delete: feeds[line.id, default: []].remove(line.feed)
            case .deleteAll: feeds[line.id] = []
            }
        }
        let rows = feeds.filter { !$0.value.isEmpty }.keys.sorted().map { Row(id: $0, v: content[$0] ?? "") }
        return (rows, feeds.filter(\.value.isEmpty).keys.sorted())
    }

    static func decode<T: Decodable>(_ type: T.Type, _ text: String) throws -> T {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
