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

    private enum Timer {
        case reading, sending, closing, halfClosed
    }

    private let timeouts: ConnectionTimeouts
    private let state: ConnectionState
    private var timers: [Timer: Scheduled<Void>] = [:]
    /// Requests whose head has come and whose answer has not been written.
    private var openRequests = 0
    private var isReadingBody = false

    init(timeouts: ConnectionTimeouts, state: ConnectionState) {
        self.timeouts = timeouts
        self.state = state
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
        if error is IOError { state.hangUp.signal() }
        context.fireErrorCaught(error)
    }

    func read(context: ChannelHandlerContext) {
        // Only now, since a body that nobody wants to read may take its time.
        if isReadingBody, timers[.reading] == nil {
            start(.reading, context, in: timeouts.body) { $0.fireErrorCaught(ClientTimeout()) }
        }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        stop(.reading)
        switch unwrapInboundIn(data) {
        case .head:
            openRequests += 1
            isReadingBody = true
        case .body: break
        case .end: isReadingBody = false
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            openRequests = max(0, openRequests - 1)
            if openRequests == 0, !isReadingBody { close(context, unlessStopped: .reading, in: timeouts.keepAlive) }
        }
        context.write(data, promise: promise)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            stop(.sending)
        } else {
            close(context, unlessStopped: .sending, in: timeouts.send)
        }
        context.fireChannelWritabilityChanged()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // The rest of the answer may still wait for the client.
        if mode == .output { close(context, unlessStopped: .closing, in: timeouts.send) }
        context.close(mode: mode, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            isReadingBody = false
            stop(.reading)
            start(.halfClosed, context, in: timeouts.halfClosed) { [state] _ in state.hangUp.signal() }
        case ChannelEvent.outputClosed:
            close(context, unlessStopped: .closing, in: timeouts.linger)
        case is ChannelShouldQuiesceEvent:
            state.drain()
            // A request in flight ends the connection itself.
            if openRequests == 0 { context.close(promise: nil) }
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func close(_ context: ChannelHandlerContext, unlessStopped timer: Timer, in delay: TimeAmount) {
        start(timer, context, in: delay) { $0.close(promise: nil) }
    }

    private func start(
        _ timer: Timer, _ context: ChannelHandlerContext, in delay: TimeAmount,
        _ action: @escaping (ChannelHandlerContext) -> Void
    ) {
        stop(timer)
        timers[timer] = context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
            self.timers[timer] = nil
            action(context)
        }
    }

    private func stop(_ timer: Timer) { timers.removeValue(forKey: timer)?.cancel() }

    private func stopAll() {
        for timer in timers.values { timer.cancel() }
        timers = [:]
    }
}
