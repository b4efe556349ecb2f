// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Sets up and serves the connections of clients: HTTP/1.1 and 1.0, kept alive and pipelined.
struct ClientChannel: ServerChildChannel {
    /// One connection.
    ///
    /// If it is accepted while the listener closes, no task serves it and the server drops it: it then closes itself. A
    /// stream that is dropped open would end the process.
    final class Value: ServerChildChannelValue {
        let state: ConnectionState
        /// True if it may be served; otherwise it gets the answer that there are too many.
        let isWelcome: Bool
        private let stream: NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>
        private let isServed = NIOLockedValueBox(false)
        var channel: any Channel { stream.channel }

        init(
            _ stream: NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>, _ state: ConnectionState,
            isWelcome: Bool
        ) {
            self.stream = stream
            self.state = state
            self.isWelcome = isWelcome
        }

        /// Returns the stream to the task that serves it, which must close it.
        func take() -> NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart> {
            isServed.withLockedValue { $0 = true }
            return stream
        }

        deinit {
            guard !isServed.withLockedValue(\.self) else { return }
            _ = channel.eventLoop.makeFutureWithTask { [stream] in try await stream.executeThenClose { _, _ in } }
        }
    }

    /// The time limits for clients.
    let timeouts: ConnectionTimeouts
    /// The most bytes of a request's head.
    let headLimit: Int
    /// The count of the connections, with its limit.
    let count: ConnectionCount
    /// Returns the proxies that are believed at present.
    let proxies: @Sendable () -> TrustedProxies
    /// Reads the header of the PROXY protocol at the beginning of each connection; nil if there is none.
    let proxyHeaders: ProxyHeaders?
    /// Returns the certificate for a connection that begins now; nil for a plain one.
    let certificate: @Sendable () -> ServerCertificate?
    /// The logger for requests that cannot be parsed; the server's own logger stays silent.
    let requestLogger: Logger
    /// The open requests, which report that the server drains.
    let requests: OpenRequests
    /// Returns the responder of a request that begins now.
    let responder: @Sendable () -> any RequestResponder

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let certificate = certificate()
            let state = ConnectionState(
                requests: requests, peer: Peer(of: channel, trusting: proxies()), isTLS: certificate != nil)
            // The header of a proxy comes before the client's own bytes, which it passes on unread.
            if let proxyHeaders { try pipeline.addHandler(ProxyHeaderHandler(state: state, headers: proxyHeaders)) }
            if let certificate { try pipeline.addHandler(NIOSSLServerHandler(context: certificate.context)) }
            var encoding = HTTPResponseEncoder.Configuration()
            // Answers frame themselves: only they know of HEAD, and of lengths without a body.
            encoding.automaticallySetFramingHeaders = false
            var limits = NIOHTTPDecoderLimitConfiguration()
            limits.maxHeaderFieldSize = headLimit
            limits.maxHeaderListSize = headLimit
            try pipeline.addHandler(HTTPResponseEncoder(configuration: encoding))
            // What a client sends behind a request for another protocol belongs to the tunnel.
            try pipeline.addHandler(
                ByteToMessageHandler(
                    HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits)))
            try SendProgress.limitBuffer(of: channel)
            try pipeline.addHandler(ConnectionHandler(timeouts: timeouts, state: state))
            let stream = try NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>(
                wrappingChannelSynchronously: channel,
                configuration: .init(isOutboundHalfClosureEnabled: true))
            return Value(stream, state, isWelcome: count.enter(channel))
        }
    }

    func handle(value: Value, logger: Logger) async {
        do {
            try await value.take().executeThenClose { inbound, outbound in
                try await serve(value, RequestParts(inbound, outbound), on: outbound, logger: logger)
            }
        } catch {
            guard !error.isFailedHandshake else {
                return requestLogger.debug(
                    "a connection has no TLS that fits",
                    metadata: [
                        "code": "tls.handshake", "client": "\(value.state.peer.address ?? "unknown")",
                        "cause": "\(error)",
                    ])
            }
            // The client has gone, or was cut off; the code that served it has logged why.
            logger.trace("a connection ended", metadata: ["cause": "\(error)"])
        }
    }

    private enum Outcome {
        case keep, close, cut
    }

    private func serve(
        _ value: Value, _ parts: RequestParts, on outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>,
        logger: Logger
    ) async throws {
        do {
            guard value.isWelcome else { throw TooManyConnections() }
            serving: while let head = try await parts.nextHead() {
                let responder = responder()
                try RequestHead.check(head) { responder.reads($0, at: head.uri.prefix { $0 != "?" }) }
                value.state.hangUp.reset()
                var request = IncomingRequest(head, body: parts, connection: value.state)
                request.refusal = responder.refusal(of: request)
                switch try await answer(request, by: responder, on: outbound, channel: value.channel) {
                case .keep:
                    guard try await parts.skipBody(limit: AnswerStream.skippedBodyLimit) else { break serving }
                    // A body may come in slowly; meanwhile the server may have begun to shut down.
                    if value.state.isDraining { break serving }
                case .close: break serving
                case .cut: return await reset(value.channel)
                }
            }
        } catch let error as HTTPParserError {
            try await refuse(GatewayError(parsing: error), on: outbound, logger: requestLogger)
        } catch is TooManyConnections {
            // The count has logged it.
            try await refuse(GatewayError(fault: .connections), on: outbound, logger: nil)
        } catch let error where error is GatewayError || error is GatewayFault {
            try await refuse(GatewayError(error), on: outbound, logger: requestLogger)
        } catch is ClientGone {
            return
        }
        outbound.finish()
        await parts.discardRest()
        // Only the handler's timer ends the wait for a client that keeps its side open.
        try await withTaskCancellationHandler {
            try await value.channel.closeFuture.get()
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }

    private struct TooManyConnections: Error {}

    /// Serves one request, and cancels it if the client disconnects first.
    private func answer(
        _ request: IncomingRequest, by responder: any RequestResponder,
        on outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>, channel: any Channel
    ) async throws -> Outcome {
        // A refusal gets no tasks of its own: they would be most of its cost, and requests that run need the time.
        guard request.refusal == nil else {
            return await finish(request, by: responder, on: outbound, channel: channel)
        }
        return try await withThrowingTaskGroup(of: Outcome?.self) { group in
            group.addTask { await finish(request, by: responder, on: outbound, channel: channel) }
            group.addTask { await request.connection.hangUp.wait() ? .cut : nil }
            while let outcome = try await group.next() {
                // The client's end does not end a shielded request: wait for the task that still serves.
                guard let outcome else { continue }
                group.cancelAll()
                return outcome
            }
            return .cut
        }
    }

    /// Answers one request to its end.
    private func finish(
        _ request: IncomingRequest, by responder: any RequestResponder,
        on outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>, channel: any Channel
    ) async -> Outcome {
        let stream = AnswerStream(to: request, outbound, channel)
        do {
            try await responder.respond(to: request, with: stream)
        } catch {
            return .cut
        }
        guard stream.isComplete else { return .cut }
        return stream.keepsConnection && !request.body.hasFailed ? .keep : .close
    }

    /// Ends the connection in a way that no client or proxy takes for the end of an answer.
    private func reset(_ channel: any Channel) async {
        if let options = channel as? any SocketOptionProvider {
            try? await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try? await channel.eventLoop.submit { channel.pipeline.syncOperations.closeBelowTLS() }.get()
        try? await channel.closeFuture.get()
    }
}
