// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Testing

/// A server that answers the first message of a client, and then all others, with these bytes, whatever they are.
enum FakeServer {
    /// A correct answer to the first message: no password is needed, all is ready.
    static let welcome =
        message("R", [0, 0, 0, 0]) + message("S", Array("client_encoding\0UTF8\0".utf8)) + message("Z", Array("I".utf8))

    /// Frames a message of the protocol.
    static func message(_ type: Unicode.Scalar, _ body: [UInt8]) -> [UInt8] {
        [UInt8(ascii: type)] + withUnsafeBytes(of: UInt32(body.count + 4).bigEndian) { Array($0) } + body
    }

    /// Runs it around the body.
    static func with<R>(
        first: [UInt8], then later: [UInt8]?, _ body: (Int) async throws -> R
    ) async throws -> R {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { client in
                client.eventLoop.makeCompletedFuture {
                    try client.pipeline.syncOperations.addHandler(AnswerHandler(first: first, later: later))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        do {
            let result = try await body(port)
            try await channel.close()
            return result
        } catch {
            try await channel.close()
            throw error
        }
    }
}

private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let later: [UInt8]?
    private var next: [UInt8]?

    init(first: [UInt8], later: [UInt8]?) {
        self.later = later
        next = first
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let bytes = next else { return context.close(promise: nil) }
        next = later
        context.channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
        // Nothing follows, so that nothing has to be waited for.
        if later == nil { context.close(promise: nil) }
    }
}
