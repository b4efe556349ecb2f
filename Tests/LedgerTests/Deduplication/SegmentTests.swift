// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import Testing

/// What is left of a segment between its holes.
@Suite struct SegmentTests {
    typealias Line = SpooledStream.Line

    @Test func `every choice of superseded rows leaves a valid array`() async throws {
        // Rows 0 to 5; those in the mask come again at the end, so their first places become holes.
        for mask in 0..<64 {
            var lines = (0..<6).map { Line(id: "r\($0)", operation: .upsert, content: "old") }
            let again = (0..<6).filter { mask >> $0 & 1 == 1 }
            lines += again.map { Line(id: "r\($0)", operation: .upsert, content: "new") }
            let stream = try await SpooledStream(lines)
            let rows = try DeduplicatorTests.decode([DeduplicatorTests.Row].self, stream.array(0))
            let expected =
                (0..<6).filter { !again.contains($0) }.map { DeduplicatorTests.Row(id: "r\($0)", v: "old") }
                + again.map { DeduplicatorTests.Row(id: "r\($0)", v: "new") }
            #expect(rows == expected)
        }
    }

    @Test func `a segment whose rows are all superseded by deletions is an empty array`() async throws {
        let lines = (0..<5).flatMap {
            [Line(id: "r\($0)", operation: .upsert), Line(id: "r\($0)", operation: .delete)]
        }
        let stream = try await SpooledStream(lines)
        #expect(stream.array(0) == "[]")
        let deleted = try DeduplicatorTests.decode([String].self, stream.array(0, .deleted))
        #expect(deleted == (0..<5).map { "r\($0)" })
    }

    @Test func `chunks of two segments lie between each other and holes reach over none`() async throws {
        // Two tables of rows so large that every segment is handed over in many chunks.
        let filler = String(repeating: "x", count: 9_000)
        let lines = (0..<120).flatMap { index in
            (0...1).map { Line(table: $0, id: "r\(index % 50)", operation: .upsert, content: "\(index)" + filler) }
        }
        let stream = try await SpooledStream(lines, runLength: 70)
        for table in 0...1 {
            #expect(stream.stretches(table).count > 3)
            let rows = try DeduplicatorTests.decode([DeduplicatorTests.Row].self, stream.array(table))
            #expect(rows.map(\.v) == (70..<120).map { "\($0)" + filler })
        }
    }

    @Test func `neighbouring extents are one read`() async throws {
        let stream = try await SpooledStream((0..<200).map { Line(id: "r\($0)", operation: .upsert) })
        #expect(stream.stretches(0).count == 1)
    }
}
