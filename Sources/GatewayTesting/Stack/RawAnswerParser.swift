// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Reads HTTP/1.1 answers piece by piece (RFC 9112), strictly: what a client might guess at is an error here.
struct RawAnswerParser {
    private enum Stage {
        case head, chunkSize, chunkEnd, trailers, untilClose, complete
        case length(Int)
        case chunk(Int)
    }

    private var stage = Stage.head
    private let isHead: Bool
    /// The answer so far.
    private(set) var answer = RawAnswer()

    /// Creates a parser of one answer to a request of this method.
    init(method: String) { isHead = method == "HEAD" }

    /// Takes what it needs of the buffer.
    ///
    /// - Returns: Whether the answer is complete.
    mutating func take(_ buffer: inout ByteBuffer) throws -> Bool {
        while true {
            switch stage {
            case .complete:
                answer.isComplete = true
                return true
            case .untilClose:
                answer.body += buffer.readBytes(length: buffer.readableBytes) ?? []
                return false
            case .length(let left), .chunk(let left):
                let piece = buffer.readBytes(length: min(left, buffer.readableBytes)) ?? []
                answer.body += piece
                guard piece.count == left else {
                    if case .chunk = stage {
                        stage = .chunk(left - piece.count)
                    } else {
                        stage = .length(left - piece.count)
                    }
                    return false
                }
                if case .chunk = stage { stage = .chunkEnd } else { stage = .complete }
            case .head, .chunkSize, .chunkEnd, .trailers:
                guard let line = try Self.line(&buffer) else { return false }
                try take(line: line)
            }
        }
    }

    /// Takes the end of the connection.
    mutating func end() {
        if case .untilClose = stage { answer.isComplete = true }
    }

    private mutating func take(line: String) throws {
        switch stage {
        case .head: try takeHead(line)
        case .chunkSize:
            guard let size = Int(line.prefix { $0 != ";" }, radix: 16), size >= 0 else {
                throw RawHTTPError.malformed("chunk size '\(line)'")
            }
            stage = size == 0 ? .trailers : .chunk(size)
        case .chunkEnd:
            guard line.isEmpty else { throw RawHTTPError.malformed("chunk without its end") }
            stage = .chunkSize
        case .trailers: if line.isEmpty { stage = .complete }
        case .untilClose, .complete, .length, .chunk: break
        }
    }

    private mutating func takeHead(_ line: String) throws {
        if answer.status == 0 {
            let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count >= 2, parts[0].hasPrefix("HTTP/1."), let status = Int(parts[1]) else {
                throw RawHTTPError.malformed("status line '\(line)'")
            }
            answer.status = status
        } else if !line.isEmpty {
            guard let colon = line.firstIndex(of: ":") else { throw RawHTTPError.malformed("field '\(line)'") }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            answer.fields.append(RawAnswer.Field(name: String(line[..<colon]), value: String(value)))
        } else if (100..<200).contains(answer.status) {
            // An interim answer; the real one follows.
            answer = RawAnswer()
        } else {
            stage = try framing()
        }
    }

    private func framing() throws -> Stage {
        if isHead || answer.status == 204 || answer.status == 304 { return .complete }
        switch (answer["Transfer-Encoding"], answer["Content-Length"]) {
        case (nil, nil): return .untilClose
        case ("chunked", nil): return .chunkSize
        case (nil, let text?):
            guard let length = Int(text), length >= 0 else { throw RawHTTPError.malformed("length '\(text)'") }
            return length == 0 ? .complete : .length(length)
        default: throw RawHTTPError.malformed("two framings")
        }
    }

    private static func line(_ buffer: inout ByteBuffer) throws -> String? {
        let view = buffer.readableBytesView
        guard let end = view.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = buffer.readBytes(length: end - view.startIndex + 1) ?? []
        guard line.dropLast().last == UInt8(ascii: "\r") else { throw RawHTTPError.malformed("a line without CR") }
        return String(decoding: line.dropLast(2), as: UTF8.self)
    }
}
