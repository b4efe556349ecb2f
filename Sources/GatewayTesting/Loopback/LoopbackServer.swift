// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A server on the loopback interface, each of whose bytes a test decides.
package struct LoopbackServer: Sendable {
    /// The port that the system has chosen.
    package let port: Int
    private let connections = NIOLockedValueBox(0)

    /// The number of connections that have been made so far.
    package var connectionCount: Int { connections.withLockedValue { $0 } }
    /// The server's URL, without a path.
    package var url: String { "http://127.0.0.1:\(port)" }

    private init(port: Int) { self.port = port }

    /// Runs `handler` for every connection while `body` runs; a connection ends with its handler.
    package static func run<Result>(
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

/// Puts the bytes of a connection into a stream.
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
