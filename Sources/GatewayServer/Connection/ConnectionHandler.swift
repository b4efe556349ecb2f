// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Watches over one connection on its event loop: its timeouts, its client's end, and the server's shutdown.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    enum Timer {
        case reading, sending, room, closing, halfClosed
    }

    let timeouts: ConnectionTimeouts
    let state: ConnectionState
    /// The answer that waits for the client to take it; nil if there is none.
    var sending: Sending?
    /// The promise for an answer that waits until the connection takes more.
    var room: EventLoopPromise<Void>?
    /// The number of bytes of answers that were written.
    var written: UInt64 = 0
    /// True if an answer has begun that its client does not have yet.
    var isAnswering = false
    private var timers: [Timer: Scheduled<Void>] = [:]
    /// The number of requests whose head has come and whose answer has not been written.
    private var openRequests = 0
    private var isReadingBody = false
    /// True if all was sent, and what the client still sends is thrown away.
    private var isLingering = false
    /// True between a request for another protocol and its answer: what the client sends meanwhile stays where it is.
    private var holdsReads = false
    private var isReadHeld = false
    private var asksForProtocol = false
    private var pace: BodyPace

    init(timeouts: ConnectionTimeouts, state: ConnectionState) {
        self.timeouts = timeouts
        self.state = state
        pace = BodyPace(patience: timeouts.body, rate: timeouts.bodyRate)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { close(context, unlessStopped: .reading, in: timeouts.head) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { stopAll() }

    func channelActive(context: ChannelHandlerContext) {
        close(context, unlessStopped: .reading, in: timeouts.head)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stopAll()
        state.hangUp.signal()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The end of its side follows as an event, and means the same as on a plain connection.
        if error.isEndWithoutNotice { return }
        if error is IOError || error.isFailedHandshake { state.hangUp.signal() }
        context.fireErrorCaught(error)
    }

    func read(context: ChannelHandlerContext) {
        // Only now, since a body that is not being read may take any time.
        if isReadingBody, !isLingering, timers[.reading] == nil {
            start(.reading, on: context, in: pace.wait(at: .now())) { $0.fireErrorCaught(ClientTimeout()) }
        }
        guard !holdsReads else { return isReadHeld = true }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        stop(.reading)
        guard !isLingering else { return close(context, unlessStopped: .reading, in: timeouts.lingerIdle) }
        switch unwrapInboundIn(data) {
        case .head(let head):
            openRequests += 1
            isReadingBody = true
            // The decoder stops behind such a request, and would collect whatever comes.
            asksForProtocol = head.headers.contains(name: "upgrade")
            pace = BodyPace(patience: timeouts.body, rate: timeouts.bodyRate)
        case .body(let piece): pace.receive(piece.readableBytes, at: .now())
        case .end:
            isReadingBody = false
            holdsReads = asksForProtocol
            waitForRequest(context)
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // The request's task may have been cancelled while it waited for the body, and then nothing else reads.
        if isLingering { context.read() }
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head): isAnswering = isAnswering || head.status.code >= 200 || head.status == .switchingProtocols
        case .body(let piece): written += UInt64(piece.readableBytes)
        case .end:
            openRequests = max(0, openRequests - 1)
            waitForRequest(context)
        }
        context.write(data, promise: promise)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        clientBlocks(!context.channel.isWritable, context)
        if context.channel.isWritable { giveRoom() }
        context.fireChannelWritabilityChanged()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // The last short answer may still wait for the client.
        if mode == .output { close(context, unlessStopped: .closing, in: timeouts.send) }
        context.close(mode: mode, promise: promise)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        switch event {
        case let end as AnswerEnd: answerEnds(end, promise: promise, context: context)
        case is TunnelStart: startTunnel(context, promise)
        case let room as AnswerRoom: answerNeedsRoom(room, promise: promise, context: context)
        case is AnswerAbandoned:
            if isAnswering { cut(context) }
            promise?.succeed()
        default: context.triggerUserOutboundEvent(event, promise: promise)
        }
    }

    private func startTunnel(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        TunnelCodec.replaceCodec(before: self, in: context).assumeIsolated().whenComplete { result in
            if case .success = result, context.channel.isActive {
                self.holdsReads = false
                // Whatever came too early is not passed on before the end of a read.
                context.fireChannelReadComplete()
                if self.isReadHeld { context.read() }
            }
            promise?.completeWith(result)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            isReadingBody = false
            stop(.reading)
            waitForHalfClosed(context, since: written)
        case ChannelEvent.outputClosed:
            isLingering = true
            close(context, unlessStopped: .closing, in: timeouts.linger)
            close(context, unlessStopped: .reading, in: timeouts.lingerIdle)
            context.read()
        case is ChannelShouldQuiesceEvent:
            state.drain()
            // A request in flight ends the connection itself.
            if openRequests == 0, !isAnswering { context.close(promise: nil) }
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Starts the client's time for the next request if the present one is complete.
    func waitForRequest(_ context: ChannelHandlerContext) {
        guard openRequests == 0, !isReadingBody, !isAnswering, !isLingering else { return }
        close(context, unlessStopped: .reading, in: timeouts.keepAlive)
    }

    /// Treats a client that has closed its side as gone, but not while it takes an answer: the sending then shows if it
    /// has gone.
    private func waitForHalfClosed(_ context: ChannelHandlerContext, since last: UInt64) {
        start(.halfClosed, on: context, in: timeouts.halfClosed) { [self] context in
            guard sending != nil || written != last else { return state.hangUp.signal() }
            waitForHalfClosed(context, since: written)
        }
    }

    private func close(_ context: ChannelHandlerContext, unlessStopped timer: Timer, in delay: TimeAmount) {
        start(timer, on: context, in: delay) { $0.close(promise: nil) }
    }

    func start(
        _ timer: Timer, on context: ChannelHandlerContext, in delay: TimeAmount,
        _ action: @escaping (ChannelHandlerContext) -> Void
    ) {
        stop(timer)
        timers[timer] = context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
            self.timers[timer] = nil
            action(context)
        }
    }

    func stop(_ timer: Timer) { timers.removeValue(forKey: timer)?.cancel() }

    private func stopAll() {
        for timer in timers.values { timer.cancel() }
        timers = [:]
        failSending()
    }
}
