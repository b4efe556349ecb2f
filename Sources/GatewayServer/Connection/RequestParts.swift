// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// Reads a client's requests from one connection: the connection's task reads heads, and the task of a request its
/// body.
// The connection's task lends it to the task of the request, which may lend it to one that uploads the body, and each
// waits until the other has ended; so only one task reads at any time. The state that others may read is in a box.
final class RequestParts: @unchecked Sendable {
    private var iterator: NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>
    private let progress = NIOLockedValueBox(Progress())

    private struct Progress {
        var waitsForContinue = false
        var isComplete = true
        var hasFailed = false
    }

    /// True if all of the present request has been read.
    var isComplete: Bool { progress.withLockedValue { $0.isComplete } }
    /// True if nothing more can be read from the connection.
    var hasFailed: Bool { progress.withLockedValue { $0.hasFailed } }

    init(
        _ inbound: NIOAsyncChannelInboundStream<HTTPServerRequestPart>,
        _ outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>
    ) {
        iterator = inbound.makeAsyncIterator()
        self.outbound = outbound
    }

    /// True if the client sends the body only when it is asked to, and has not been asked.
    var isWithheld: Bool { progress.withLockedValue { $0.waitsForContinue && !$0.isComplete } }

    /// Returns the head of the next request; nil if none comes.
    func nextHead() async throws -> HTTPRequestHead? {
        while let part = try await nextPart() {
            guard case .head(let head) = part else { continue }
            let waits =
                head.version.minor >= 1
                && head.headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
            progress.withLockedValue {
                $0.isComplete = false
                $0.waitsForContinue = waits
            }
            return head
        }
        return nil
    }

    /// Asks for the body if the client waits to be asked.
    ///
    /// A task that may answer while another one reads asks first: after the answer's head it would be too late.
    func invite() async throws {
        let waits = progress.withLockedValue { progress in
            defer { progress.waitsForContinue = false }
            return progress.waitsForContinue && !progress.isComplete
        }
        if waits { try await outbound.write(.head(HTTPResponseHead(version: .http1_1, status: .continue))) }
    }

    /// Returns the next piece of the present request's body; nil at its end.
    ///
    /// - Throws: ``ClientGone`` if the connection ended before the body did, ``ClientTimeout``, `HTTPParserError`.
    func nextBody() async throws -> ByteBuffer? {
        guard !isComplete else { return nil }
        try await invite()
        while true {
            switch try await nextPart() {
            case .body(let buffer):
                if buffer.readableBytes > 0 { return buffer }
            case .end:
                progress.withLockedValue { $0.isComplete = true }
                return nil
            case nil:
                fail()
                throw ClientGone()
            case .head:
                fail()
                throw HTTPParserError.invalidInternalState
            }
        }
    }

    /// Returns the next bytes of the tunnel that the connection has become; nil when the client has closed its side.
    func nextTunnelBytes() async throws -> ByteBuffer? {
        while let part = try await nextPart() {
            if case .body(let bytes) = part, bytes.readableBytes > 0 { return bytes }
        }
        return nil
    }

    /// Reads the rest of the present request and discards it.
    ///
    /// - Returns: True if its end was reached within `limit` bytes.
    func skipBody(limit: Int) async throws -> Bool {
        guard !isWithheld, !hasFailed else { return false }
        var left = limit
        while let piece = try await nextBody() {
            left -= piece.readableBytes
            guard left >= 0 else { return false }
        }
        return true
    }

    /// Discards everything until the connection ends.
    func discardRest() async {
        while let part = try? await nextPart() { _ = part }
    }

    private func fail() { progress.withLockedValue { $0.hasFailed = true } }

    private func nextPart() async throws -> HTTPServerRequestPart? {
        do {
            return try await iterator.next(isolation: #isolation)
        } catch {
            fail()
            if let error = error as? HTTPParserError, error == .invalidEOFState { throw ClientGone() }
            if error is IOError || error is ChannelError { throw ClientGone() }
            throw error
        }
    }
}
