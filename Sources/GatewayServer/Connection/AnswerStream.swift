// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import NIOHTTP1

/// The answer to one request on its way to the client; it belongs to the task that serves the request.
final class AnswerStream {
    /// The most bytes of a request's body that are read and discarded so that the connection can be used again.
    static let skippedBodyLimit = 256 * 1_024
    /// The most bytes of an answer that counts as taken as soon as it is on its way.
    private static let shortLimit = 64 * 1_024
    /// The most pieces that are written between two questions to the event loop, which may not have seen the last ones
    /// yet.
    private static let trustedPieces = 3
    /// The number of times that the event loop must have had room before anything is written without asking: the first
    /// pieces may only fill the system's buffers, and what is written behind them would wait in memory.
    private static let askedPieces = 16

    private enum Framing {
        /// The answer has neither body nor length, or a length alone.
        case none
        case length(Int)
        case chunked
        /// The end of the connection ends the body.
        case close
    }

    /// The fields of every answer to this request, errors included.
    var commonFields = HTTPFields()
    /// The status, as soon as the head has been sent.
    private(set) var status: Int?
    /// The bytes of the body sent so far.
    private(set) var bodyBytes = 0
    /// True if the client has the whole answer, as far as its system reports.
    private(set) var isComplete = false
    /// True if the connection may serve another request.
    private(set) var keepsConnection = true

    private let request: IncomingRequest
    private let outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>
    private let channel: any Channel
    private var framing = Framing.none
    /// The number of pieces that were written since the event loop was last asked for room.
    private var piecesOnTrust = 0
    /// The number of times that the event loop had room when it was asked.
    private var rooms = 0
    /// True if the client has been waited for: then what is written in advance only takes memory.
    private var isSlow = false

    init(
        to request: IncomingRequest, _ outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>,
        _ channel: any Channel
    ) {
        self.request = request
        self.outbound = outbound
        self.channel = channel
    }

    /// True if the head has been sent, so that the status cannot be changed any more.
    var hasBegun: Bool { status != nil }

    /// Sends the head.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - fields: The fields of this answer; the method sets those that frame it.
    ///   - length: The length of the body; nil if unknown. For a `HEAD` and with a 304 it is sent, but no body follows.
    /// - Throws: ``ClientGone`` or ``ClientTooSlow`` if the connection has ended, or `CancellationError`; all methods
    ///   that write throw these.
    func begin(_ status: Int, _ fields: HTTPFields, length: Int?) async throws {
        try await write([.head(head(status, fields, length: length))])
    }

    private func head(_ status: Int, _ fields: HTTPFields, length: Int?) -> HTTPResponseHead {
        var headers = HTTPHeaders()
        for field in fields { headers.add(name: field.name.rawName, value: field.text) }
        for field in commonFields where fields[field.name] == nil || field.name == .vary {
            headers.add(name: field.name.rawName, value: field.value)
        }
        if !headers.contains(name: "date") { headers.add(name: "Date", value: HTTPDate.now()) }
        for name in ["content-length", "transfer-encoding", "connection"] { headers.remove(name: name) }
        let hasNoBody = request.method == .head || status == 204 || status == 304
        if let length, status != 204 { headers.add(name: "Content-Length", value: String(length)) }
        if hasNoBody {
            framing = .none
        } else if let length {
            framing = .length(length)
        } else if request.isModern {
            framing = .chunked
            headers.add(name: "Transfer-Encoding", value: "chunked")
        } else {
            framing = .close
        }
        var endsWithConnection = false
        if case .close = framing { endsWithConnection = true }
        keepsConnection =
            request.wantsKeepAlive && !endsWithConnection && !request.connection.isDraining && !request.body.hasFailed
            && !hasUnreadableRest
        if !keepsConnection { headers.add(name: "Connection", value: "close") }
        self.status = status
        return HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
    }

