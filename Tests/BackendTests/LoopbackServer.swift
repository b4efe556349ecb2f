// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A server on the loopback interface whose every byte the test decides.
struct LoopbackServer: Sendable {
    let port: Int
    private let connections = NIOLockedValueBox(0)

    /// How many connections have been made so far.
    var connectionCount: Int { connections.withLockedValue { $0 } }
    var url: String { "http://127.0.0.1:\(port)" }

    private init(port: Int) { self.port = port }

    /// Runs `handler` for every connection while `body` runs; a connection ends with its handler.
    static func run<Result>(
        _ handler: @escaping @Sendable (Peer) async throws -> Void,
        _ body: (LoopbackServer) async throws -> Result
    ) async throws -> Result {
        let (accepted, acceptor) = AsyncStream.makeStream(of: Connection.self)
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Small buffers, so that what a server could write says something about its reader.
            .childChannelOption(.socketOption(.so_sndbuf), value: 256 * 1024)
            // One read gives one piece, and is made when the test asks for it.
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Inbox(acceptor))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let server = LoopbackServer(port: listener.localAddress?.port ?? 0)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { connections in
                    for await connection in accepted {
                        let number = server.connections.withLockedValue { count in
                            count += 1
                            return count
                        }
                        connections.addTask { await connection.serve(number, handler) }
                    }
                    connections.cancelAll()
                }
            }
            defer {
                listener.close(promise: nil)
                acceptor.finish()
            }
            return try await body(server)
        }
    }
}

/// A connection that was accepted.
private struct Connection: Sendable {
    let channel: any Channel
    let pieces: AsyncStream<ByteBuffer>

    func serve(_ number: Int, _ handler: @Sendable (Peer) async throws -> Void) async {
        await withTaskCancellationHandler {
            let peer = Peer(number: number, channel: channel, pieces: pieces.makeAsyncIterator())
            // What goes wrong on a connection is for the client to notice.
            try? await handler(peer)
            // Everything written goes out before the end; a plain close would drop what is queued.
            try? await channel.close(mode: .output).get()
            await peer.waitForEnd()
            try? await channel.close().get()
        } onCancel: {
            channel.close(promise: nil)
        }
    }
}

/// Puts what comes on a connection into a stream.
private final class Inbox: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let acceptor: AsyncStream<Connection>.Continuation
    private let pieces: AsyncStream<ByteBuffer>
    private let stream: AsyncStream<ByteBuffer>.Continuation

    init(_ acceptor: AsyncStream<Connection>.Continuation) {
        self.acceptor = acceptor
        (pieces, stream) = AsyncStream.makeStream()
    }

    /// Hands the connection over; reads that are asked for earlier are lost.
    func channelActive(context: ChannelHandlerContext) {
        let connection = Connection(channel: context.channel, pieces: pieces)
        if case .terminated = acceptor.yield(connection) { context.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { stream.yield(unwrapInboundIn(data)) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { stream.finish() }
    }

    func channelInactive(context: ChannelHandlerContext) { stream.finish() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// One connection, from the server's side.
final class Peer {
    struct Request {
        var head: String
        var body: ByteBuffer
        var line: String { String(head.prefix { $0 != "\r\n" }) }
    }

    /// The first connection is 1.
    let number: Int
    private let channel: any Channel
    private var pieces: AsyncStream<ByteBuffer>.Iterator
    private var received = ByteBuffer()

    init(number: Int, channel: any Channel, pieces: AsyncStream<ByteBuffer>.Iterator) {
        self.number = number
        self.channel = channel
        self.pieces = pieces
    }

    /// The next bytes, nil at the end of the connection.
    func read() async throws -> ByteBuffer? {
        if received.readableBytes > 0 {
            defer { received.clear() }
            return received
        }
        return await next()
    }

    /// Everything up to the empty line; nil at the end of the connection.
    func readHead() async throws -> String? {
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

    /// A request with all of its body, chunked or not.
    func readRequest() async throws -> Request? {
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

    /// Returns when the client has closed the connection, or reset it.
    func waitForEnd() async {
        while await next() != nil {}
    }

    /// Returns when the system has taken the bytes.
    func write(_ bytes: ByteBuffer) async throws { try await channel.writeAndFlush(bytes).get() }
    func write(_ text: String) async throws { try await write(ByteBuffer(string: text)) }

    /// A whole answer that keeps the connection.
    func answer(_ text: String = "", status: String = "200 OK") async throws {
        try await write("HTTP/1.1 \(status)\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
    }

    /// Asks for one piece and waits for it.
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

/// Things that happened, in their order, to be waited for one by one.
struct Events<Element: Sendable>: Sendable {
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation

    init(of type: Element.Type = Element.self) { (stream, continuation) = AsyncStream.makeStream() }

    func add(_ element: Element) { continuation.yield(element) }

    /// The first one; nil only if the waiting task is cancelled.
    func next() async -> Element? { await stream.first { _ in true } }
}
