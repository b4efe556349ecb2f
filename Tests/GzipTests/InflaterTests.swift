// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gzip
import NIOCore
import Testing

@Suite struct InflaterTests {
    /// What other programs make of `hello`.
    static let gzipHello: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
    ]
    static let zlibHello: [UInt8] = [120, 156, 203, 72, 205, 201, 201, 7, 0, 6, 44, 2, 21]
    static let rawHello: [UInt8] = [203, 72, 205, 201, 201, 7, 0]

    struct Sample: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var format: Inflater.Format
        var bytes: [UInt8]
    }

    @Test(arguments: [
        Sample(testDescription: "gzip", format: .gzip, bytes: gzipHello),
        Sample(testDescription: "gzip found out", format: .automatic, bytes: gzipHello),
        Sample(testDescription: "zlib found out", format: .automatic, bytes: zlibHello),
        Sample(testDescription: "deflate as zlib", format: .deflate, bytes: zlibHello),
        Sample(testDescription: "deflate without wrapper", format: .deflate, bytes: rawHello),
    ])
    func `every format is read, however it is cut`(sample: Sample) throws {
        for size in 1...sample.bytes.count {
            #expect(try inflate(sample.bytes, sample.format, cut: size) == Array("hello".utf8), "cut every \(size)")
        }
    }

    @Test(arguments: [1, 7, 4096])
    func `members one after the other are one content, with padding between them`(size: Int) throws {
        let bytes = Self.gzipHello + Self.gzipHello + [0, 0, 0] + Self.gzipHello + [0]
        #expect(try inflate(bytes, .gzip, cut: size) == Array("hellohellohello".utf8))
    }

    @Test(arguments: [1, 4096])
    func `anything else behind a member is an error`(size: Int) {
        #expect(throws: GzipError.corrupt) { try inflate(Self.gzipHello + Array("garbage".utf8), .gzip, cut: size) }
        #expect(throws: GzipError.corrupt) { try inflate(Self.zlibHello + [1], .deflate, cut: size) }
    }

    @Test(arguments: 1..<gzipHello.count)
    func `a stream that ends too early is never a clean end`(length: Int) {
        #expect(throws: GzipError.truncated) { try inflate(Array(Self.gzipHello[..<length]), .gzip, cut: 4) }
    }

    @Test(arguments: [
        Array("not compressed at all".utf8),
        [31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 203, 72, 205, 201, 201, 7, 0, 135, 166, 16, 54, 5, 0, 0, 0],
        [31, 139, 9, 0, 0, 0, 0, 0, 2, 255, 203, 72, 205],
        [31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 255, 255, 255, 255, 255, 255],
    ])
    func `bytes that are not what they say are refused, and stay refused`(bytes: [UInt8]) throws {
        let inflater = try Inflater(.gzip, limit: 1000)
        var input = ByteBuffer(bytes: bytes)
        #expect(throws: GzipError.corrupt) {
            while try inflater.next(from: &input) != nil {}
            try inflater.finish()
        }
        input = ByteBuffer(bytes: Self.gzipHello)
        #expect(throws: GzipError.corrupt) { try inflater.next(from: &input) }
        #expect(throws: GzipError.corrupt) { try inflater.finish() }
    }

    @Test func `no bytes at all are an empty content`() throws {
        #expect(try inflate([], .gzip, cut: 1) == [])
    }

    @Test func `a bomb is refused at the limit, chunk by chunk`() throws {
        let bomb = try Deflater.compress(ByteBuffer(repeating: 0, count: 64 << 20))
        #expect(bomb.readableBytes < 100_000)
        let inflater = try Inflater(.gzip, limit: 1 << 20, chunkSize: 16 << 10)
        var input = bomb
        var largest = 0
        #expect(throws: GzipError.outputTooLarge(limit: 1 << 20)) {
            while let chunk = try inflater.next(from: &input) { largest = max(largest, chunk.readableBytes) }
        }
        #expect(largest == 16 << 10)
        // It stopped long before the end of what came in.
        #expect(input.readableBytes > bomb.readableBytes * 9 / 10)
    }

    @Test(arguments: [0, 1, 4, 5, 6])
    func `the limit itself is allowed, one byte more is not`(limit: Int) throws {
        if limit >= 5 {
            #expect(try inflate(Self.gzipHello, .gzip, cut: 100, limit: limit) == Array("hello".utf8))
        } else {
            #expect(throws: GzipError.outputTooLarge(limit: limit)) {
                try inflate(Self.gzipHello, .gzip, cut: 100, limit: limit)
            }
        }
    }

    @Test func `the limit counts all members together`() {
        #expect(throws: GzipError.outputTooLarge(limit: 9)) {
            try inflate(Self.gzipHello + Self.gzipHello, .gzip, cut: 3, limit: 9)
        }
    }
}

/// All of the content of `bytes`, handed over in pieces of `cut`.
func inflate(
    _ bytes: [UInt8], _ format: Inflater.Format, cut: Int, limit: Int = .max
) throws -> [UInt8] {
    let inflater = try Inflater(format, limit: limit)
    var result: [UInt8] = []
    var rest = ByteBuffer(bytes: bytes)
    while var piece = rest.readSlice(length: min(cut, rest.readableBytes)), piece.readableBytes > 0 {
        while let chunk = try inflater.next(from: &piece) { result += Array(chunk.readableBytesView) }
        #expect(piece.readableBytes == 0)
    }
    try inflater.finish()
    return result
}
