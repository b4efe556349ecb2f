// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
package import NIOCore

/// Takes the bytes of a streamed request body.
package struct CurlUploadWriter: Sendable {
    private let send: @Sendable (ByteBuffer) async throws(CurlError) -> Void

    /// Creates a writer for another transport; `send` returns when it wants the next bytes.
    package init(_ send: @escaping @Sendable (ByteBuffer) async throws(CurlError) -> Void) { self.send = send }

    init(channel: UploadChannel) {
        send = { (chunk) async throws(CurlError) in try await channel.write(chunk) }
    }

    /// Sends `chunk`, and returns when all of it is on its way; one call at a time.
    ///
    /// - Throws: ``CurlError/closed(_:)`` if the server has answered without waiting for the body, or the connection is
    ///   gone: stop writing; the answer has the reason. ``CurlError/cancelled``. ``CurlError/invalidRequest(_:)`` for
    ///   more bytes than the announced length.
    package func write(_ chunk: ByteBuffer) async throws(CurlError) { try await send(chunk) }
}

/// Carries the bytes of a request body from the task that makes them to the reactor's thread, one chunk at a time.
final class UploadChannel: Sendable {
    /// The answer to one request of the reactor for bytes.
    enum Reading {
        case bytes(Int)
        case end
        /// No bytes yet: the transfer pauses until it is resumed.
        case pause
    }

    private enum End {
        /// The reactor takes no more bytes.
        case closed
        case cancelled
        /// All bytes have been written.
        case finished
    }

    private struct State {
        var chunk: ByteBuffer?
        var written: Int64 = 0
        var end: End?
        var writer: CheckedContinuation<Void, Never>?
    }

    private let transfer: UInt64
    private let length: Int64?
    private let mailbox: Mailbox
    private let state = NIOLockedValueBox(State())

    init(transfer: UInt64, length: Int64?, mailbox: Mailbox) {
        self.transfer = transfer
        self.length = length
        self.mailbox = mailbox
    }

    /// Runs `produce` and reports its end to the reactor.
    func run(_ produce: @Sendable (CurlUploadWriter) async throws -> Void) async {
        do {
            try await produce(CurlUploadWriter(channel: self))
            try finish()
            mailbox.post(.resumeUpload(transfer))
        } catch {
            // After a close this error only follows from it: the exchange has its own outcome.
            let isClosed = state.withLockedValue { $0.end == .closed }
            if !isClosed { mailbox.post(.failUpload(transfer, error)) }
        }
    }

    func write(_ chunk: ByteBuffer) async throws(CurlError) {
        guard chunk.readableBytes > 0 else { return }
        try store(chunk)
        mailbox.post(.resumeUpload(transfer))
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLockedValue { state in
                    guard state.chunk != nil, state.end == nil else { return true }
                    state.writer = continuation
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            end(.cancelled)
        }
        try check()
    }

    /// Refuses further bytes, and resumes a waiting writer; called on the reactor's thread.
    func close() { end(.closed) }

    /// True if no more bytes are taken.
    var isClosed: Bool { state.withLockedValue { $0.end == .closed } }

    /// Copies the available bytes to `target`; called on the reactor's thread.
    func read(into target: UnsafeMutableRawBufferPointer) -> Reading {
        let (reading, writer) = state.withLockedValue { state -> (Reading, CheckedContinuation<Void, Never>?) in
            // Closed is an end, too: the server has refused the request before it saw all of it.
            if state.end == .closed { return (.end, nil) }
            guard var chunk = state.chunk else { return (state.end == .finished ? .end : .pause, nil) }
            let count = chunk.readWithUnsafeReadableBytes { source in
                let count = min(source.count, target.count)
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<count]))
                return count
            }
            guard chunk.readableBytes == 0 else {
                state.chunk = chunk
                return (.bytes(count), nil)
            }
            state.chunk = nil
            return (.bytes(count), state.writer.take())
        }
        writer?.resume()
        return reading
    }

    private func store(_ chunk: ByteBuffer) throws(CurlError) {
        try check()
        let fits = state.withLockedValue { state in
            precondition(state.chunk == nil, "two writes of one request body at the same time")
            state.written += Int64(chunk.readableBytes)
            guard state.written <= length ?? .max else { return false }
            state.chunk = chunk
            return true
        }
        guard fits else { throw .invalidRequest("the body has more bytes than announced") }
    }

    private func check() throws(CurlError) {
        switch state.withLockedValue({ $0.end }) {
        case nil: return
        case .cancelled: throw .cancelled
        case .closed, .finished: throw .closed("the server takes no more of the request's body")
        }
    }

    private func finish() throws(CurlError) {
        try check()
        let isWhole = state.withLockedValue { state in
            guard length == nil || state.written == length else { return false }
            state.end = .finished
            return true
        }
        guard isWhole else { throw .invalidRequest("the body has fewer bytes than announced") }
    }

    private func end(_ end: End) {
        let writer = state.withLockedValue { state in
            // A close by the reactor takes precedence over the cancellation that it causes.
            if state.end != .closed { state.end = end }
            return state.writer.take()
        }
        writer?.resume()
    }
}
