// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// One connection, from the server's side.
package final class Peer {
    /// A request as it came.
    package struct Request {
        /// The request line and the fields, with the empty line.
        package var head: String
        /// The body, without its chunks' frames.
        package var body: ByteBuffer
        /// The request line.
        package var line: String { String(head.prefix { $0 != "\r\n" }) }
    }

    /// The number of the connection, from 1.
    package let number: Int
    private let channel: any Channel
    private var pieces: AsyncStream<ByteBuffer>.Iterator
    private var received = ByteBuffer()

    init(number: Int, channel: any Channel, pieces: AsyncStream<ByteBuffer>.Iterator) {
        self.number = number
        self.channel = channel
        self.pieces = pieces
    }

    /// Returns the next bytes; nil at the end of the connection.
    package func read() async throws -> ByteBuffer? {
        if received.readableBytes > 0 {
            defer { received.clear() }
            return received
        }
        return await next()
    }

    /// Returns everything up to the empty line; nil at the end of the connection.
    package func readHead() async throws -> String? {
        while true {
            let text = String(buffer: received)
            if let end = text.utf8.firstRange(of: "\r\n\r\n".utf8) {
                received.moveReaderIndex(forwardBy: text.utf8.distance(from: text.startIndex, to: end.upperBound))
                return String(text[..<end.upperBound])
            }
            guard var more = await next() else { return nil }
            received.writeBuffer(&more)
        }
    }

    /// Returns a request with all of its body, chunked or not; nil at the end of the connection.
    package func readRequest() async throws -> Request? {
        guard let head = try await readHead() else { return nil }
        let fields = head.lowercased()
        var body = ByteBuffer()
        if let range = fields.firstRange(of: "content-length: ") {
            let length = Int(fields[range.upperBound...].prefix { $0.isNumber }) ?? 0
            while received.readableBytes < length {
                guard var more = await next() else { return nil }
                received.writeBuffer(&more)
            }
            body = received.readSlice(length: length) ?? ByteBuffer()
        } else if fields.contains("transfer-encoding: chunked") {
            while true {
                guard let line = try await readLine(), let size = Int(line, radix: 16) else { return nil }
                while received.readableBytes < size + 2 {
                    guard var more = await next() else { return nil }
                    received.writeBuffer(&more)
                }
                body.writeImmutableBuffer(received.readSlice(length: size) ?? ByteBuffer())
                received.moveReaderIndex(forwardBy: 2)
                if size == 0 { break }
            }
        }
        return Request(head: head, body: body)
    }

    /// Waits until the client has closed the connection, or reset it.
    package func waitForEnd() async {
        while await next() != nil {}
    }

    /// Ends the connection as a crash does: with a reset, and without what has not been sent.
    ///
    /// Nothing comes between the last text and the reset.
    package func reset(after text: String = "") async throws {
        let options = channel as? any SocketOptionProvider
        try await options?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        try await channel.eventLoop.flatSubmit { [channel] in
            channel.writeAndFlush(ByteBuffer(string: text)).and(channel.close()).map { _ in }
        }.get()
    }

    /// Sends bytes, and returns when the system has taken them.
    package func write(_ bytes: ByteBuffer) async throws { try await channel.writeAndFlush(bytes).get() }

    /// Sends a text, and returns when the system has taken it.
    package func write(_ text: String) async throws { try await write(ByteBuffer(string: text)) }

    /// Sends a whole answer that keeps the connection.
    package func answer(_ text: String = "", status: String = "200 OK") async throws {
        try await write("HTTP/1.1 \(status)\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
    }

    /// Asks for one piece, and waits for it.
    private func next() async -> ByteBuffer? {
        channel.read()
        return await pieces.next(isolation: #isolation)
    }

    private func readLine() async throws -> String? {
        while true {
            let text = String(buffer: received)
            if let end = text.utf8.firstRange(of: "\r\n".utf8) {
                received.moveReaderIndex(forwardBy: text.utf8.distance(from: text.startIndex, to: end.upperBound))
                return String(text[..<end.lowerBound])
            }
            guard var more = await next() else { return nil }
            received.writeBuffer(&more)
        }
    }
}
