// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Tells the handler of a connection to speak HTTP no more: from now on it carries the bytes of a tunnel.
///
/// The event succeeds when the bytes that the client has sent behind its request have been passed on.
struct TunnelStart: Sendable {}

/// Stands where the codec of HTTP was: bytes of the connection are pieces of a body, both ways.
///
/// So everything above it, from the waiting for slow clients to the end of an answer, is as with any body.
final class TunnelCodec: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = IOData

    /// The most bytes that are read at a time: up to ten such pieces wait for a slow backend.
    private static let pieceSize = 16 * 1024

    /// Takes the place of the codec in the pipeline of a connection.
    ///
    /// - Returns: The end of the change.
    static func replaceCodec(before handler: some ChannelHandler, in context: ChannelHandlerContext)
        -> EventLoopFuture<Void>
    {
        let pipeline = context.pipeline.syncOperations
        do {
            let encoder = try pipeline.handler(type: HTTPResponseEncoder.self)
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try context.channel.syncOptions?.setOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: pieceSize))
            try pipeline.addHandler(TunnelCodec(), position: .before(handler))
            return pipeline.removeHandler(encoder).assumeIsolated().flatMap {
                context.pipeline.syncOperations.removeHandler(decoder)
            }.nonisolated()
        } catch {
            return context.eventLoop.makeFailedFuture(error)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(wrapInboundOut(.body(unwrapInboundIn(data))))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .body(let bytes): context.write(wrapOutboundOut(bytes), promise: promise)
        case .head, .end: promise?.succeed()
        }
    }
}
