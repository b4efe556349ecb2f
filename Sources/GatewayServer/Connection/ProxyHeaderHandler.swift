// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOConcurrencyHelpers
import NIOCore

/// Takes the header of the PROXY protocol from the beginning of a connection; without one from a trusted proxy, the
/// connection is closed.
///
/// The time limit for a request's head covers it.
final class ProxyHeaderHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let state: ConnectionState
    private let headers: ProxyHeaders
    private var buffer = ByteBuffer()
    private var isComplete = false
    private var isRefused = false

    init(state: ConnectionState, headers: ProxyHeaders) {
        self.state = state
        self.headers = headers
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        guard !isComplete else { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        guard state.peer.isTrusted else { return refuse(context, "the peer is none of [gateway] trusted_proxies") }
        buffer.writeBuffer(&bytes)
        switch ProxyHeader.read(from: &buffer) {
        case .incomplete: break
        case .invalid: refuse(context, "the connection does not begin with a header of the PROXY protocol")
        case .complete(let source):
            isComplete = true
            if let source { state.peer = state.peer.speaking(for: source) }
            if buffer.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(buffer)) }
            buffer = ByteBuffer()
        }
    }

    private func refuse(_ context: ChannelHandlerContext, _ cause: String) {
        isRefused = true
        headers.refuse(state.peer, cause)
        context.close(promise: nil)
    }
}

/// Counts the connections of one listener that were closed for want of a header of the PROXY protocol.
final class ProxyHeaders: Sendable {
    /// The least time between two lines of the log: strangers decide how many there would be.
    private static let interval = TimeAmount.seconds(10)
    private let logger: Logger
    private let state = NIOLockedValueBox((refused: 0, loggedAt: NIODeadline?.none))

    init(logger: Logger) { self.logger = logger }

    /// Logs that connections were closed, now and then.
    func refuse(_ peer: Peer, _ cause: String) {
        let now = NIODeadline.now()
        let refused: Int? = state.withLockedValue { state in
            state.refused += 1
            if let last = state.loggedAt, now - last < Self.interval { return nil }
            defer { state = (0, now) }
            return state.refused
        }
        guard let refused else { return }
        logger.warning(
            "connections were closed, since they do not come from a proxy as they should",
            metadata: [
                "code": "proxy.header", "client": "\(peer.address ?? "unknown")", "cause": "\(cause)",
                "refused": .stringConvertible(refused),
            ])
    }
}
