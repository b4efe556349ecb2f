// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A proxy in front of a server, which counts round trips and can lose connections at a chosen moment.
package final class ServerProxy: Sendable {
    /// Names the moment at which a connection is lost.
    package enum Loss: Sendable {
        /// The statements with a COMMIT do not reach the server.
        case before
        /// They do, but the answer to those that have changed something does not come back.
        case after
    }

    /// The counts and the plan.
    package struct State {
        /// The number of messages Sync.
        package var syncs = 0
        /// The number of statements that were run.
        package var statements = 0
        /// The bytes that clients have sent.
        package var sentBytes = 0
        /// The bytes that they got back.
        package var receivedBytes = 0
        /// The number of connections that were opened.
        package var connections = 0
        /// The moment at which connections are lost; nil for never.
        package var loss: Loss?
    }

    /// The counts and the plan.
    package let state = NIOLockedValueBox(State())
    /// The port of the proxy.
    package let port: Int
    private let channel: any Channel

    private init(channel: any Channel, port: Int) {
        self.channel = channel
        self.port = port
    }

    /// The number of times that the server was asked to answer all that came before.
    package var roundTrips: Int { state.withLockedValue { $0.syncs } }

    /// Runs a proxy in front of a port around the body.
    package static func with<R>(to target: Int, _ body: (ServerProxy) async throws -> R) async throws -> R {
        let shared = NIOLockedValueBox<ServerProxy?>(nil)
        let group = MultiThreadedEventLoopGroup.singleton
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { client in
                guard let proxy = shared.withLockedValue({ $0 }) else { return client.close() }
                proxy.state.withLockedValue { $0.connections += 1 }
                return ClientBootstrap(group: client.eventLoop).connect(host: "127.0.0.1", port: target)
                    .flatMapThrowing { server in
                        try server.pipeline.syncOperations.addHandler(AnswerHandler(client: client, proxy: proxy))
                        try client.pipeline.syncOperations.addHandler(RequestHandler(server: server, proxy: proxy))
                    }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = channel.localAddress?.port else { throw Command.Refused(what: "bind") }
        let proxy = ServerProxy(channel: channel, port: port)
        shared.withLockedValue { $0 = proxy }
        do {
            let result = try await body(proxy)
            try await channel.close()
            return result
        } catch {
            try await channel.close()
            throw error
        }
    }
}

/// Passes on what the client sends, message by message, and counts the messages Sync.
private final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let server: any Channel
    private let proxy: ServerProxy
    private var buffer = ByteBuffer()
    private var hasBegun = false

    init(server: any Channel, proxy: ServerProxy) {
        self.server = server
        self.proxy = proxy
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        buffer.writeBuffer(&bytes)
        var passed = ByteBuffer()
        while var message = nextMessage() {
            if hasBegun { count(message) }
            passed.writeBuffer(&message)
        }
        hasBegun = true
        let isCommit = passed.readableBytesView.firstRange(of: "COMMIT".utf8) != nil
        if isCommit, case .before = proxy.state.withLockedValue({ $0.loss }) {
            context.close(promise: nil)
            return
        }
        server.writeAndFlush(passed, promise: nil)
    }

    private func count(_ message: ByteBuffer) {
        let kind = message.getInteger(at: message.readerIndex, as: UInt8.self)
        proxy.state.withLockedValue { state in
            state.sentBytes += message.readableBytes
            if kind == UInt8(ascii: "S") { state.syncs += 1 }
            // Execute
            if kind == UInt8(ascii: "E") { state.statements += 1 }
        }
    }

    /// Returns the next whole message; the first one of a connection has no letter before its length.
    private func nextMessage() -> ByteBuffer? {
        let offset = hasBegun ? 1 : 0
        guard let length = buffer.getInteger(at: buffer.readerIndex + offset, as: UInt32.self) else { return nil }
        return buffer.readSlice(length: Int(length) + offset)
    }

    func channelInactive(context: ChannelHandlerContext) { server.close(promise: nil) }
}

/// Passes on what the server answers.
private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let client: any Channel
    private let proxy: ServerProxy

    init(client: any Channel, proxy: ServerProxy) {
        self.client = client
        self.proxy = proxy
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        proxy.state.withLockedValue { $0.receivedBytes += bytes.readableBytes }
        // The tags of the commands; together they mean that a transaction has changed something.
        let view = bytes.readableBytesView
        let isCommitted =
            view.firstRange(of: "COMMIT".utf8) != nil
            && ["INSERT", "UPDATE", "DELETE"].contains { view.firstRange(of: $0.utf8) != nil }
        if isCommitted, case .after = proxy.state.withLockedValue({ $0.loss }) {
            client.close(promise: nil)
            return
        }
        client.writeAndFlush(bytes, promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { client.close(promise: nil) }
}
