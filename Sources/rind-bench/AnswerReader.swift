// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// One answer, as far as a measurement has to know it.
struct LoadAnswer: Sendable {
    /// The kinds of answers, whose times are kept apart.
    enum Kind: String, Codable, Sendable {
        /// Any 2xx.
        case done
        /// 503 with a time after which to come again.
        case putOff
        /// Any other answer.
        case refused
    }

    var status: Int
    var body: ByteBuffer
    /// True if the answer says when to come again.
    var hasRetryAfter = false

    var kind: Kind {
        if (200..<300).contains(status) { return .done }
        return status == 503 && hasRetryAfter ? .putOff : .refused
    }

    /// The beginning of the body, to be shown.
    var excerpt: String {
        String(decoding: body.readableBytesView.prefix(300), as: UTF8.self)
    }

    /// The number of records in the body.
    var records: Int {
        var counter = MarkCounter(AssetStream.recordMark)
        body.withUnsafeReadableBytes { counter.feed($0) }
        return counter.count
    }

    /// Returns the number that a member at the end of the JSON body has; nil if there is none.
    func number(_ name: String) -> Int? {
        let mark = Array("\"\(name)\":".utf8)
        return body.withUnsafeReadableBytes { bytes in
            let end = UnsafeRawBufferPointer(rebasing: bytes.suffix(64))
            guard let index = end.firstOffset(of: mark) else { return nil }
            let digits = end[(index + mark.count)...].prefix {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
            return UnsafeRawBufferPointer(rebasing: digits).decimal
        }
    }

    /// Returns true if bytes occur among the last ones of the body.
    func ends(with mark: [UInt8]) -> Bool {
        body.withUnsafeReadableBytes {
            UnsafeRawBufferPointer(rebasing: $0.suffix(128)).firstOffset(of: mark) != nil
        }
    }
}

/// Finds the end of an answer with a length or in chunks (RFC 9112, section 6).
enum AnswerReader {
    /// The fields of an answer that say how its body is sent.
    private struct Head {
        var status = 0
        var length: Int?
        var isChunked = false
        var hasRetryAfter = false
    }

    /// Returns a whole answer; nil while it is not whole, status 0 if it cannot be read.
    static func read(_ bytes: ByteBuffer) -> LoadAnswer? {
        let found = bytes.withUnsafeReadableBytes { bytes in
            bytes.firstOffset(of: mark).map { end in
                (head: head(UnsafeRawBufferPointer(rebasing: bytes[..<end])), end: end + mark.count)
            }
        }
        guard let (head, end) = found else { return nil }
        var answer = LoadAnswer(status: head.status, body: ByteBuffer(), hasRetryAfter: head.hasRetryAfter)
        let count = bytes.readableBytes - end
        guard let length = head.length else {
            guard head.isChunked else {
                if head.status != 204 { answer.status = 0 }
                return answer
            }
            guard bytes.readableBytesView.suffix(lastChunk.count).elementsEqual(lastChunk) else { return nil }
            guard let body = joined(bytes.getSlice(at: bytes.readerIndex + end, length: count)) else {
                answer.status = 0
                return answer
            }
            answer.body = body
            return answer
        }
        guard count >= length else { return nil }
        answer.body = bytes.getSlice(at: bytes.readerIndex + end, length: length) ?? ByteBuffer()
        return answer
    }

    private static let mark = Array("\r\n\r\n".utf8)
    private static let lastChunk = Array("0\r\n\r\n".utf8)

    private static func head(_ bytes: UnsafeRawBufferPointer) -> Head {
        var head = Head()
        // HTTP/1.1 200
        if bytes.count >= 12 { head.status = UnsafeRawBufferPointer(rebasing: bytes[9..<12]).decimal ?? 0 }
        for line in bytes.split(separator: UInt8(ascii: "\n")).dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
            let value = UnsafeRawBufferPointer(
                rebasing: line[(colon + 1)...].prefix { $0 != UInt8(ascii: "\r") }.drop { $0 == UInt8(ascii: " ") })
            if name.equalsIgnoringCase("content-length") {
                head.length = value.decimal
            } else if name.equalsIgnoringCase("transfer-encoding") {
                head.isChunked = value.equalsIgnoringCase("chunked")
            } else if name.equalsIgnoringCase("retry-after") {
                head.hasRetryAfter = true
            }
        }
        return head
    }

    /// Returns the bytes of all chunks; nil if their sizes cannot be read.
    private static func joined(_ chunks: ByteBuffer?) -> ByteBuffer? {
        guard var rest = chunks else { return nil }
        var whole = ByteBuffer()
        while let end = rest.readableBytesView.firstIndex(of: UInt8(ascii: "\r")) {
            let digits = rest.readString(length: end - rest.readerIndex) ?? ""
            guard let size = Int(digits.prefix { $0 != ";" }, radix: 16) else { return nil }
            rest.moveReaderIndex(forwardBy: 2)
            guard size > 0 else { return whole }
            guard var chunk = rest.readSlice(length: size), rest.readSlice(length: 2) != nil else { return nil }
            whole.writeBuffer(&chunk)
        }
        return nil
    }
}
