// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix

/// The client of a measurement: sends one request, reads the answer as fast as it comes and counts the records in it.
struct DrainClient {
    /// The answer that came.
    struct Answer: Sendable {
        var status: HTTPResponseStatus
        /// Bytes of the body.
        var bytes = 0
        /// The number of times that ``AssetStream/recordMark`` occurs in the body.
        var records = 0
        /// The time from the beginning of the connection to the last byte.
        var wall = Duration.zero
        /// The body, if it was requested.
        var body = ByteBuffer()
        /// True if the body is compressed: its records are not counted then.
        var isGzip = false
        /// The last bytes of the body, which contain the cursor.
        var tail: [UInt8] = []

        /// The cursor at the end of the answer: its last digits; nil if there are none.
        var cursor: Int? {
            let digits = tail.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.last
            return digits.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        }

        /// The length that a compressed body says it has without compression: its last four bytes, little-endian, the
        /// length modulo 2^32 (RFC 1952 section 2.3.1).
        var inflatedBytes: Int { tail.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) } }
    }

    /// The longest time that an answer may take before the measurement is given up.
    private static let timeout = TimeAmount.minutes(5)

    private let group = MultiThreadedEventLoopGroup.singleton

    /// Sends a request on a connection of its own; keeping the body of the answer costs time.
    func fetch(
        _ method: HTTPMethod, _ path: String, port: Int, keepsBody: Bool = false, acceptsGzip: Bool = false
    ) async throws -> Answer {
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: path)
        head.headers = [
            "host": "127.0.0.1:\(port)", "authorization": "Bearer rind-bench", "connection": "close",
            "accept": "application/json",
        ]
        if acceptsGzip { head.headers.add(name: "accept-encoding", value: "gzip") }
        if method == .POST { head.headers.add(name: "content-length", value: "0") }
        let promise = group.next().makePromise(of: Answer.self)
        let clock = ContinuousClock()
        let start = clock.now
        do {
            let channel = try await ClientBootstrap(group: group)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 256 * 1024))
                .channelInitializer { [head] channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        try channel.pipeline.syncOperations.addHandler(
                            DrainHandler(head, promise: promise, keepsBody: keepsBody))
                    }
                }
                .connect(host: "127.0.0.1", port: port).get()
            let deadline = channel.eventLoop.scheduleTask(in: Self.timeout) { channel.close(promise: nil) }
            defer { deadline.cancel() }
            var answer = try await promise.futureResult.get()
            answer.wall = start.duration(to: clock.now)
            return answer
        } catch {
            promise.fail(error)
            throw error
        }
    }
}

/// The reasons why a measurement has no figure.
enum DrainFailure: Error, CustomStringConvertible {
    case cut(bytes: Int)

    var description: String {
        switch self {
        case .cut(let bytes): "the connection ended within the answer, after \(bytes) bytes of it"
        }
    }
}

/// Counts on the event loop, and keeps only the last bytes.
private final class DrainHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// The number of bytes kept from the end: more than a cursor has.
    private static let tailBytes = 64

    private let request: HTTPRequestHead
    private let promise: EventLoopPromise<DrainClient.Answer>
    private let keepsBody: Bool
    private var answer = DrainClient.Answer(status: .ok)
    private var counter = MarkCounter(AssetStream.recordMark)

    init(_ request: HTTPRequestHead, promise: EventLoopPromise<DrainClient.Answer>, keepsBody: Bool) {
        self.request = request
        self.promise = promise
        self.keepsBody = keepsBody
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(request)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            answer.status = head.status
            answer.isGzip = head.headers["content-encoding"].contains("gzip")
        case .body(var part):
            answer.bytes += part.readableBytes
            if !answer.isGzip { part.withUnsafeReadableBytes { counter.feed($0) } }
            answer.tail = (answer.tail + part.readableBytesView.suffix(Self.tailBytes)).suffix(Self.tailBytes)
            if keepsBody { answer.body.writeBuffer(&part) }
        case .end:
            answer.records = counter.count
            promise.succeed(answer)
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        // After the end of the answer this comes too late to count.
        promise.fail(DrainFailure.cut(bytes: answer.bytes))
        context.fireChannelInactive()
    }
}

/// Counts how often a short mark occurs in bytes that come in pieces.
struct MarkCounter {
    private let mark: [UInt8]
    private var seam: [UInt8] = []
    /// The number of marks so far.
    private(set) var count = 0

    /// Creates a counter of a mark that does not overlap itself.
    init(_ mark: [UInt8]) { self.mark = mark }

    /// Counts the marks that end in the next piece.
    mutating func feed(_ piece: UnsafeRawBufferPointer) {
        // A mark that lies across the seam has fewer bytes on either side than the whole mark.
        seam.append(contentsOf: piece.prefix(mark.count - 1))
        count += seam.withUnsafeBytes { occurrences(in: $0) }
        count += occurrences(in: piece)
        seam.append(contentsOf: piece.dropFirst(mark.count - 1).suffix(mark.count - 1))
        seam.removeFirst(max(seam.count - mark.count + 1, 0))
    }

    private func occurrences(in bytes: UnsafeRawBufferPointer) -> Int {
        var (found, start) = (0, 0)
        while let offset = bytes.firstOffset(of: mark, from: start) {
            found += 1
            start = offset + mark.count
        }
        return found
    }
}
