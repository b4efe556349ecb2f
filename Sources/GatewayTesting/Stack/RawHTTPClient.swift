// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import NIOCore
import NIOPosix

/// The error of an exchange.
package enum RawHTTPError: Error, Hashable, Sendable {
    /// The peer does not speak HTTP/1.1.
    case malformed(String)
}

/// Speaks HTTP/1.1 byte by byte, so that requests can be as odd as tests want them.
package struct RawHTTPClient: Sendable {
    /// The host to connect to.
    package var host = "127.0.0.1"
    /// The port.
    package var port: Int
    /// The longest wait for the next byte; then the client closes the connection, which looks cut.
    package var patience = TimeAmount.seconds(30)

    /// Creates a client of a server on this machine.
    package init(port: Int) { self.port = port }

    /// Sends one request on a connection of its own and reads the answer, as far as it comes.
    ///
    /// - Parameters:
    ///   - method: Any text.
    ///   - target: Sent exactly like this.
    ///   - headers: Sent exactly like this and in this order; missing `Host` and `Content-Length` are added,
    ///     the latter only if there is a body.
    ///   - body: The bytes.
    /// - Returns: The answer, also one that was cut.
    /// - Throws: ``RawHTTPError``, and errors of connecting.
    package func send(
        _ method: String, _ target: String, headers: [(String, String)] = [], body: [UInt8] = []
    ) async throws -> RawAnswer {
        let bytes = request(method, target, headers: headers, body: body)
        return try await withConnection { connection in
            await connection.write(bytes)
            return try await connection.answer(to: method)
        }
    }

    /// Returns the bytes of a request, framed as ``send(_:_:headers:body:)`` does.
    package func request(
        _ method: String, _ target: String, headers: [(String, String)] = [], body: [UInt8] = []
    ) -> [UInt8] {
        let names = Set(headers.map { $0.0.lowercased() })
        var head = "\(method) \(target) HTTP/1.1\r\n"
        if !names.contains("host") { head += "Host: \(host):\(port)\r\n" }
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if !body.isEmpty, !names.contains("content-length"), !names.contains("transfer-encoding") {
            head += "Content-Length: \(body.count)\r\n"
        }
        return Array((head + "\r\n").utf8) + body
    }

    /// Connects, passes the connection to the body and closes it.
    package func withConnection<Value: Sendable>(
        _ body: (RawHTTPConnection) async throws -> Value
    ) async throws -> Value {
        let patience = patience
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(IdleStateHandler(readTimeout: patience))
                    try channel.pipeline.syncOperations.addHandler(ClosingWhenIdle())
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await body(RawHTTPConnection(inbound, outbound))
        }
    }
}

/// One connection; it belongs to the task that opened it.
package final class RawHTTPConnection {
    private var iterator: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var buffer = ByteBuffer()
    /// True if the peer has closed or reset the connection.
    package private(set) var isEnded = false

    init(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>) {
        iterator = inbound.makeAsyncIterator()
        self.outbound = outbound
    }

    /// Sends bytes; if the peer takes no more, nothing happens, and its last answer can still be read.
    package func write(_ bytes: [UInt8]) async {
        do {
            try await outbound.write(ByteBuffer(bytes: bytes))
        } catch {
            // The peer has gone; reading tells how.
        }
    }

    /// Ends the sending side of the connection.
    package func finishWriting() { outbound.finish() }

    /// Reads the next answer, as far as it comes.
    ///
    /// - Throws: ``RawHTTPError`` where what comes is no HTTP.
    package func answer(to method: String = "GET") async throws -> RawAnswer {
        var parser = RawAnswerParser(method: method)
        while try !parser.take(&buffer) {
            guard await readMore() else {
                parser.end()
                break
            }
        }
        return parser.answer
    }

    /// Waits for the next bytes; empty at the end.
    package func bytes() async -> [UInt8] {
        if buffer.readableBytes == 0 { _ = await readMore() }
        return buffer.readBytes(length: buffer.readableBytes) ?? []
    }

    private func readMore() async -> Bool {
        do {
            if var piece = try await iterator.next(isolation: #isolation) {
                buffer.discardReadBytes()
                buffer.writeBuffer(&piece)
                return true
            }
        } catch {
            // A reset is an end too.
        }
        isEnded = true
        return false
    }
}

private final class ClosingWhenIdle: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }
}
