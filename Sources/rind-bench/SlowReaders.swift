// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// Clients that read their answers slowly, as phones on a bad network do.
///
/// Belongs to one task; the connections share one event loop.
final class SlowReaders {
    /// The paces at which answers are read.
    enum Pace {
        /// No read beyond the first bytes of an answer.
        case waiting
        case slow
        /// Reads as fast as bytes come.
        case fast
    }

    /// The reasons why there are no figures.
    enum Failure: Error, CustomStringConvertible {
        case refused(status: UInt)
        case cut(bytes: Int)
        case wrongCount(found: Int, expected: Int)

        var description: String {
            switch self {
            case .refused(let status): "a slow reader was answered \(status)"
            case .cut(let bytes): "a slow reader was cut off after \(bytes) bytes"
            case .wrongCount(let found, let expected): "a slow reader got \(found) records instead of \(expected)"
            }
        }
    }

    /// The state that all connections share.
    struct State {
        var pace = Pace.waiting
        /// The number of bytes that were read.
        var bytes = 0
        /// The number of answers that came whole.
        var whole = 0
        /// The number of readers that were asked to come later, or cut off before the first record.
        var putOff = 0
    }

    /// The bytes read at once.
    private static let piece = 16 * 1024
    /// The number of answers that are waited for at a time.
    private static let waiting = 32

    private let port: Int
    private let records: Int
    private let state = NIOLockedValueBox(State())
    private let loop = MultiThreadedEventLoopGroup.singleton.next()
    private var channels: [any Channel] = []
    private var ends: [EventLoopFuture<Void>] = []

    /// Creates readers of answers with a number of records.
    init(port: Int, records: Int) {
        self.port = port
        self.records = records
    }

    /// Opens connections, each of a new caller; returns when the answers of all have begun.
    ///
    /// Readers that are asked to come later do not, and if many are, no more are opened.
    ///
    /// - Returns: The number of readers that were opened.
    func open(_ count: Int) async throws -> Int {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= Self.waiting { try await group.next() }
                if state.withLockedValue({ $0.putOff >= Self.waiting }) { break }
                let (begin, end) = (loop.makePromise(of: Void.self), loop.makePromise(of: Void.self))
                ends.append(end.futureResult)
                channels.append(try await connect(number, begin: begin, end: end))
                group.addTask { try await begin.futureResult.get() }
            }
            try await group.waitForAll()
        }
        return channels.count
    }

    private func connect(
        _ number: Int, begin: EventLoopPromise<Void>, end: EventLoopPromise<Void>
    ) async throws -> any Channel {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/sync?schema_version=1&last_pulled_at=null")
        head.headers = ["host": "bench", "authorization": "Bearer slow-\(number)", "accept": "application/json"]
        // All connections read in turn, not in bursts.
        let phase = TimeAmount.milliseconds(Int64(number % 250))
        return try await ClientBootstrap(group: loop)
            .channelOption(.autoRead, value: false)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.piece))
            .channelOption(.socketOption(.so_rcvbuf), value: 4 * Self.piece)
            .channelInitializer { [head, state, records] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(
                        SlowHandler(head, phase: phase, records: records, state: state, begin: begin, end: end))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    /// Changes the pace of all connections.
    func read(_ pace: Pace) { state.withLockedValue { $0.pace = pace } }

    /// The figures so far.
    var figures: State { state.withLockedValue { $0 } }

    /// Waits until all answers that have begun have come whole, with the right number of records.
    func finish() async throws { for end in ends { try await end.get() } }

    /// Closes all connections.
    func close() async { for channel in channels { try? await channel.close().get() } }
}

/// One connection: reads a piece four times a second.
private final class SlowHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private static let interval = TimeAmount.milliseconds(250)

    private let request: HTTPRequestHead
    private let phase: TimeAmount
    private let records: Int
    private let state: NIOLockedValueBox<SlowReaders.State>
    private let begin: EventLoopPromise<Void>
    private let end: EventLoopPromise<Void>
    private var counter = MarkCounter(AssetStream.recordMark)
    private var bytes = 0
    private var pacer: RepeatedTask?
    private var isPutOff = false

    init(
        _ request: HTTPRequestHead, phase: TimeAmount, records: Int, state: NIOLockedValueBox<SlowReaders.State>,
        begin: EventLoopPromise<Void>, end: EventLoopPromise<Void>
    ) {
        self.request = request
        self.phase = phase
        self.records = records
        self.state = state
        self.begin = begin
        self.end = end
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(request)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.read()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        pacer = context.eventLoop.scheduleRepeatedTask(initialDelay: phase, delay: Self.interval) { _ in
            let (handler, context) = bound.value
            handler.readPiece(context)
        }
    }

    private func readPiece(_ context: ChannelHandlerContext) {
        if bytes == 0 || state.withLockedValue({ $0.pace != .waiting }) { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            if head.status == .serviceUnavailable, head.headers.contains(name: "retry-after") {
                comeLater(context)
            } else if head.status != .ok {
                fail(.refused(status: head.status.code), context)
            }
        case .body(let part):
            if bytes == 0 { begin.succeed() }
            bytes += part.readableBytes
            state.withLockedValue { $0.bytes += part.readableBytes }
            part.withUnsafeReadableBytes { counter.feed($0) }
        case .end:
            pacer?.cancel()
            guard counter.count == records else {
                return fail(.wrongCount(found: counter.count, expected: records), context)
            }
            state.withLockedValue { $0.whole += 1 }
            end.succeed()
            context.close(promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if bytes == 0 || state.withLockedValue({ $0.pace == .fast }) { context.read() }
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard counter.count > 0 else { return comeLater(context) }
        begin.fail(error)
        end.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        pacer?.cancel()
        // An answer that has begun with white space cannot be a 503 any more.
        guard counter.count > 0 else { return comeLater(context) }
        // After the end of the answer this comes too late to count.
        fail(.cut(bytes: bytes), context)
    }

    private func comeLater(_ context: ChannelHandlerContext) {
        guard !isPutOff else { return }
        isPutOff = true
        state.withLockedValue { $0.putOff += 1 }
        begin.succeed()
        end.succeed()
        context.close(promise: nil)
    }

    private func fail(_ failure: SlowReaders.Failure, _ context: ChannelHandlerContext) {
        begin.fail(failure)
        end.fail(failure)
        context.close(promise: nil)
    }
}
