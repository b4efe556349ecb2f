// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import SyncModel
import Testing

/// The lines that go out, whatever the pieces in which they are read.
@Suite struct LinePickerTests {
    /// One segment, chunk by chunk as a gateway spools it.
    struct Segment {
        var elements: [String]
        var wanted: LineSet
        var index: SegmentIndex
    }

    /// Elements with all that could be taken for a border: commas, escaped newlines.
    private static let elements = [#"{"a":"x\ny"}"#, #""id""#, #"{",":",,,\n,"}"#, #"{"id":"b","v":[1,2,3]}"#, "7"]

    private static func segment(_ spool: inout [UInt8], _ random: inout SeededGenerator) -> Segment {
        var writer = SegmentWriter()
        var elements: [String] = []
        let density = Int.random(in: 0...4, using: &random)
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            let element = Self.elements.randomElement(using: &random) ?? ""
            elements.append(element)
            let number = Array(element.utf8).withUnsafeBytes { writer.append($0) }
            #expect(Int(number) == elements.count - 1)
            guard Int.random(in: 0...5, using: &random) == 0 else { continue }
            spool += writer.takeChunk(storedAt: UInt64(spool.count))
            // Another segment's chunk comes between.
            if Bool.random(using: &random) { spool += Array(",\n\"other\"".utf8) }
        }
        if writer.hasRest { spool += writer.takeChunk(storedAt: UInt64(spool.count)) }
        var wanted = LineSet(lines: elements.count)
        for line in elements.indices where Int.random(in: 1...4, using: &random) <= density { wanted.insert(line) }
        wanted.seal()
        return Segment(elements: elements, wanted: wanted, index: writer.finished())
    }

    private func pick(_ segments: [Segment], _ spool: [UInt8], _ random: inout SeededGenerator) -> String {
        var picker = LinePicker()
        var picked: [UInt8] = []
        let longest = [1, 2, 3, 9, 1_000].randomElement(using: &random) ?? 1
        for segment in segments {
            for stretch in segment.index.stretches(of: segment.wanted) {
                picker.begin(stretch, wanted: segment.wanted)
                var bytes = spool[Int(stretch.offset)..<Int(stretch.offset + stretch.length)]
                while !bytes.isEmpty {
                    let count = Int.random(in: 1...longest, using: &random)
                    picked += picker.take(Array(bytes.prefix(count)))
                    bytes = bytes.dropFirst(count)
                }
            }
        }
        return String(decoding: picked, as: UTF8.self)
    }

    @Test(arguments: 0..<400)
    func `any choice of lines in any pieces is what joining the chosen elements gives`(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var spool: [UInt8] = []
        let segments = (0...Int.random(in: 0...2, using: &random)).map { _ in Self.segment(&spool, &random) }
        let expected = segments.flatMap { segment in
            segment.elements.indices.filter(segment.wanted.contains).map { segment.elements[$0] }
        }
        #expect(pick(segments, spool, &random) == expected.joined(separator: ",\n"))
    }

    @Test func `chunks of which nothing goes out are not read, and others not looked at where all of it does`() {
        var spool: [UInt8] = []
        var writer = SegmentWriter()
        for chunk in 0..<4 {
            for line in 0..<10 {
                _ = Array("\"\(chunk)\(line)\"".utf8).withUnsafeBytes { writer.append($0) }
            }
            spool += writer.takeChunk(storedAt: UInt64(spool.count))
        }
        var wanted = LineSet(lines: 40)
        for line in Array(0..<10) + [25] { wanted.insert(line) }
        let length = UInt64(spool.count / 4)
        #expect(
            writer.finished().stretches(of: wanted) == [
                .init(offset: 0, length: length, firstLine: 0, isWhole: true),
                .init(offset: 2 * length, length: length, firstLine: 20, isWhole: false),
            ])
        #expect(writer.finished().stretches(of: LineSet(lines: 40)).isEmpty)
        #expect(writer.finished().stretches(of: LineSet(allOf: 40)).count == 1)
    }

    @Test func `chunks have at most 64 KiB and no more room, however much comes before they are handed over`() {
        var writer = SegmentWriter()
        var random = SeededGenerator(seed: 1)
        var expected: [UInt8] = []
        for number in 0..<2_000 {
            let size = number == 1_000 ? 200_000 : Int.random(in: 1...900, using: &random)
            let element = [UInt8](repeating: UInt8(ascii: "7"), count: size)
            expected += Array(",\n".utf8) + element
            #expect(element.withUnsafeBytes { writer.append($0) } == number)
        }
        var chunks: [[UInt8]] = []
        while writer.isFull { chunks.append(writer.takeChunk(storedAt: 0)) }
        #expect(chunks.count > 10 && writer.hasRest)
        chunks.append(writer.takeChunk(storedAt: 0))
        #expect(Array(chunks.joined()) == expected && !writer.hasRest)
        #expect(chunks.filter { $0.count > SegmentWriter.chunkSize }.map(\.count) == [200_002])
        // The allocator rounds up.
        #expect(chunks.allSatisfy { $0.capacity <= max($0.count, SegmentWriter.chunkSize) + 4_096 })
        #expect(writer.finished().lines == 2_000)
    }

    @Test func `an id is written as a JSON string`() {
        var writer = SegmentWriter()
        for id in ["a", "b-c"] { Array(id.utf8).withUnsafeBytes { writer.append(id: $0) } }
        #expect(String(decoding: writer.takeChunk(storedAt: 0), as: UTF8.self) == ",\n\"a\",\n\"b-c\"")
        #expect(writer.finished().lines == 2)
    }
}
