// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix

/// A backend that reads requests properly and answers with whatever bytes a test says.
enum ScriptedBackend {
    /// One connection of the gateway.
    final class Peer {
        private var inbound: NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
        private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

        fileprivate init(
            _ inbound: NIOAsyncChannelInboundStream<HTTPServerRequestPart>,
            _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
        ) {
            self.inbound = inbound.makeAsyncIterator()
            self.outbound = outbound
        }

        func head() async throws -> HTTPRequestHead? {
            while let part = try await inbound.next(isolation: #isolation) {
                if case .head(let head) = part { return head }
            }
            return nil
        }

        /// The next piece of the body; nil at its end.
        func piece() async throws -> ByteBuffer? {
            guard case .body(let piece) = try await inbound.next(isolation: #isolation) else { return nil }
            return piece
        }

        func body() async throws -> String {
            var body = ""
            while let piece = try await piece() { body += String(buffer: piece) }
            return body
        }

        func send(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

        func send(_ bytes: ByteBuffer) async throws { try await outbound.write(bytes) }

        /// Waits until the gateway closes the connection.
        func waitForEnd() async {
            while let part = try? await inbound.next(isolation: #isolation) { _ = part }
        }
    }

    /// Listens around `body`, which gets the port; `script` serves each connection.
    static func run(
        _ script: @escaping @Sendable (Peer) async throws -> Void, _ body: (Int) async throws -> Void
    ) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
                    return try NIOAsyncChannel<HTTPServerRequestPart, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await connection in connections {
                            group.addTask {
                                try? await connection.executeThenClose { inbound, outbound in
                                    try await script(Peer(inbound, outbound))
                                }
                            }
                        }
                    }
                }
            }
            try await body(server.channel.localAddress?.port ?? 0)
            group.cancelAll()
        }
    }
}
