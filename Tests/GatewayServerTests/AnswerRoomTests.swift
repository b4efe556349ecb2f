// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import GatewayServer

/// Counts how often room is asked for, and has it except for one time.
private final class RoomCounter: ChannelOutboundHandler, Sendable {
    typealias OutboundIn = Never

    let asked = NIOLockedValueBox(0)
    private let refused: Int?

    /// - Parameter refused: The number of the question that is answered by the end of the patience.
    init(refusing refused: Int?) { self.refused = refused }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is AnswerRoom else { return context.triggerUserOutboundEvent(event, promise: promise) }
        let number = asked.withLockedValue { asked in
            asked += 1
            return asked
        }
        if number == refused { promise?.fail(NoRoomYet()) } else { promise?.succeed() }
    }
}

/// When the event loop is asked before a piece of an answer is written.
@Suite(.timeLimit(.minutes(1))) struct AnswerRoomTests {
    /// Writes pieces; returns for each if the loop was asked before it.
    private static func asked(pieces: Int, refusing refused: Int? = nil) async throws -> [Bool] {
        let counter = RoomCounter(refusing: refused)
        let channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { $0.pipeline.addHandler(counter) }
            .bind(host: "127.0.0.1", port: 0).get()
        let (outbound, sink) = NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>.makeTestingWriter()
        let (inbound, source) = NIOAsyncChannelInboundStream<HTTPServerRequestPart>.makeTestingStream()
        source.finish()
        let request = IncomingRequest(
            HTTPRequestHead(version: .http1_1, method: .GET, uri: "/"), body: RequestParts(inbound, outbound),
            connection: ConnectionState(requests: OpenRequests(), peer: Peer(of: channel, trusting: .thisMachine)))
        let stream = AnswerStream(to: request, outbound, channel)
        try await stream.begin(200, [:], length: nil)
        var result: [Bool] = []
        for _ in 0..<pieces {
            let before = counter.asked.withLockedValue(\.self)
            _ = try await stream.waitForRoom(for: Duration.seconds(1))
            result.append(counter.asked.withLockedValue(\.self) > before)
            try await stream.write(ByteBuffer(string: "piece"))
        }
        outbound.finish()
        _ = sink
        try await channel.close()
        return result
    }

    @Test func `the loop is asked before the first 16 pieces, then before every third`() async throws {
        let asked = try await Self.asked(pieces: 40)
        #expect(asked.prefix(16).allSatisfy { $0 })
        #expect(asked.dropFirst(16).enumerated().allSatisfy { $1 == ($0 % 3 == 2) }, "\(asked)")
    }

    @Test func `a client that was waited for has the loop asked before each piece`() async throws {
        let asked = try await Self.asked(pieces: 40, refusing: 17)
        #expect(asked.dropFirst(18).allSatisfy { $0 }, "\(asked)")
    }
}
