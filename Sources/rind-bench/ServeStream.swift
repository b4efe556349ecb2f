// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import NIOCore
import NIOHTTP1
import NIOPosix

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The backend of a measurement, in a process of its own: sends the stream as fast as the client reads it.
///
/// A session that has acknowledged the stream gets a few changes instead of all of it, others with every request.
struct ServeStream: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve-stream", abstract: "Serves the streams that are measured with.", shouldDisplay: false)

    @Option(help: "How many rows the stream has.")
    var rows = 300_000

    @Option(help: "How ids are spelled.")
    var ids = AssetStream.IDs.uuid

    @Flag(help: "Whether rows have a parent and come by two request types.")
    var linked = false

    @Option(help: "How many rows have changed for those who have acknowledged the stream.")
    var changes = 10

    @Option(help: "The port on 127.0.0.1.")
    var port: Int

    func run() async throws {
        // The measuring process ignores these signals, and children inherit that.
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        let backend = StreamingBackend(AssetStream(rows: rows, ids: ids, isLinked: linked), changes: changes)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(
                .writeBufferWaterMark, value: .init(low: StreamHandler.pieceSize, high: 4 * StreamHandler.pieceSize)
            )
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(StreamHandler(backend))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        try await channel.closeFuture.get()
    }
}

extension AssetStream.IDs: ExpressibleByArgument {}

/// Answers the calls that a gateway makes during a pull.
private final class StreamHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The number of bytes written at once.
    static let pieceSize = 256 * 1024

    private let backend: StreamingBackend
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private var rest = ByteBuffer()
    private var isStreaming = false
    private var isSending = false

    init(_ backend: StreamingBackend) { self.backend = backend }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body.clear()
        case .body(var part): body.writeBuffer(&part)
        case .end: answer(context)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if isStreaming { send(context) }
        context.fireChannelWritabilityChanged()
    }

    private func answer(_ context: ChannelHandlerContext) {
        guard let head else { return }
        switch (head.method, head.uri) {
        case (.POST, "/sync/stream") where backend.isKnown(body):
            writeWhole(AssetStream.nothing, context)
        case (.POST, "/sync/stream"):
            write(.ok, ["content-type": "application/jsonlines+json"], on: context)
            rest = backend.stream()
            isStreaming = true
            send(context)
        case (.GET, "/users/me"): writeWhole(#"{"id":"bench"}"#, context)
        case (.GET, "/sync/ack"): writeWhole(backend.list(), context)
        case (.POST, "/sync/ack"):
            writeEmpty(backend.acknowledge(body) ? .noContent : .badRequest, context)
        case (.DELETE, "/sync/ack"):
            backend.forget(body)
            writeEmpty(.noContent, context)
        default: writeEmpty(.notFound, context)
        }
    }

    private func write(_ status: HTTPResponseStatus, _ headers: HTTPHeaders, on context: ChannelHandlerContext) {
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))),
            promise: nil)
    }

    private func writeWhole(_ text: String, _ context: ChannelHandlerContext) {
        write(.ok, ["content-type": "application/json", "content-length": "\(text.utf8.count)"], on: context)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    private func writeEmpty(_ status: HTTPResponseStatus, _ context: ChannelHandlerContext) {
        write(status, status == .noContent ? [:] : ["content-length": "0"], on: context)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    private func send(_ context: ChannelHandlerContext) {
        // Flushing may change the writability and call this again; the loop in progress notices the change itself.
        guard !isSending else { return }
        isSending = true
        defer { isSending = false }
        while context.channel.isWritable, let piece = rest.readSlice(length: min(rest.readableBytes, Self.pieceSize)) {
            guard piece.readableBytes > 0 else {
                isStreaming = false
                return context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(piece))), promise: nil)
        }
    }
}
