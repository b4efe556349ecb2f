// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// What goes back to the gateway for a request.
struct RelayedAnswer: Sendable {
    /// What happens after the last byte.
    enum Ending: Sendable {
        case keep, close
        /// The connection stays open and nothing comes, until the gateway hangs up or asks for something else.
        case silence
    }

    var bytes: [UInt8]
    var ending = Ending.keep
}

/// Stands between the gateway and its backend, and does with each exchange what the test wants.
final class BackendRelay: Sendable {
    /// What becomes of a request.
    enum Course: Sendable {
        /// The backend answers; its answer goes on as this makes of it.
        case pass(@Sendable (RawAnswer) -> RelayedAnswer)
        /// The backend never hears of it: the connection is closed.
        case drop
        /// The relay answers with this, in pieces of some size.
        case answer(ByteBuffer)
    }

    private let backend: RawHTTPClient
    private let script: @Sendable (inout RelayedRequest) -> Course
    private let violations = NIOLockedValueBox<[String]>([])

    init(backend: RawHTTPClient, script: @escaping @Sendable (inout RelayedRequest) -> Course) {
        var backend = backend
        // A connection that ended while it was kept would be found out by the next request only; the gateway gives up
        // when several in a row have.
        backend.patience = .hours(24)
        self.backend = backend
        self.script = script
    }

    /// What the gateway has sent that no strict server would take; the first few.
    var ambiguousRequests: [String] { violations.withLockedValue { $0 } }

    /// Serves while the body runs, and passes it the URL.
    func run<Value: Sendable>(_ body: (String) async throws -> Value) async throws -> Value {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 1_024)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    Accepted(try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel))
                }
            }
        let port = server.channel.localAddress?.port ?? 0
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.executeThenClose { clients in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await client in clients {
                            // What goes wrong on a connection is for the gateway to notice.
                            group.addTask { try? await self.serve(client.take()) }
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            return try await body("http://127.0.0.1:\(port)")
        }
    }

    /// A connection; one that is accepted while the relay ends is served by nobody, and then closes itself, since a
    /// stream that is dropped open would end the process.
    private final class Accepted: Sendable {
        private let stream: NIOAsyncChannel<ByteBuffer, ByteBuffer>
        private let isServed = NIOLockedValueBox(false)

        init(_ stream: NIOAsyncChannel<ByteBuffer, ByteBuffer>) { self.stream = stream }

        func take() -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
            isServed.withLockedValue { $0 = true }
            return stream
        }

        deinit {
            guard !isServed.withLockedValue(\.self) else { return }
            _ = stream.channel.eventLoop.makeFutureWithTask { [stream] in
                try await stream.executeThenClose { _, _ in }
            }
        }
    }

    private func serve(_ client: NIOAsyncChannel<ByteBuffer, ByteBuffer>) async throws {
        try await client.executeThenClose { inbound, outbound in
            try await backend.withConnection { connection in
                var pieces = inbound.makeAsyncIterator()
                var buffer = ByteBuffer()
                while let request = try await next(&pieces, &buffer) {
                    switch try await answer(request, outbound, through: connection) {
                    case .keep: continue
                    case .close: return
                    case .silence:
                        // Some damaged answers are whole. Whoever comes next on the connection need not be the one
                        // whose answers are damaged: it is closed, and they ask again on another.
                        _ = try await next(&pieces, &buffer)
                        return
                    }
                }
            }
        }
    }

    private func next(
        _ pieces: inout NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator, _ buffer: inout ByteBuffer
    ) async throws -> RelayedRequest? {
        do {
            while true {
                // Most requests are whole at once; of a large body each piece costs a look at all of it.
                if buffer.readableBytes > 0, let request = try RelayedRequest.take(&buffer) { return request }
                guard var piece = try await pieces.next(isolation: #isolation) else { return nil }
                buffer.discardReadBytes()
                buffer.writeBuffer(&piece)
            }
        } catch let error as RelayedRequest.Ambiguous {
            let text = "\(error) in \(String(buffer: buffer).prefix(2_000).debugDescription)"
            violations.withLockedValue { if $0.count < 10 { $0.append(text) } }
            throw error
        }
    }

    /// - Returns: What becomes of the connection.
    private func answer(
        _ request: RelayedRequest, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        through connection: RawHTTPConnection
    ) async throws -> RelayedAnswer.Ending {
        var request = request
        switch script(&request) {
        case .drop: return .close
        case .answer(var bytes):
            while let piece = bytes.readSlice(length: min(64 << 10, bytes.readableBytes)), piece.readableBytes > 0 {
                try await outbound.write(piece)
            }
            return .keep
        case .pass(let change):
            let relayed = change(try await ask(request, through: connection))
            if !relayed.bytes.isEmpty { try await outbound.write(ByteBuffer(bytes: relayed.bytes)) }
            return relayed.ending
        }
    }

    private func ask(_ request: RelayedRequest, through connection: RawHTTPConnection) async throws -> RawAnswer {
        let fields = request.fields.filter { !["transfer-encoding", "content-length"].contains($0.name.lowercased()) }
        let length = request.body.isEmpty ? [] : [("Content-Length", "\(request.body.count)")]
        let bytes = backend.request(
            request.method, request.target, headers: fields.map { ($0.name, $0.value) } + length, body: request.body)
        if !connection.isEnded {
            await connection.write(bytes)
            let answer = try await connection.answer(to: request.method)
            if answer.status != 0 { return answer }
        }
        // The backend closes connections that were idle for long, and those that it does not understand.
        return try await backend.withConnection { other in
            await other.write(bytes)
            return try await other.answer(to: request.method)
        }
    }
}
