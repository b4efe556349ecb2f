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
/// Whoever has received the stream, by the checkpoints of the request or of the session, gets a few changes instead of
/// all of it, others with every request. The caller of a session is its bearer token. Pushed operations are counted.
struct ServeStream: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve-stream", abstract: "Serves the streams that are measured with.", shouldDisplay: false)

    @Option(help: "How many rows the stream has.")
    var rows = 300_000

    @Option(help: "How ids are spelled.")
    var ids = AssetStream.IDs.uuid

    @Flag(help: "Whether rows have a parent and come by two request types.")
    var linked = false

    @Option(help: "How many rows have changed for those who have received the stream.")
    var changes = 10

    @Option(help: "How many milliseconds pass before a stream begins.")
    var latency = 0

    @Option(help: "The port on 127.0.0.1.")
    var port: Int

    func run() async throws {
        // The measuring process ignores these signals, and children inherit that.
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        let backend = StreamingBackend(AssetStream(rows: rows, ids: ids, isLinked: linked), changes: changes)
        let latency = TimeAmount.milliseconds(Int64(latency))
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
                    try channel.pipeline.syncOperations.addHandler(StreamHandler(backend, latency: latency))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        try await channel.closeFuture.get()
    }
}

extension AssetStream.IDs: ExpressibleByArgument {}
