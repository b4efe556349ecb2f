// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore

/// Reads an answer from the bytes of its connection: the head, and the body by its framing.
///
/// Only for requests that ask for another protocol: libcurl reads every other answer. It is as strict about the framing
/// of a body as about heads, since the connection serves no other exchange afterwards.
struct AnswerReader {
    /// The parts of an answer that some bytes have brought.
    struct Brought {
        var head: Exchange.Head?
        var body = ByteBuffer()
    }

    private enum Stage {
        case head
        case length(Int)
        case chunkSize
        case chunk(Int)
        case chunkEnd
        case trailers
        /// The end of the connection ends the body.
        case untilClose
        /// The body is complete, or there is none.
        case complete
    }

    /// The most bytes of the lines between chunks, and of the trailers.
    private static let framingLimit = 16 * 1024

    private let limit: Int
    private var parser: ResponseHeadParser
    private var stage = Stage.head
    private var pending = ByteBuffer()
    private var framingBytes = 0
    private var isFirstLine = true

    /// Creates a reader; the limit is that of the head, in bytes.
    init(limit: Int, protocols: [String]) {
        self.limit = limit
        parser = ResponseHeadParser(limit: limit, protocols: protocols)
    }

    /// True if no byte of the answer is missing, as far as its own framing says.
    var isComplete: Bool { if case .complete = stage { true } else { false } }

    /// Takes bytes of the connection.
    mutating func read(_ bytes: ByteBuffer) throws(CurlError) -> Brought {
        var brought = Brought()
        if case .untilClose = stage {
            brought.body = bytes
            return brought
        }
        pending.writeImmutableBuffer(bytes)
        while try step(&brought) {}
        pending.discardReadBytes()
        return brought
    }

    /// Takes the end of the connection.
    func end() throws(CurlError) {
        switch stage {
        case .untilClose, .complete: return
        case .head: throw .closed("the connection ended inside the head")
        case .length, .chunkSize, .chunk, .chunkEnd, .trailers: throw .closed("the connection ended inside the body")
        }
    }

    /// Reads the next part of the pending bytes; returns false if it needs more of them.
    private mutating func step(_ brought: inout Brought) throws(CurlError) -> Bool {
        switch stage {
        case .head:
            guard let line = try line(upTo: limit, orElse: .headTooLarge(limit: limit)) else { return false }
            try readHead(line, &brought)
        case .length(let left):
            let taken = take(upTo: left, &brought)
            guard taken > 0 else { return false }
            stage = taken == left ? .complete : .length(left - taken)
        case .chunkSize:
            guard let line = try framingLine() else { return false }
            let size = try Self.chunkSize(line)
            framingBytes = 0
            stage = size == 0 ? .trailers : .chunk(size)
        case .chunk(let left):
            let taken = take(upTo: left, &brought)
            guard taken > 0 else { return false }
            stage = taken == left ? .chunkEnd : .chunk(left - taken)
        case .chunkEnd:
            guard let line = try framingLine() else { return false }
            guard line.elementsEqual([13, 10]) else { throw Self.badChunk }
            stage = .chunkSize
        case .trailers:
            guard let line = try framingLine() else { return false }
            if line.elementsEqual([13, 10]) { stage = .complete }
        case .untilClose: return take(upTo: .max, &brought) > 0
        case .complete: return false
        }
        return true
    }

    private mutating func readHead(_ line: ByteBufferView, _ brought: inout Brought) throws(CurlError) {
        // libcurl refuses these itself.
        let text = line.last(where: { $0 != 10 }) == 13 ? line.dropLast(2) : line.dropLast()
        guard !text.contains(where: { $0 == 0 || $0 == 13 }) else {
            throw .protocolViolation("a header line has a zero byte or a line break")
        }
        if isFirstLine, !text.starts(with: Array("HTTP/1.".utf8)) {
            throw .protocolViolation("the answer does not begin with a status line")
        }
        switch parser.add(line) {
        case .more: isFirstLine = text.isEmpty
        case .failure(let error): throw error
        case .head(let head):
            brought.head = head
            stage = Self.body(of: head)
        }
    }

    /// Returns the stage that follows a head.
    private static func body(of head: Exchange.Head) -> Stage {
        switch head.status {
        case .switchingProtocols: return .untilClose
        case .noContent, .notModified: return .complete
        default: break
        }
        if head.fields[.transferEncoding] != nil { return .chunkSize }
        guard let length = head.fields[.contentLength].flatMap({ Int($0) }) else { return .untilClose }
        return length == 0 ? .complete : .length(length)
    }

    private static let badChunk = CurlError.protocolViolation("a chunk of the body is malformed")

    /// Reads the size of a chunk; extensions behind it are ignored.
    private static func chunkSize(_ line: ByteBufferView) throws(CurlError) -> Int {
        var text = line.dropLast(2)[...]
        text = text.prefix { $0 != UInt8(ascii: ";") }
        while let last = text.last, last == 32 || last == 9 { text = text.dropLast() }
        guard line.suffix(2).elementsEqual([13, 10]), (1...15).contains(text.count),
            text.allSatisfy({
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0 | 32
            }),
            let size = Int(String(decoding: text, as: UTF8.self), radix: 16)
        else { throw badChunk }
        return size
    }

    private mutating func framingLine() throws(CurlError) -> ByteBufferView? {
        let left = Self.framingLimit - framingBytes
        guard let line = try line(upTo: left, orElse: Self.badChunk) else { return nil }
        framingBytes += line.count
        return line
    }

    /// Takes a whole line with its line break; nil if more bytes are needed.
    private mutating func line(upTo limit: Int, orElse error: CurlError) throws(CurlError) -> ByteBufferView? {
        let view = pending.readableBytesView
        guard let end = view.firstIndex(of: 10) else {
            guard view.count < limit else { throw error }
            return nil
        }
        let count = end - view.startIndex + 1
        guard count <= limit else { throw error }
        pending.moveReaderIndex(forwardBy: count)
        return view.prefix(count)
    }

    /// Moves pending bytes to the body; returns their number.
    private mutating func take(upTo most: Int, _ brought: inout Brought) -> Int {
        guard var piece = pending.readSlice(length: min(most, pending.readableBytes)) else { return 0 }
        return brought.body.writeBuffer(&piece)
    }
}
