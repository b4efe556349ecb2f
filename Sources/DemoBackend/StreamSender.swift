// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import NIOCore
import ServiceLifecycle

/// A sender that writes one stream to its client, as fast as the client reads and with the faults that were injected.
struct StreamSender: Sendable {
    let producer: StreamProducer
    let first: StreamLines?
    let channel: any Channel
    let fault: DemoFault.Stream?
    let compresses: Bool
    let sent: SentLines

    /// Writes everything and ends the body.
    ///
    /// An error of a query can only occur between lines now, and a status can no longer be sent: the body is never
    /// ended and the connection stays open until the client goes.
    @concurrent func send(to writer: inout any ResponseBodyWriter) async throws {
        var producer = producer
        var faulter = fault.map(StreamFaulter.init)
        let gzip = compresses ? GzipEncoder() : nil
        var next = first
        while let lines = next {
            sent.add(lines)
            let outputs = faulter?.outputs(for: lines) ?? [.bytes(lines.bytes)]
            for output in outputs {
                switch output {
                case .bytes(let bytes):
                    let encoded = try gzip?.encode(bytes, isEnd: false) ?? bytes
                    if !encoded.isEmpty { try await writer.write(ByteBuffer(bytes: encoded)) }
                case .wait(let milliseconds): try await Task.sleep(for: .milliseconds(milliseconds))
                case .cut:
                    try await channel.close().get()
                    throw CancellationError()
                case .stall: try await hang()
                case .end: return try await finish(&writer, gzip)
                }
            }
            do {
                next = try await producer.next()
            } catch {
                try await hang()
            }
        }
        try await finish(&writer, gzip)
    }

    @concurrent private func finish(_ writer: inout any ResponseBodyWriter, _ gzip: GzipEncoder?) async throws {
        if let rest = try gzip?.encode([], isEnd: true), !rest.isEmpty {
            try await writer.write(ByteBuffer(bytes: rest))
        }
        try await writer.finish(nil)
    }

    private func hang() async throws -> Never {
        let channel = channel
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await channel.closeFuture.get()
        } onCancelOrGracefulShutdown: {
            channel.close(promise: nil)
        }
        throw CancellationError()
    }
}
