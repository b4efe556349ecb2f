// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import NIOHTTP1

/// The answer to one request on its way to the client; it belongs to the task that serves the request.
final class AnswerStream {
    /// How much of a request's body is read and forgotten so that the connection can be used again, in bytes.
    static let skippedBodyLimit = 256 * 1_024
    /// Up to so many bytes count as taken when they are on their way.
    private static let shortLimit = 64 * 1_024

    private enum Framing {
        /// Neither body nor length, or a length alone.
        case none
        case length(Int)
        case chunked
        /// The end of the connection ends the body.
        case close
    }

    /// Fields of every answer to this request, errors included.
    var commonFields = HTTPFields()
    /// The status, as soon as the head is out.
    private(set) var status: Int?
    /// The bytes of the body so far, as they are sent.
    private(set) var bodyBytes = 0
    /// Whether the client has all of the answer, as far as its system tells.
    private(set) var isComplete = false
    /// Whether the connection may serve another request afterwards.
    private(set) var keepsConnection = true

    private let request: IncomingRequest
    private let outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>
    private let channel: any Channel
    private var framing = Framing.none

    init(
        to request: IncomingRequest, _ outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>,
        _ channel: any Channel
    ) {
        self.request = request
        self.outbound = outbound
        self.channel = channel
    }

    /// Whether the head is out, so that the status cannot be changed any more.
    var hasBegun: Bool { status != nil }

    /// Sends the head.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - fields: The fields of this answer; those that frame it are set here.
    ///   - length: How long the body will be; nil where that is not known. To a `HEAD` and with a 304 it is said,
    ///     but no body follows.
    /// - Throws: ``ClientGone`` or ``ClientTooSlow`` where the connection has ended, or `CancellationError`; so do all
    ///   that write.
    func begin(_ status: Int, _ fields: HTTPFields, length: Int?) async throws {
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
        let head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
        self.status = status
        try await write(.head(head))
    }

    /// Sends a piece of the body; it returns when the connection can take more.
    ///
    /// - Throws: ``AnswerLengthError`` where that would be more than was announced.
    func write(_ piece: ByteBuffer) async throws {
        guard piece.readableBytes > 0 else { return }
        if case .none = framing { return }
        if case .length(let length) = framing, piece.readableBytes > length - bodyBytes { throw AnswerLengthError() }
        bodyBytes += piece.readableBytes
        try await write(.body(.byteBuffer(piece)))
    }

    /// Ends the answer; it returns when the client has it.
    ///
    /// That all was written says nothing: some of it lies in buffers, for minutes where the client is slow.
    ///
    /// - Throws: ``AnswerLengthError`` where the body is shorter than was announced.
    func finish() async throws {
        if case .length(let length) = framing, bodyBytes != length { throw AnswerLengthError() }
        try await write(.end(nil))
        let end = AnswerEnd(isLong: bodyBytes > Self.shortLimit)
        do {
            try await withTaskCancellationHandler {
                try await channel.triggerUserOutboundEvent(end).get()
            } onCancel: { [channel, connection = request.connection] in
                // A shutdown does not wait for slow clients; the future knows nothing of it.
                connection.stop()
                channel.triggerUserOutboundEvent(AnswerAbandoned(), promise: nil)
            }
        } catch {
            throw lost(error)
        }
        isComplete = true
    }

    private func write(_ part: HTTPServerResponsePart) async throws {
        do { try await outbound.write(part) } catch { throw lost(error) }
    }

    /// Whatever it is that a write fails with, it is the client that does not take it.
    private func lost(_ error: any Error) -> any Error {
        if error is CancellationError { return error }
        if request.connection.isStopped { return CancellationError() }
        return request.connection.isGivenUp ? ClientTooSlow() : ClientGone()
    }

    /// Sends a whole answer.
    func send(_ status: Int, _ fields: HTTPFields = [:], body: ByteBuffer = ByteBuffer()) async throws {
        try await begin(status, fields, length: body.readableBytes)
        try await write(body)
        try await finish()
    }

    /// Whether more of the request is to come than is worth reading.
    private var hasUnreadableRest: Bool {
        guard !request.body.isComplete, request.hasBody else { return false }
        return request.body.isWithheld || request.contentLength ?? 0 > Self.skippedBodyLimit
    }
}

/// The body of an answer is not as long as its head says; on a kept connection the next answer would begin within it.
struct AnswerLengthError: Error {}
