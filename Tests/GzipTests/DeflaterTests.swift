// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gzip
import NIOCore
import Testing

@Suite struct DeflaterTests {
    @Test(arguments: [0, 1, 100, 70_000, 3_000_000])
    func `what is compressed comes back as it was`(count: Int) throws {
        // Random bytes do not compress, so the output is larger than any internal buffer.
        let content = (0..<count).map { _ in UInt8.random(in: 0...255) }
        let compressed = try Deflater.compress(ByteBuffer(bytes: content))
        #expect(try inflate(Array(compressed.readableBytesView), .gzip, cut: 1000) == content)
    }

    @Test func `a flush makes everything so far readable`() throws {
        let deflater = try Deflater()
        let inflater = try Inflater(limit: 1000)
        for line in ["first\n", "second\n", "third\n"] {
            var output = ByteBuffer()
            try deflater.write(ByteBuffer(string: line), into: &output)
            try deflater.flush(into: &output)
            #expect(try inflater.next(from: &output) == ByteBuffer(string: line))
            #expect(try inflater.next(from: &output) == nil)
        }
        var end = ByteBuffer()
        try deflater.finish(into: &end)
        #expect(try inflater.next(from: &end) == nil)
        try inflater.finish()
    }

    @Test func `a second flush adds nothing`() throws {
        let deflater = try Deflater()
        var output = ByteBuffer()
        try deflater.write(ByteBuffer(string: "line"), into: &output)
        try deflater.flush(into: &output)
        let length = output.readableBytes
        try deflater.flush(into: &output)
        #expect(output.readableBytes == length)
    }

    @Test func `a higher level makes it smaller`() throws {
        let lines = (0..<5000).map { #"{"type":"AlbumV1","data":{"id":"\#($0 &* 7919)"},"ack":"AlbumV1|\#($0)"}"# }
        let content = ByteBuffer(string: lines.joined(separator: "\n"))
        let fast = try Deflater.compress(content, level: 1)
        let small = try Deflater.compress(content, level: 9)
        #expect(small.readableBytes < fast.readableBytes)
        #expect(fast.readableBytes * 4 < content.readableBytes)
    }
}

@Suite struct InflatingSequenceTests {
    @Test func `a compressed sequence is read as its content, by pulling`() async throws {
        let content = ByteBuffer(repeating: 7, count: 500_000)
        let counter = Counter()
        let sequence = InflatingSequence(
            CountedPieces(of: try Deflater.compress(content), size: 100, counter: counter), limit: .max)
        var iterator = sequence.makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(counter.count == 1)
        var total = first.readableBytes
        while let chunk = try await iterator.next() {
            #expect(chunk.readableBytes > 0)
            total += chunk.readableBytes
        }
        #expect(total == 500_000)
        #expect(try await iterator.next() == nil)
    }

    @Test func `a base that ends too early is an error`() async throws {
        var compressed = try Deflater.compress(ByteBuffer(string: "some content"))
        compressed.moveWriterIndex(to: compressed.writerIndex - 1)
        let sequence = InflatingSequence(CountedPieces(of: compressed, size: 5, counter: Counter()), limit: 100)
        await #expect(throws: GzipError.truncated) { for try await _ in sequence {} }
    }
}

/// How many pieces have been asked for.
final class Counter {
    var count = 0
}

/// A buffer in pieces of a size.
struct CountedPieces: AsyncSequence {
    typealias Element = ByteBuffer
    let of: ByteBuffer
    let size: Int
    let counter: Counter

    func makeAsyncIterator() -> Iterator { Iterator(rest: of, size: size, counter: counter) }

    struct Iterator: AsyncIteratorProtocol {
        var rest: ByteBuffer
        let size: Int
        let counter: Counter

        mutating func next() async -> ByteBuffer? {
            counter.count += 1
            return rest.readableBytes == 0 ? nil : rest.readSlice(length: Swift.min(size, rest.readableBytes))
        }
    }
}
