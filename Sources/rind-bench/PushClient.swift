// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix

/// Sends requests over a few kept connections, each as soon as its connection has the answer to the one before.
///
/// Calls cannot be made faster: there is one event loop, and nothing between an answer and the next request.
struct PushClient {
    /// A request to send.
    struct Request: Sendable {
        var method: HTTPMethod
        var path: String
        var body: [UInt8] = []
        var fields: [(name: String, value: String)] = []
    }

    /// The result of all requests.
    struct Outcome: Sendable {
        var wall = Duration.zero
        /// The number of answers by status.
        var statuses: [UInt: Int] = [:]
        /// The body of the last answer, if it was requested.
        var body = ByteBuffer()
    }

    /// The longest time that all requests together may take before the measurement is given up.
    private static let timeout = TimeAmount.minutes(10)

    /// The bearer token of the caller.
    let token: String

    /// Sends all requests in their order, as many at a time as there are connections.
    func send(
        _ requests: [Request], port: Int, connections: Int = 1, keepsBody: Bool = false
    ) async throws -> Outcome {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let fields: HTTPHeaders = [
            "host": "127.0.0.1:\(port)", "authorization": "Bearer \(token)", "accept": "application/json",
            "content-type": "application/json",
        ]
        let promise = loop.makePromise(of: Outcome.self)
        // Copied into buffers before the clock runs.
        let ready = requests.map { ReadyRequest($0, fields) }
        let clock = ContinuousClock()
        let start = clock.now
        let deadline = loop.scheduleTask(in: Self.timeout) { promise.fail(PushClientFailure.slow) }
        defer { deadline.cancel() }
        var channels: [any Channel] = []
        do {
            let queue = try await loop.submit {
                NIOLoopBound(RequestQueue(ready, promise: promise, keepsBody: keepsBody), eventLoop: loop)
            }.get()
            let connecting = (0..<min(connections, requests.count)).map { _ in
                connect(on: loop, port: port, queue: queue)
            }
            for channel in connecting { channels.append(try await channel.get()) }
            var outcome = try await promise.futureResult.get()
            outcome.wall = start.duration(to: clock.now)
            for channel in channels { try? await channel.close().get() }
            return outcome
        } catch {
            promise.fail(error)
            for channel in channels { try? await channel.close().get() }
            throw error
        }
    }

    private func connect(
        on loop: any EventLoop, port: Int, queue: NIOLoopBound<RequestQueue>
    ) -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 64 * 1024))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(RequestHandler(queue.value))
                }
            }
            .connect(host: "127.0.0.1", port: port)
    }
}

/// The reasons why a measurement has no figure.
enum PushClientFailure: Error, CustomStringConvertible {
    case cut, slow

    var description: String {
        switch self {
        case .cut: "a connection ended before its answer did"
        case .slow: "the requests take longer than any measurement should"
        }
    }
}

/// A request in the form in which it is written.
private struct ReadyRequest: Sendable {
    let head: HTTPRequestHead
    let body: ByteBuffer

    init(_ request: PushClient.Request, _ fields: HTTPHeaders) {
        var head = HTTPRequestHead(version: .http1_1, method: request.method, uri: request.path, headers: fields)
        for field in request.fields { head.headers.replaceOrAdd(name: field.name, value: field.value) }
        if !request.body.isEmpty || [.POST, .PATCH, .PUT].contains(request.method) {
            head.headers.add(name: "content-length", value: "\(request.body.count)")
        }
        self.head = head
        body = ByteBuffer(bytes: request.body)
    }
}

/// Holds the requests that are still to be sent; belongs to one event loop.
private final class RequestQueue {
    private let requests: [ReadyRequest]
    private let promise: EventLoopPromise<PushClient.Outcome>
    private var next = 0
    private var answered = 0
    private var outcome = PushClient.Outcome()
    let keepsBody: Bool

    init(_ requests: [ReadyRequest], promise: EventLoopPromise<PushClient.Outcome>, keepsBody: Bool) {
        self.requests = requests
        self.promise = promise
        self.keepsBody = keepsBody
    }

    func take() -> ReadyRequest? {
        guard next < requests.count else { return nil }
        next += 1
        return requests[next - 1]
    }

    func finish(_ status: UInt, _ body: ByteBuffer) {
        outcome.statuses[status, default: 0] += 1
        answered += 1
        if keepsBody { outcome.body = body }
        if answered == requests.count { promise.succeed(outcome) }
    }

    /// Fails the outcome; has no effect once everything is answered.
    func fail(_ error: any Error) { promise.fail(error) }
}

/// One connection.
private final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let queue: RequestQueue
    private var status: UInt = 0
    private var body = ByteBuffer()

    init(_ queue: RequestQueue) { self.queue = queue }

    func channelActive(context: ChannelHandlerContext) {
        send(context)
        context.fireChannelActive()
    }

    private func send(_ context: ChannelHandlerContext) {
        guard let request = queue.take() else { return }
        context.write(wrapOutboundOut(.head(request.head)), promise: nil)
        if request.body.readableBytes > 0 {
            context.write(wrapOutboundOut(.body(.byteBuffer(request.body))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            status = head.status.code
            body.clear()
        case .body(var part): if queue.keepsBody { body.writeBuffer(&part) }
        case .end:
            queue.finish(status, body)
            send(context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        queue.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        queue.fail(PushClientFailure.cut)
        context.fireChannelInactive()
    }
}
