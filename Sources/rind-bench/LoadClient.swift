// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Keeps connections busy: each sends its next request as soon as the one before is answered.
///
/// It reads just enough of HTTP/1.1 to find the end of an answer, because it shares the processors with the servers
/// that are measured.
struct LoadClient {
    /// The answers of one round.
    struct Outcome: Sendable {
        /// The time of each answer from its request on, in microseconds, in no order.
        var latencies: [Int] = []
        /// The number of answers by status.
        var statuses: [Int: Int] = [:]
        /// The number of answers with another content than they must have, and one of them.
        var wrong = (count: 0, example: "")
        /// The time that the round took.
        var wall = Duration.zero
        /// The time since the round began at which the connections stop.
        fileprivate var isOver = false
    }

    /// The requests of all callers, and what is right as their answer.
    struct Course: Sendable {
        /// Makes a caller's next request.
        var request: @Sendable (_ caller: Int) -> ByteBuffer
        /// Returns true if the caller's answer, which is a 2xx, has the right content; notes what its next request
        /// needs.
        var isRight: @Sendable (_ caller: Int, _ answer: LoadAnswer) -> Bool
    }

    let port: Int
    let connections: Int
    /// The number of callers, who share the connections in turns.
    let callers: Int

    /// Sends requests for a time, or one request for each caller if there is no time.
    ///
    /// - Throws: ``LoadFailure``, and errors of the connections.
    func run(for time: TimeAmount?, _ course: Course) async throws -> Outcome {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let outcome = NIOLockedValueBox(Outcome())
        let clock = ContinuousClock()
        let start = clock.now
        if let time { loop.scheduleTask(in: time) { outcome.withLockedValue { $0.isOver = true } } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for connection in 0..<min(connections, callers) {
                let turns = Array(stride(from: connection, to: callers, by: connections))
                let promise = loop.makePromise(of: Void.self)
                let channel = try await ClientBootstrap(group: loop)
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(
                                LoadHandler(
                                    turns: turns, isEndless: time != nil, course: course, outcome: outcome, end: promise
                                ))
                        }
                    }
                    .connect(host: "127.0.0.1", port: port).get()
                group.addTask {
                    try await promise.futureResult.get()
                    try? await channel.close()
                }
            }
            try await group.waitForAll()
        }
        return outcome.withLockedValue {
            $0.wall = start.duration(to: clock.now)
            return $0
        }
    }
}

/// The reasons why a load has no figure.
enum LoadFailure: Error, CustomStringConvertible {
    case cut, unreadable

    var description: String {
        switch self {
        case .cut: "a connection ended before its answer did"
        case .unreadable: "an answer is no HTTP/1.1 that the measurement can read"
        }
    }
}

/// One connection; everything of it runs on its event loop.
private final class LoadHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let turns: [Int]
    private let isEndless: Bool
    private let course: LoadClient.Course
    private let outcome: NIOLockedValueBox<LoadClient.Outcome>
    private let end: EventLoopPromise<Void>
    private var turn = 0
    private var sentAt = NIODeadline.now()
    private var received = ByteBuffer()

    init(
        turns: [Int], isEndless: Bool, course: LoadClient.Course,
        outcome: NIOLockedValueBox<LoadClient.Outcome>, end: EventLoopPromise<Void>
    ) {
        self.turns = turns
        self.isEndless = isEndless
        self.course = course
        self.outcome = outcome
        self.end = end
    }

    func channelActive(context: ChannelHandlerContext) { send(context) }

    private func send(_ context: ChannelHandlerContext) {
        let isOver = outcome.withLockedValue { $0.isOver }
        guard isEndless ? !isOver : turn < turns.count else { return end.succeed() }
        let caller = turns[turn % turns.count]
        sentAt = .now()
        context.writeAndFlush(wrapOutboundOut(course.request(caller)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        received.writeBuffer(&part)
        guard let answer = AnswerReader.read(received) else { return }
        guard answer.status > 0 else { return fail(LoadFailure.unreadable, context) }
        let taken = Int((NIODeadline.now() - sentAt).nanoseconds / 1_000)
        let isRight = answer.kind != .done || course.isRight(turns[turn % turns.count], answer)
        outcome.withLockedValue {
            $0.latencies.append(taken)
            $0.statuses[answer.status, default: 0] += 1
            if !isRight { $0.wrong = ($0.wrong.count + 1, answer.excerpt) }
        }
        received.clear()
        turn += 1
        send(context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(error, context) }

    func channelInactive(context: ChannelHandlerContext) { end.fail(LoadFailure.cut) }

    private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
        end.fail(error)
        context.close(promise: nil)
    }
}