    /// Switches the connection to another protocol; from now on the pieces of the body are sent as they are.
    ///
    /// - Parameter fields: The fields of the 101, with `Connection` and `Upgrade`.
    /// - Throws: As ``begin(_:_:length:)``.
    func switchProtocols(_ fields: HTTPFields) async throws {
        var headers = HTTPHeaders()
        for field in fields { headers.add(name: field.name.rawName, value: field.text) }
        for field in commonFields where fields[field.name] == nil {
            headers.add(name: field.name.rawName, value: field.value)
        }
        (framing, keepsConnection, status) = (.close, false, 101)
        try await write([.head(HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: headers))])
        try await wait(for: TunnelStart())
    }

    /// Cuts the connection when it is called, from any task, unless the client has the whole answer.
    var abandoner: @Sendable () -> Void {
        { [channel] in channel.triggerUserOutboundEvent(AnswerAbandoned(), promise: nil) }
    }

    /// Sends a piece of the body; returns when the connection can take more.
    ///
    /// - Throws: ``AnswerLengthError`` if that would be more than was announced.
    func write(_ piece: ByteBuffer) async throws {
        guard piece.readableBytes > 0 else { return }
        if case .none = framing { return }
        if case .length(let length) = framing, piece.readableBytes > length - bodyBytes { throw AnswerLengthError() }
        bodyBytes += piece.readableBytes
        piecesOnTrust += 1
        try await write([.body(.byteBuffer(piece))])
    }

    /// Ends the answer; returns when the client has it.
    ///
    /// Writing alone is no proof of that: bytes may stay in buffers, for minutes if the client is slow.
    ///
    /// - Throws: ``AnswerLengthError`` if the body is shorter than was announced.
    func finish() async throws {
        if case .length(let length) = framing, bodyBytes != length { throw AnswerLengthError() }
        try await write([.end(nil)])
        try await waitUntilTaken()
    }

    /// Waits until the connection takes more, after everything that was written so far.
    ///
    /// - Returns: False if the patience ended first; nil does not end.
    func waitForRoom(for patience: Duration?) async throws -> Bool {
        // Asking costs two changes of thread.
        if !isSlow, rooms >= Self.askedPieces, piecesOnTrust < Self.trustedPieces, channel.isWritable { return true }
        do {
            try await wait(for: AnswerRoom(patience: patience.map { TimeAmount($0) }))
            piecesOnTrust = 0
            rooms += 1
            return true
        } catch is NoRoomYet {
            isSlow = true
            return false
        }
    }

    private func waitUntilTaken() async throws {
        try await wait(for: AnswerEnd(isLong: bodyBytes > Self.shortLimit))
        isComplete = true
    }

    /// Waits for something that the handler of the connection reports.
    private func wait(for event: any Sendable) async throws {
        do {
            try await withTaskCancellationHandler {
                try await channel.triggerUserOutboundEvent(event).get()
            } onCancel: { [channel, connection = request.connection] in
                // A shutdown does not wait for slow clients; the future cannot be cancelled.
                connection.stop()
                channel.triggerUserOutboundEvent(AnswerAbandoned(), promise: nil)
            }
        } catch let error as NoRoomYet {
            throw error
        } catch {
            throw lost(error)
        }
    }

    /// Writes parts, and flushes once behind them.
    private func write(_ parts: [HTTPServerResponsePart]) async throws {
        do { try await outbound.write(contentsOf: parts) } catch { throw lost(error) }
    }

    /// Converts the error of a failed write: for any error, the client does not take the answer.
    private func lost(_ error: any Error) -> any Error {
        if error is CancellationError { return error }
        if request.connection.isStopped { return CancellationError() }
        return request.connection.isGivenUp ? ClientTooSlow() : ClientGone()
    }

    /// Sends a whole answer, in as few packets as it takes.
    func send(_ status: Int, _ fields: HTTPFields = [:], body: ByteBuffer = ByteBuffer()) async throws {
        var parts: [HTTPServerResponsePart] = [.head(head(status, fields, length: body.readableBytes))]
        if case .length = framing, body.readableBytes > 0 {
            bodyBytes = body.readableBytes
            parts.append(.body(.byteBuffer(body)))
        }
        try await write(parts + [.end(nil)])
        try await waitUntilTaken()
    }

    /// True if the rest of the request is too long to be worth reading.
    private var hasUnreadableRest: Bool {
        guard !request.body.isComplete, request.hasBody else { return false }
        return request.body.isWithheld || request.contentLength ?? 0 > Self.skippedBodyLimit
    }
}

/// An error of a body that is not as long as its head states; on a kept connection the next answer would begin within
/// it.
struct AnswerLengthError: Error {}
