// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Answers the calls that a gateway makes during pulls and pushes.
final class StreamHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The number of bytes written at once.
    static let pieceSize = 256 * 1024

    private let backend: StreamingBackend
    private let latency: TimeAmount
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private var rest = ByteBuffer()
    private var isStreaming = false
    private var isSending = false

    /// Creates the handler of one connection; a stream begins after the latency.
    init(_ backend: StreamingBackend, latency: TimeAmount) {
        self.backend = backend
        self.latency = latency
    }

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
        let session = String(head.headers.first(name: "authorization")?.dropFirst("Bearer ".count) ?? "")
        switch (head.method, head.uri) {
        case (.POST, "/sync/stream"):
            let stream = backend.stream(for: session, body)
            guard latency > .zero else { return start(stream, context) }
            context.eventLoop.assumeIsolated().scheduleTask(in: latency) {
                if context.channel.isActive { self.start(stream, context) }
            }
        case (.POST, "/sync/push"): writeWhole(ByteBuffer(string: backend.push(body)), context)
        case (.GET, "/users/me"): writeWhole(ByteBuffer(string: #"{"id":"\#(session)"}"#), context)
        case (.GET, "/operations"): writeWhole(ByteBuffer(string: #"{"operations":\#(backend.operations)}"#), context)
        case (.GET, "/sync/ack"): writeWhole(ByteBuffer(string: backend.list(for: session)), context)
        case (.POST, "/sync/ack"):
            writeEmpty(backend.acknowledge(body, for: session) ? .noContent : .badRequest, context)
        case (.DELETE, "/sync/ack"):
            backend.forget(body, for: session)
            writeEmpty(.noContent, context)
        default: writeEmpty(.notFound, context)
        }
    }

    private func start(_ stream: ByteBuffer, _ context: ChannelHandlerContext) {
        let type = "application/jsonlines+json"
        guard stream.readableBytes > Self.pieceSize else { return writeWhole(stream, type: type, context) }
        write(.ok, ["content-type": type], on: context)
        rest = stream
        isStreaming = true
        send(context)
    }

    private func write(_ status: HTTPResponseStatus, _ headers: HTTPHeaders, on context: ChannelHandlerContext) {
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))),
            promise: nil)
    }

    private func writeWhole(_ body: ByteBuffer, type: String = "application/json", _ context: ChannelHandlerContext) {
        write(.ok, ["content-type": type, "content-length": "\(body.readableBytes)"], on: context)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
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
