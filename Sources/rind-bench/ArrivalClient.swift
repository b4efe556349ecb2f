// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix

/// Sends requests at a steady rate, whether or not earlier ones are answered, as callers do who do not know of each
/// other.
///
/// Each request takes a kept connection that is idle, or a new one. With all of them busy it is not sent, and counted:
/// then the offered rate was not reached.
struct ArrivalClient {
    /// The answers of one round.
    struct Outcome: Sendable {
        /// The time of each answer from its request on, in microseconds, by kind.
        var latencies: [LoadAnswer.Kind: [Int]] = [:]
        /// The number of answers by status.
        var statuses: [Int: Int] = [:]
        /// The number of requests that were sent.
        var sent = 0
        /// The number of requests for which there was no connection.
        var unsent = 0
        /// The number of requests without an answer: the connection was closed, or it came too late.
        var unanswered = 0
        /// The number of 2xx answers with another content than they must have, and one of them.
        var wrong = (count: 0, example: "")
        /// The time in which requests were sent.
        var wall = Duration.zero
    }

    /// The time for which answers are awaited after the last request.
    private static let patience = TimeAmount.seconds(10)

    let port: Int
    /// The most connections.
    let connections: Int

    /// Sends requests for a time; answers that come later are awaited, and count.
    func run(perSecond rate: Double, for time: TimeAmount, _ course: LoadClient.Course) async throws -> Outcome {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: Outcome.self)
        loop.execute {
            Arrivals(self, rate: rate, time: time, course: course, end: promise, loop: loop).begin(
                patience: Self.patience)
        }
        return try await promise.futureResult.get()
    }
}

/// One round; everything of it runs on one event loop.
private final class Arrivals {
    private let client: ArrivalClient
    private let rate: Double
    private let time: TimeAmount
    let course: LoadClient.Course
    private let end: EventLoopPromise<ArrivalClient.Outcome>
    private let loop: any EventLoop
    private let began = NIODeadline.now()
    private var outcome = ArrivalClient.Outcome()
    private var due = 0
    private var opened = 0
    private var open: [ObjectIdentifier: any Channel] = [:]
    private var idle: [ArrivalHandler] = []
    private var awaited = 0
    private var hasEnded = false

    init(
        _ client: ArrivalClient, rate: Double, time: TimeAmount, course: LoadClient.Course,
        end: EventLoopPromise<ArrivalClient.Outcome>, loop: any EventLoop
    ) {
        self.client = client
        self.rate = rate
        self.time = time
        self.course = course
        self.end = end
        self.loop = loop
    }

    func begin(patience: TimeAmount) {
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(1)) { task in
            guard bound.value.sendDue() else {
                task.cancel()
                return bound.value.stopSending(patience)
            }
        }
    }

    /// Sends what is due by now; returns false if the time is over.
    private func sendDue() -> Bool {
        let elapsed = NIODeadline.now() - began
        guard elapsed < time else { return false }
        let target = Int(Double(elapsed.nanoseconds) / 1e9 * rate)
        while due < target {
            due += 1
            arrive()
        }
        return true
    }

    private func stopSending(_ patience: TimeAmount) {
        outcome.wall = .nanoseconds((.now() - began).nanoseconds)
        hasEnded = true
        finishIfAnswered()
        loop.assumeIsolated().scheduleTask(in: patience) { self.finish() }
    }

    private func arrive() {
        if let handler = idle.popLast() {
            sent()
            return handler.send()
        }
        guard opened < client.connections else {
            outcome.unsent += 1
            return
        }
        opened += 1
        sent()
        let bound = NIOLoopBound(self, eventLoop: loop)
        ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        ArrivalHandler(bound))
                }
            }
            .connect(host: "127.0.0.1", port: client.port)
            .whenFailure { _ in bound.value.lost(nil, isAwaited: true) }
    }

    private func sent() {
        outcome.sent += 1
        awaited += 1
    }

    func opened(_ channel: any Channel) { open[ObjectIdentifier(channel)] = channel }

    func answered(_ answer: LoadAnswer, after microseconds: Int, by handler: ArrivalHandler) {
        awaited -= 1
        outcome.latencies[answer.kind, default: []].append(microseconds)
        outcome.statuses[answer.status, default: 0] += 1
        if answer.kind == .done, !course.isRight(0, answer) {
            outcome.wrong = (outcome.wrong.count + 1, answer.excerpt)
        }
        idle.append(handler)
        finishIfAnswered()
    }

    /// Notes that a connection is gone, and that it owed an answer if it is awaited.
    func lost(_ handler: ArrivalHandler?, channel: (any Channel)? = nil, isAwaited: Bool) {
        opened -= 1
        if let channel { open[ObjectIdentifier(channel)] = nil }
        if let handler { idle.removeAll { $0 === handler } }
        guard isAwaited else { return }
        awaited -= 1
        outcome.unanswered += 1
        finishIfAnswered()
    }

    private func finishIfAnswered() { if hasEnded, awaited == 0 { finish() } }

    private func finish() {
        outcome.unanswered += awaited
        awaited = 0
        end.succeed(outcome)
        for channel in open.values { channel.close(promise: nil) }
        open = [:]
    }
}

/// One connection.
private final class ArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let arrivals: NIOLoopBound<Arrivals>
    private var context: ChannelHandlerContext?
    private var isAwaiting = false
    private var sentAt = NIODeadline.now()
    private var received = ByteBuffer()

    init(_ arrivals: NIOLoopBound<Arrivals>) { self.arrivals = arrivals }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        arrivals.value.opened(context.channel)
        send()
    }

    /// Sends the next request.
    func send() {
        guard let context else { return }
        isAwaiting = true
        sentAt = .now()
        context.writeAndFlush(wrapOutboundOut(arrivals.value.course.request(0)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        received.writeBuffer(&part)
        guard let answer = AnswerReader.read(received) else { return }
        received.clear()
        isAwaiting = false
        arrivals.value.answered(answer, after: Int((NIODeadline.now() - sentAt).nanoseconds / 1_000), by: self)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        arrivals.value.lost(self, channel: context.channel, isAwaited: isAwaiting)
    }
}
