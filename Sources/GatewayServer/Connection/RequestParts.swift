// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Reads what a client sends on one connection: heads by the connection's task, bodies by whoever serves the request.
// The connection's task lends it to the task of the request, which may lend it to one that uploads the body, and each
// waits until the other has ended; so only one task uses it at any time.
final class RequestParts: @unchecked Sendable {
    private var iterator: NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>
    private var waitsForContinue = false

    /// Whether all of the present request has been read.
    private(set) var isComplete = true
    /// Whether nothing more can be read from the connection.
    private(set) var hasFailed = false

    init(
        _ inbound: NIOAsyncChannelInboundStream<HTTPServerRequestPart>,
        _ outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>
    ) {
        iterator = inbound.makeAsyncIterator()
        self.outbound = outbound
    }

    /// Whether the client sends the body only when it is asked to, and was not.
    var isWithheld: Bool { waitsForContinue && !isComplete }

    /// The head of the next request; nil where none comes.
    func nextHead() async throws -> HTTPRequestHead? {
        while let part = try await nextPart() {
            guard case .head(let head) = part else { continue }
            isComplete = false
            waitsForContinue =
                head.version.minor >= 1
                && head.headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
            return head
        }
        return nil
    }

    /// The next piece of the present request's body; nil at its end.
    ///
    /// - Throws: ``ClientGone`` where the connection ended before the body did, ``ClientTimeout``, `HTTPParserError`.
    func nextBody() async throws -> ByteBuffer? {
        guard !isComplete else { return nil }
        if waitsForContinue {
            waitsForContinue = false
            try await outbound.write(.head(HTTPResponseHead(version: .http1_1, status: .continue)))
        }
        while true {
            switch try await nextPart() {
            case .body(let buffer):
                if buffer.readableBytes > 0 { return buffer }
            case .end:
                isComplete = true
                return nil
            case nil:
                hasFailed = true
                throw ClientGone()
            case .head:
                hasFailed = true
                throw HTTPParserError.invalidInternalState
            }
        }
    }

    /// Reads the rest of the present request and forgets it.
    ///
    /// - Returns: Whether its end was reached within `limit` bytes.
    func skipBody(limit: Int) async throws -> Bool {
        guard !isWithheld, !hasFailed else { return false }
        var left = limit
        while let piece = try await nextBody() {
            left -= piece.readableBytes
            guard left >= 0 else { return false }
        }
        return true
    }

    /// Forgets everything until the connection ends.
    func discardRest() async {
        while let part = try? await nextPart() { _ = part }
    }

    private func nextPart() async throws -> HTTPServerRequestPart? {
        do {
            return try await iterator.next(isolation: #isolation)
        } catch {
            hasFailed = true
            if let error = error as? HTTPParserError, error == .invalidEOFState { throw ClientGone() }
            if error is IOError || error is ChannelError { throw ClientGone() }
            throw error
        }
    }
}
