// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import Testing

@Suite struct LineSplitterTests {
    /// What came out of the chunks, written down.
    static func lines(
        _ chunks: [[UInt8]], maximumLength: Int = 100, headLength: Int = 6, tailLength: Int = 4
    ) -> (events: [String], left: Int) {
        var splitter = LineSplitter(maximumLength: maximumLength, headLength: headLength, tailLength: tailLength)
        var events: [String] = []
        for chunk in chunks {
            chunk.withUnsafeBytes { bytes in
                splitter.feed(bytes) { event in
                    switch event {
                    case .line(let line): events.append(String(decoding: line, as: UTF8.self))
                    case .tooLong(let head, let tail, let length):
                        let ends = [head, tail].map { String(decoding: $0, as: UTF8.self) }
                        events.append("<\(ends[0])|\(ends[1])|\(length)>")
                    }
                }
            }
        }
        return (events, splitter.finish())
    }

    @Test func `a stream gives the same lines wherever it is cut`() {
        let text =
            "first\n\nsecond line\r\n\r\n  \t\n{}\n: ping\r\n{ }\r\n:\nthird\n{}x\nabcdefghijklmnopqrstuvwxyz\r\n"
            + "12345678901234\r\n123456789012345\nx\n"
        let stream = Array(text.utf8)
        let expected = [
            "first", "second line", "third", "{}x", "<abcdef|wxyz|26>", "12345678901234", "<123456|2345|15>", "x",
        ]
        for first in 0...stream.count {
            for second in first...stream.count {
                let chunks = [Array(stream[..<first]), Array(stream[first..<second]), Array(stream[second...])]
                let result = Self.lines(chunks, maximumLength: 14)
                #expect(result.events == expected, "cut at \(first) and \(second)")
                #expect(result.left == 0)
            }
        }
        #expect(Self.lines(stream.map { [$0] }, maximumLength: 14).events == expected)
    }

    @Test func `random streams in random chunks give their lines`() {
        for seed in 0..<200 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var stream: [UInt8] = []
            var expected: [String] = []
            for _ in 0..<Int.random(in: 0..<12, using: &generator) {
                let line = (0..<Int.random(in: 0..<90, using: &generator)).map { _ in
                    UInt8.random(in: UInt8(ascii: "a")...UInt8(ascii: "z"), using: &generator)
                }
                stream += line + Array(Bool.random(using: &generator) ? "\r\n".utf8 : "\n".utf8)
                guard !line.isEmpty else { continue }
                func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
                expected.append(
                    line.count > 40
                        ? "<\(text(line.prefix(6)))|\(text(line.suffix(4)))|\(line.count)>" : text(line[...]))
            }
            var chunks: [[UInt8]] = []
            var rest = stream[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...50, using: &generator)
                chunks.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(Self.lines(chunks, maximumLength: 40).events == expected, "seed \(seed)")
        }
    }

    @Test func `a partial last line is told and never given out`() {
        #expect(Self.lines([Array("a\nbcd".utf8)]) == (["a"], 3))
        #expect(Self.lines([Array("a\n".utf8)]) == (["a"], 0))
        #expect(Self.lines([Array("a\n \r".utf8)]) == (["a"], 0))
        #expect(Self.lines([]) == ([], 0))
        let long = Self.lines([Array("abcdefgh".utf8), Array("ijkl".utf8)], maximumLength: 5)
        #expect(long == ([], 12))
    }

    @Test func `a line of the longest length passes and one byte more does not`() {
        for end in ["\n", "\r\n"] {
            let fits = String(repeating: "x", count: 10)
            #expect(Self.lines([Array((fits + end).utf8)], maximumLength: 10).events == [fits])
            #expect(Self.lines([Array((fits + "y" + end).utf8)], maximumLength: 10).events == ["<xxxxxx|xxxy|11>"])
        }
    }

    @Test func `a line that is far too long is not kept`() {
        var splitter = LineSplitter(maximumLength: 1000, headLength: 8, tailLength: 8)
        let chunk = Array(repeating: UInt8(ascii: "x"), count: 100_000)
        var lengths: [Int] = []
        for _ in 0..<50 {
            chunk.withUnsafeBytes { splitter.feed($0) { _ in lengths.append(-1) } }
        }
        Array("end\nnext\n".utf8).withUnsafeBytes { bytes in
            splitter.feed(bytes) { event in
                switch event {
                case .line(let line): lengths.append(line.count)
                case .tooLong(let head, let tail, let length):
                    lengths.append(length)
                    #expect(head.count == 8 && tail.elementsEqual(Array("xxxxxend".utf8)))
                }
            }
        }
        #expect(lengths == [5_000_003, 4])
    }

    @Test func `what the caller throws comes through`() {
        struct Stop: Error, Equatable {}
        var splitter = LineSplitter(maximumLength: 10)
        var count = 0
        #expect(throws: Stop()) {
            try Array("a\nb\nc\n".utf8).withUnsafeBytes { bytes in
                try splitter.feed(bytes) { _ throws(Stop) in
                    count += 1
                    if count == 2 { throw Stop() }
                }
            }
        }
        #expect(count == 2)
    }
}
