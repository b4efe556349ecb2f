// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A backend that sends or takes as many bytes as there are, as fast as the other side, and counts them.
final class BulkServer: Sendable {
    /// How many bytes a download has.
    let size: Int
    /// Waited for before an upload's body is read.
    let latch = Latch()
    private let sent = NIOLockedValueBox(0)
    private let taken = NIOLockedValueBox(0)

    init(size: Int) { self.size = size }

    /// How many bytes of downloads were handed to the network.
    var sentBytes: Int { sent.withLockedValue { $0 } }
    /// How many bytes of uploads came.
    var takenBytes: Int { taken.withLockedValue { $0 } }

    /// Serves while the body runs, and passes it its URL.
    func run<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let port = server.channel.localAddress?.port ?? 0
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.executeThenClose { clients in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await client in clients {
                            group.addTask { try? await self.serve(client) }
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            return try await body("http://127.0.0.1:\(port)")
        }
    }

    private func serve(_ client: NIOAsyncChannel<ByteBuffer, ByteBuffer>) async throws {
        try await client.executeThenClose { inbound, outbound in
            var pieces = inbound.makeAsyncIterator()
            var head: [UInt8] = []
            while head.firstRange(of: Array("\r\n\r\n".utf8)) == nil {
                guard let piece = try await pieces.next() else { return }
                head += piece.readableBytesView
            }
            let begun = head.firstRange(of: Array("\r\n\r\n".utf8)).map { head.count - $0.upperBound } ?? 0
            if head.starts(with: Array("GET".utf8)) {
                try await outbound.write(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"))
                let block = ByteBuffer(repeating: UInt8(ascii: "x"), count: 64 << 10)
                for _ in 0..<(size / block.readableBytes) {
                    // Unlike a write to `outbound`, this returns when the network has the block, also while the event
                    // loop is busy.
                    try await client.channel.writeAndFlush(block)
                    sent.withLockedValue { $0 += block.readableBytes }
                }
            } else {
                await latch.pass()
                taken.withLockedValue { $0 += begun }
                while takenBytes < size, let piece = try await pieces.next() {
                    taken.withLockedValue { $0 += piece.readableBytes }
                }
                try await outbound.write(ByteBuffer(string: "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"))
            }
            _ = try await pieces.next()
        }
    }
}
