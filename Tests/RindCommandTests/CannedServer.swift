// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Answers every request on a loopback port with the same bytes and closes.
struct CannedServer {
    let port: Int
    private let channel: any Channel
    private let seen: NIOLockedValueBox<String>

    /// The heads of the requests that came.
    var requests: String { seen.withLockedValue(\.self) }

    /// Lets the body use a server that answers with a status, fields and a body.
    static func with<R>(
        status: String = "200 OK", fields: [String] = [], body text: String, _ body: (CannedServer) async throws -> R
    ) async throws -> R {
        let lines = ["HTTP/1.1 \(status)", "Content-Length: \(text.utf8.count)", "Connection: close"] + fields
        let answer = lines.joined(separator: "\r\n") + "\r\n\r\n" + text
        let seen = NIOLockedValueBox("")
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.pipeline.addHandler(Responder(answer: answer, seen: seen))
            }.bind(host: "127.0.0.1", port: 0).get()
        let server = CannedServer(port: channel.localAddress?.port ?? 0, channel: channel, seen: seen)
        do {
            let result = try await body(server)
            try await channel.close()
            return result
        } catch {
            try? await channel.close()
            throw error
        }
    }

    private final class Responder: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        private let answer: String
        private let seen: NIOLockedValueBox<String>

        init(answer: String, seen: NIOLockedValueBox<String>) {
            self.answer = answer
            self.seen = seen
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let text = String(buffer: unwrapInboundIn(data))
            let isWhole = seen.withLockedValue { seen in
                seen += text
                return seen.hasSuffix("\r\n\r\n")
            }
            guard isWhole else { return }
            let channel = context.channel
            channel.writeAndFlush(ByteBuffer(string: answer)).whenComplete { _ in channel.close(promise: nil) }
        }
    }
}
